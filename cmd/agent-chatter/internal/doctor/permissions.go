package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A fileSet counts files and keeps the first as an example.
type fileSet struct {
	n     int
	first homeFile
}

func (s *fileSet) add(f homeFile) {
	if s.n++; s.n == 1 {
		s.first = f
	}
}

func (s fileSet) mode() fs.FileMode { return s.first.info.Mode() }

// checkPermissions checks that the files of the home belong to the user, are accessible
// to the user, and to no other. The permissions of the directories above the home do
// not count: they may change.
func (d *doctor) checkPermissions() []app.Finding {
	if runtime.GOOS == "windows" {
		return nil // file modes do not describe its permissions
	}
	var all []app.Finding
	for _, err := range d.unreadable {
		all = append(all, unreadableText(err))
	}
	all = append(all, d.checkOwner()...)
	all = append(all, d.checkOthers()...)
	if len(all) == 0 {
		return []app.Finding{app.Fine(textPrivate)}
	}
	return all
}

func (d *doctor) checkOwner() (all []app.Finding) {
	var foreign, inaccessible fileSet
	for _, f := range d.files {
		need := fs.FileMode(0o600)
		if f.info.IsDir() {
			need = 0o700
		}
		uid, known := owner(f.info)
		switch {
		case known && uid != os.Geteuid():
			foreign.add(f)
		case f.info.Mode()&need != need:
			inaccessible.add(f)
		}
	}
	if foreign.n > 0 {
		uid, _ := owner(foreign.first.info)
		all = append(all, foreignText(d.Home, foreign.n, uid, foreign.first.path))
	}
	if inaccessible.n > 0 {
		all = append(all, inaccessibleText(d.Home, inaccessible.n, inaccessible.first.path, inaccessible.mode()))
	}
	return all
}

// Permission bits.
const (
	groupOrOthers fs.FileMode = 0o077 // any access
	others        fs.FileMode = 0o007 // any access
	searchable    fs.FileMode = 0o011 // by the group or by others
)

// checkOthers finds the files that other users can access: those whose own mode and
// that of each directory up to the home allows it.
func (d *doctor) checkOthers() []app.Finding {
	var open, shielded fileSet
	users := "the group"
	reachable := map[string]bool{} // directories that other users can search
	for i, f := range d.files {    // a directory precedes its files
		mode := f.info.Mode()
		reached := i == 0 || reachable[filepath.Dir(f.path)]
		reachable[f.path] = reached && f.info.IsDir() && mode&searchable != 0
		switch {
		case mode&groupOrOthers == 0:
		case !reached:
			shielded.add(f)
		default:
			open.add(f)
			if mode&others != 0 {
				users = "all users"
			}
		}
	}
	switch {
	case open.n > 0:
		return []app.Finding{openText(d.Home, open.n, users, open.first.path, open.mode())}
	case shielded.n > 0:
		return []app.Finding{shieldedText(d.Home, shielded.n, shielded.first.path, shielded.mode())}
	}
	return nil
}

const textPrivate = "all files are yours and private"

// openText is for n files that other users can access; path is one of them.
func openText(home string, n int, users, path string, mode fs.FileMode) app.Finding {
	what := fmt.Sprintf("%s open to %s, such as %s (%04o)", filesAre(n), users, tty.SafeLine(path), mode.Perm())
	return app.Wrong(what, "", restrict(home))
}

// shieldedText is openText for files in a directory that other users cannot enter.
func shieldedText(home string, n int, path string, mode fs.FileMode) app.Finding {
	return app.Note(fmt.Sprintf("%s protected only by the mode of their directory, such as %s (%04o)",
		filesAre(n), tty.SafeLine(path), mode.Perm()), "", restrict(home))
}

func restrict(home string) app.Help {
	return app.ToRun("restrict them to yourself", "chmod", "-R", "go=", home)
}

// foreignText is for n files that belong to another user; path is one of them.
func foreignText(home string, n, owner int, path string) app.Finding {
	return app.Wrong(fmt.Sprintf("%s not yours, such as %s, of user %d", filesAre(n), tty.SafeLine(path), owner),
		"", app.ToRun("take ownership", "sudo", "chown", "-R", strconv.Itoa(os.Getuid()), home))
}

// inaccessibleText is for n files that their owner cannot read and write; path is one
// of them.
func inaccessibleText(home string, n int, path string, mode fs.FileMode) app.Finding {
	return app.Wrong(
		fmt.Sprintf("%s not accessible to you, such as %s (%04o)", filesAre(n), tty.SafeLine(path), mode.Perm()),
		"",
		app.ToRun("permit access", "chmod", "-R", "u+rwX", home),
	)
}

// filesAre returns the subject and verb of a sentence about n files.
func filesAre(n int) string {
	if n == 1 {
		return "1 file or directory is"
	}
	return fmt.Sprintf("%d files and directories are", n)
}
