//go:build unix

package authority

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

func TestKeyIsPrivate(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	opened(t, dir, "192.168.1.20", &now)
	path := filepath.Join(dir, "tls", "ca-192.168.1.20.pem")
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for name, test := range map[string]struct {
		spoil func() error
		is    func(error) bool
	}{
		"others can read it":      {func() error { return os.Chmod(path, 0o640) }, is[*SharedError]},
		"others can write it":     {func() error { return errors.Join(os.Chmod(dir, 0o755), os.Chmod(path, 0o622)) }, is[*home.OthersError]},
		"others can replace it":   {func() error { return errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(path), 0o777)) }, is[*home.OthersError]},
		"it is a named pipe":      {func() error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, is[*regularfile.KindError]},
		"it is a link to another": {func() error { return errors.Join(os.Rename(path, path+"x"), os.Symlink(path+"x", path)) }, is[*regularfile.KindError]},
	} {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.Chmod(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
			opened(t, dir, "192.168.1.20", &now)
			if err := test.spoil(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Open(dir, "192.168.1.20"); !test.is(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
