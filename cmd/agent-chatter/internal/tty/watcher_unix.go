//go:build unix

package tty

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// A watcher restores a terminal when this process dies without doing so, for example when it is killed. It is a
// second process of the same program, in a session of its own, which has the other end of a pipe: the system closes
// the pipe when this process dies, whatever the reason. A nil watcher restores nothing.
type watcher struct{ pipe *os.File }

const watchArgument = "__watch-terminal"

// startWatcher returns nil if the watcher cannot be started.
func startWatcher(in, out *os.File) *watcher {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer theirs.Close()
	program, err := os.Executable()
	if runtime.GOOS == "linux" {
		program, err = "/proc/self/exe", nil // the file may have been replaced
	}
	if err != nil {
		ours.Close()
		return nil
	}
	cmd := exec.Command(program)
	cmd.Args = []string{os.Args[0], watchArgument}
	cmd.Env = []string{}
	cmd.Dir = "/" // which no one unmounts
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = theirs, out, []*os.File{in}
	// The signals of the terminal do not reach another session. It may change the settings even so.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil
	}
	go func() { _ = cmd.Wait() }()
	return &watcher{ours}
}

// claim tells the watcher what to undo from now on.
func (w *watcher) claim(c claim) {
	if w != nil {
		_ = json.NewEncoder(w.pipe).Encode(c)
	}
}

func (w *watcher) end() {
	if w != nil {
		w.pipe.Close()
	}
}

// Watched runs the watcher and returns true if this process was started as one; the caller then exits.
func Watched() bool {
	if len(os.Args) != 2 || os.Args[1] != watchArgument {
		return false
	}
	watch(os.Stdin, os.NewFile(3, "terminal"), os.Stdout)
	return true
}

// watch reads claims until the end of the pipe, which is the death of the other process, and undoes the last one. A
// shell whose command is not that process but its parent, such as go run, may be faster: it keeps the settings that it
// finds.
func watch(pipe io.Reader, in, out *os.File) {
	var last claim
	for claims := json.NewDecoder(pipe); ; {
		var next claim
		if claims.Decode(&next) != nil {
			break
		}
		last = next
	}
	last.undo(in, out)
}

// undo restores a terminal, if it is held. If its settings are not those of the claim, a shell has restored them and
// may have written its prompt.
func (c claim) undo(in, out *os.File) {
	if !c.Held {
		return
	}
	modes := mouseOff + modesOff
	if now, err := currentSettings(in, out); err == nil && now == c.Ours {
		_ = c.Saved.apply(in, out)
		columns, _ := size(out)
		modes = c.Cursor.erase(columns) + modes
	}
	if c.Alternate {
		modes = alternateOff + modes
	}
	_, _ = io.WriteString(out, endUpdate+modes)
}
