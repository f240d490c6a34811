package transfer

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// outputPath returns path, or if that is a directory, the file called name in it. It
// creates the directory if necessary.
func outputPath(path, name string) (string, error) {
	if !app.IsDirectory(path) {
		return path, nil
	}
	return filepath.Join(path, name), os.MkdirAll(path, 0o755)
}

// WriteFile writes a regular file atomically; its directory must exist. A symbolic link
// is kept, and so is anything that is not a regular file, such as a pipe: it is written
// to, and blocks until it is read.
func WriteFile(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return app.WriteAtomically(path, write)
	}
	// The file of standard output has other writers with the same offset: a replacement
	// would lose what they write.
	if stdout, err := os.Stdout.Stat(); err == nil && os.SameFile(info, stdout) {
		return writeBuffered(os.Stdout, write)
	}
	if info.Mode().IsRegular() {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		return app.WriteAtomically(target, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = writeBuffered(f, write)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = &app.OutputError{Err: closeErr}
	}
	return err
}

// existsError is the error of a file that is not overwritten. It matches fs.ErrExist.
type existsError struct{ error }

func (e existsError) Unwrap() error      { return e.error }
func (existsError) Is(target error) bool { return target == fs.ErrExist }

// existsText is for a file that is not overwritten.
func existsText(path, id string) app.Message {
	return app.Text("%s exists already; nothing was written.", tty.SafeLine(path)).
		With(app.To("replace it", "sessions", "export", id, "-o", path))
}

// WrittenText is for a file that was written in a format that the user did not name. It names that of a snapshot unless
// the extension does.
func WrittenText(path, format string) string {
	if format == "snapshot" && !strings.EqualFold(filepath.Ext(path), ".json") {
		return "Written as a snapshot (JSON; .md and .html are text): " + tty.SafeLine(path)
	}
	return "Written: " + tty.SafeLine(path)
}

func writeBuffered(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return &app.OutputError{Err: err}
	}
	return nil
}
