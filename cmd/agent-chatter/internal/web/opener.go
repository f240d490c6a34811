package web

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// text is the file that leads to an address.
const text = `<!DOCTYPE html>
<meta charset="utf-8">
<title>agent-chatter</title>
<meta http-equiv="refresh" content="0;url=%[1]s">
<a href="%[1]s">Open the sessions</a>
`

// An OpenFile is a file that leads to an address. Other users see the arguments of processes, so the web browser is
// given a file that only the user can read instead of an address with a token.
type OpenFile struct{ path string }

// NewOpenFile writes a file in a new directory.
func NewOpenFile(address string) (*OpenFile, error) {
	dir, err := os.MkdirTemp("", "agent-chatter-serve-") // mode 0700
	if err != nil {
		return nil, err
	}
	f := &OpenFile{filepath.Join(dir, "open.html")}
	if err := os.WriteFile(f.path, fmt.Appendf(nil, text, html.EscapeString(address)), 0o600); err != nil {
		f.Remove()
		return nil, err
	}
	return f, nil
}

// Open opens the file as the desktop does. It returns when the program that does so has ended: on some systems at once,
// on others when the browser ends.
func (f *OpenFile) Open() error {
	argv := append(program(), f.path)
	return exec.Command(argv[0], argv[1:]...).Run()
}

// Remove removes the file and its directory.
func (f *OpenFile) Remove() { os.RemoveAll(filepath.Dir(f.path)) }

// FindBrowser returns the name of the program that opens files as the desktop does, and an error if it does not exist.
func FindBrowser() (string, error) {
	name := program()[0]
	_, err := exec.LookPath(name)
	return name, err
}

// HasDesktop reports whether there is a desktop that may have a web browser, as far as the environment tells.
func HasDesktop() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

func program() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
