//go:build unix

package devices

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// A file that another user could have made admits no device, and blocks nothing.
func TestHostileFilesAdmitNobody(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(path string) error
		is    func(error) bool
	}{
		"a link": {func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		}, is[*regularfile.KindError]},
		"a link to a device": {func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path))
		}, is[*home.OthersError]},
		"a home that others can write": {func(path string) error {
			return os.Chmod(filepath.Dir(path), 0o777)
		}, is[*home.OthersError]},
		"a named pipe": {func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
		}, is[*regularfile.KindError]},
		"a directory": {func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, is[*regularfile.KindError]},
		"a huge file": {func(path string) error { return os.Truncate(path, 1<<40) }, is[*regularfile.SizeError]},
		"a file that others can write": {func(path string) error {
			return errors.Join(os.Chmod(filepath.Dir(path), 0o755), os.Chmod(path, 0o666))
		}, is[*home.OthersError]},
		"a file of another user": {func(path string) error {
			err := os.Chown(path, 65534, -1)
			if errors.Is(err, fs.ErrPermission) {
				t.Skip("only the superuser can give files away")
			}
			return err
		}, is[*home.OthersError]},
		"another role": {func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(text), `"read"`, `"root"`, 1)), 0o600))
		}, is[*schemas.InvalidError]},
		"no JSON":     {func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, is[*schemas.InvalidError]},
		"a later one": {func(path string) error { return os.WriteFile(path, []byte(`{"schemaVersion":"1.1"}`), 0o600) }, is[*schemas.VersionError]},
	} {
		t.Run(name, func(t *testing.T) {
			s := Open(t.TempDir())
			d, token := add(t, s, "phone", web.RoleRead)
			if _, ok := s.Find(token); !ok {
				t.Fatal("it is unknown")
			}
			if err := test.spoil(s.path()); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.Find(token); ok {
				t.Error("it admits the device")
			}
			if _, err := s.List(); !test.is(err) {
				t.Errorf("list: %v", err)
			}
			if _, _, err := s.Add(t.Context(), "other", Grant{Role: web.RoleAll}, ""); !test.is(err) {
				t.Errorf("add: %v", err)
			}
			if _, err := s.Revoke(t.Context(), d.ID); !test.is(err) {
				t.Errorf("revoke: %v", err)
			}
		})
	}
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// A lock file that is a link is not followed.
func TestLockIsNoLink(t *testing.T) {
	s := Open(t.TempDir())
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, s.path()+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Add(t.Context(), "phone", Grant{Role: web.RoleRead}, ""); err == nil {
		t.Error("the lock was taken")
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target: %v", err)
	}
}
