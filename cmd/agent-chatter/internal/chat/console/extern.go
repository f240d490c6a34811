package console

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// maxEdited is how many bytes a text from an external editor may have.
const maxEdited = 16 << 20

// editExternally edits the text in the user's editor. It runs on the goroutine that draws.
func (c *Console) editExternally() {
	c.mu.Lock()
	text := c.model.Editor.Text()
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-c.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	c.o.Lent.Add(1)
	// The signal that ends the editor may be handled after its end.
	defer time.AfterFunc(editorDelay, func() { c.o.Lent.Add(-1) })
	var edited string
	err := c.terminal.Lend(func() (err error) {
		edited, err = edit(ctx, text, editorCommand())
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		c.print([]string{tty.SafeLine(editorFailedText(err))})
	case edited != text:
		c.model.Editor.Set(edited)
		c.model.complete()
	}
}

// editorCommand returns the user's editor, which may have arguments.
func editorCommand() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if command := strings.TrimSpace(os.Getenv(name)); command != "" {
			return command
		}
	}
	return "vi"
}

// editorProcess returns the command that edits a file. One with signs that the shell reads is run by the shell.
func editorProcess(ctx context.Context, command, path string) *exec.Cmd {
	words := append(strings.Fields(command), path)
	if runtime.GOOS != "windows" && strings.ContainsAny(command, "\"'\\$~") {
		words = []string{"sh", "-c", command + ` "$@"`, command, path}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = editorDelay
	return cmd
}

// editorDelay is how long an editor has to end after SIGTERM.
const editorDelay = time.Second

// edit edits a text in a file that only the user can read. When ctx is done, the editor is ended.
func edit(ctx context.Context, text, command string) (edited string, err error) {
	dir, err := os.MkdirTemp("", "agent-chatter-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }() // with the editor's own copies
	path := filepath.Join(dir, "message.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	cmd := editorProcess(ctx, command, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxEdited {
		return "", errors.New("the text is too long")
	}
	b, err := os.ReadFile(path)
	return strings.TrimSuffix(string(b), "\n"), err
}

// UntilSignal returns a context that ends with a signal. Ctrl+C while lent is not 0 is for an editor.
func UntilSignal(lent *atomic.Int32) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for s := range signals {
			if s != os.Interrupt || lent.Load() == 0 {
				cancel()
			}
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	})
}
