//go:build unix

package tty

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
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
	watch(int(os.Stdin.Fd()), os.NewFile(3, "terminal"), os.Stdout)
	return true
}

// watch reads claims until the end, which is the death of the other process, and undoes the last one.
func watch(pipe int, in, out *os.File) {
	c := claims{pipe: pipe}
	if err := unix.SetNonblock(pipe, true); err != nil {
		return
	}
	var once sync.Once
	undo := func() { once.Do(func() { c.last.undo(in, out) }) }
	beforeShell(&c, undo)
	for c.wait(unix.POLLIN) && !c.read() {
	}
	undo()
}

// claims are what another process writes into a pipe. Its methods may be called concurrently.
type claims struct {
	pipe int
	mu   sync.Mutex
	text []byte // an incomplete line
	last claim
}

// wait waits for events of poll(2), or for the end of the pipe.
func (c *claims) wait(events int16) bool {
	for {
		ready := []unix.PollFd{{Fd: int32(c.pipe), Events: events}}
		_, err := unix.Poll(ready, -1)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// read reads what the pipe has, and reports whether that was the end.
func (c *claims) read() (ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	buf := make([]byte, 4096)
	n, err := unix.Read(c.pipe, buf)
	for ; n > 0; n, err = unix.Read(c.pipe, buf) {
		c.text = append(c.text, buf[:n]...)
	}
	for {
		line, rest, complete := bytes.Cut(c.text, []byte("\n"))
		if !complete {
			return err != unix.EAGAIN && err != unix.EINTR
		}
		c.last, c.text = claim{}, rest
		_ = json.Unmarshal(line, &c.last)
	}
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
		modes = eraseBelow + modes
	}
	if c.Alternate {
		modes = alternateOff + modes
	}
	_, _ = io.WriteString(out, endUpdate+modes)
}
