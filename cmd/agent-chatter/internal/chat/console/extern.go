package console

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// maxEdited is how many bytes a text from an external editor may have.
const maxEdited = 16 << 20

// editExternally edits the text in the user's editor. It runs on the goroutine that draws.
func (c *Console) editExternally() {
	c.mu.Lock()
	text := c.model.Editor.Text()
	c.mu.Unlock()
	var edited string
	err := c.terminal.Lend(func() (err error) {
		edited, err = edit(text, editorCommand())
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

// edit edits a text in a file that only the user can read.
func edit(text, command string) (edited string, err error) {
	dir, err := os.MkdirTemp("", "agent-chatter-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }() // with the editor's own copies
	path := filepath.Join(dir, "message.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	words := strings.Fields(command)
	cmd := exec.Command(words[0], append(words[1:], path)...)
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
