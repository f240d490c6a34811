package remote

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Dir is the directory in the home with the sockets of the processes that host conversations.
const Dir = "run"

const (
	suffix  = ".sock"
	longest = "4294967295" + suffix // the name of a socket
	maxPath = 103                   // bytes of the path of a socket on all systems
)

// ErrTooLong is the error of a home whose path is too long for a socket.
var ErrTooLong = errors.New("the path of the home is too long for a socket; set XDG_RUNTIME_DIR")

// directory returns the directory for the sockets of a home. If the path of the home is too long, it is in the runtime
// directory of the user.
func directory(home string) (string, error) {
	if dir := filepath.Join(home, Dir); fits(dir) {
		return dir, nil
	}
	hash := sha256.Sum256([]byte(home))
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	dir := filepath.Join(runtime, fmt.Sprintf("agent-chatter-%x", hash[:8]))
	if runtime != "" && fits(dir) {
		return dir, nil
	}
	return "", ErrTooLong
}

func fits(dir string) bool { return len(dir)+1+len(longest) <= maxPath }

// socket returns the path of the socket of a process.
func socket(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+suffix) }

// prepare makes the directory, or checks that no other user can write to it.
func prepare(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return check(dir)
}

// check checks that a directory is one of the user, and that no other user can write to it.
func check(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case !isOwn(info):
		return fmt.Errorf("%s belongs to another user, or others can use it; make it your own, with mode 700", dir)
	}
	return nil
}

// listen listens on the socket of this process. A socket with its path is of a process that has ended.
func listen(dir string) (net.Listener, error) {
	removeStale(dir)
	path := socket(dir, os.Getpid())
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// removeSocket removes a file if it is a socket.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is no socket; remove it", path)
	}
	return os.Remove(path)
}

// maxStale is how many sockets removeStale looks at.
const maxStale = 1000

// removeStale removes the sockets of processes that were killed: nothing listens on them.
func removeStale(dir string) {
	opened, err := os.Open(dir)
	if err != nil {
		return
	}
	defer opened.Close()
	names, _ := opened.Readdirnames(maxStale)
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimSuffix(name, suffix))
		if err != nil || !strings.HasSuffix(name, suffix) {
			continue
		}
		c, err := net.Dial("unix", socket(dir, pid))
		if err == nil {
			c.Close()
			continue
		}
		if isRefused(err) {
			_ = removeSocket(socket(dir, pid))
		}
	}
}
