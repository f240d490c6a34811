package console

import (
	"context"
	"fmt"
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

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// maxEdited is how many bytes a text from an external editor may have.
const maxEdited = 16 << 20

// editExternally edits the text in the user's editor. It runs on the goroutine that draws.
func (c *Console) editExternally() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-c.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	var text, edited, problem string
	err := c.lend(func() error { // nothing is read any more
		c.mu.Lock()
		text = c.model.Editor.Text()
		c.mu.Unlock()
		edited, problem = edit(ctx, text, editorCommand())
		return nil
	})
	if err != nil && problem == "" {
		problem = notLentText(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if problem != "" && ctx.Err() == nil {
		c.print([]string{tty.SafeLine(problem)})
	}
	if edited != text {
		c.model.Editor.Set(edited)
		c.model.complete()
	}
}

// lend gives the terminal back while use runs. It runs on the goroutine that draws.
func (c *Console) lend(use func() error) error {
	c.o.Lent.Add(1)
	// A Ctrl+C that ended use may reach UntilSignal only after its end.
	defer time.AfterFunc(signalDelay, func() { c.o.Lent.Add(-1) })
	return c.terminal.Lend(use)
}

// Lend gives the terminal back while use runs on the program's own streams, and returns its error. What is printed
// meanwhile is drawn after it. errInterrupted: the console was closed before.
func (c *Console) Lend(use func(app.IO) error) error {
	done := make(chan error, 1)
	task := func() { done <- c.lend(func() error { return use(c.streams) }) }
	select {
	case c.tasks <- task:
	case <-c.stop:
		return errInterrupted
	}
	select {
	case err := <-done:
		return err
	case <-c.stopped:
		return errInterrupted
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

// editorProcess returns the process of a command that edits a file. The shell runs a command with a quote, $, ~ or
// backslash, except on Windows.
func editorProcess(ctx context.Context, command, path string) *exec.Cmd {
	words := append(strings.Fields(command), path)
	if runtime.GOOS != "windows" && strings.ContainsAny(command, "\"'\\$~") {
		words = []string{"sh", "-c", command + ` "$@"`, command, path}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = editorDelay
	return cmd
}

// EditFile edits a file in the user's editor, on the terminal of the program, and blocks until the editor has ended.
func EditFile(path string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ignored := make(chan os.Signal, 1) // Ctrl+C is for the editor
	signal.Notify(ignored, os.Interrupt)
	defer signal.Stop(ignored)
	command := editorCommand()
	if err := editorProcess(ctx, command, path).Run(); err != nil {
		return fmt.Errorf("the editor %s failed: %w", command, err)
	}
	return nil
}

const (
	editorDelay = time.Second // how long an editor has to end after SIGTERM
	signalDelay = time.Second // how long a signal takes at most to reach UntilSignal
)

// edit edits a text in a file that only the user can read. When ctx is done, the editor is ended. It returns the edited
// text, or the text if that failed, and what has failed. The file is removed, unless what was edited is too long.
func edit(ctx context.Context, text, command string) (edited, problem string) {
	dir, err := os.MkdirTemp("", "agent-chatter-")
	if err != nil {
		return text, editorFileText(err)
	}
	keep := false
	defer func() {
		if keep {
			return
		}
		// The editor's backup and swap files are removed, too.
		if err := os.RemoveAll(dir); err != nil && problem == "" {
			problem = editorLeftText(err)
		}
	}()
	path := filepath.Join(dir, "message.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return text, editorFileText(err)
	}
	if err := editorProcess(ctx, command, path).Run(); err != nil {
		return text, editorFailedText(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return text, editorFileText(err)
	}
	if info.Size() > maxEdited {
		keep = true
		return text, editedTooLongText(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return text, editorFileText(err)
	}
	return strings.TrimSuffix(string(b), "\n"), ""
}

// UntilSignal returns a context that ends at SIGINT, SIGTERM or SIGHUP. It ignores SIGINT while lent is not 0: then
// Ctrl+C is for an editor. Otherwise interrupt, unless it is nil, is called at SIGINT, and the context ends if it
// returns false.
func UntilSignal(lent *atomic.Int32, interrupt func() bool) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for s := range signals {
			handled := s == os.Interrupt && (lent.Load() != 0 || interrupt != nil && interrupt())
			if !handled {
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
