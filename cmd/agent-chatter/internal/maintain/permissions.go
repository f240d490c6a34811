package maintain

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// group is files that are in one and the same way not as they should be.
type group struct {
	n     int
	first found
}

func (g *group) add(f found) {
	if g.n++; g.n == 1 {
		g.first = f
	}
}

func (g group) mode() fs.FileMode { return g.first.info.Mode() }

// checkPermissions sees who gets at what is in the home. What lies above it is
// not looked at: it may let people in tomorrow.
func (d *doctor) checkPermissions() []app.Finding {
	if runtime.GOOS == "windows" {
		return nil // its permissions are others
	}
	var all []app.Finding
	for _, err := range d.unreadable {
		all = append(all, unreadableText(err))
	}
	all = append(all, d.checkOwner()...)
	all = append(all, d.checkOthers()...)
	if len(all) == 0 {
		return []app.Finding{privateText()}
	}
	return all
}

// checkOwner sees that everything is this user's, and that he may use it.
func (d *doctor) checkOwner() (all []app.Finding) {
	var foreign, closed group
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
			closed.add(f)
		}
	}
	if foreign.n > 0 {
		uid, _ := owner(foreign.first.info)
		all = append(all, foreignText(d.Home, foreign.n, uid, foreign.first.path))
	}
	if closed.n > 0 {
		all = append(all, closedText(d.Home, closed.n, closed.first.path, closed.mode()))
	}
	return all
}

// Permissions of others than the owner.
const (
	toOthers  fs.FileMode = 0o077
	toAnybody fs.FileMode = 0o007
	toEnter   fs.FileMode = 0o011
	theGroup              = "its group"
	everybody             = "everybody"
)

// checkOthers sees who else gets in: a file is open when it is open itself and
// so is every directory of the home above it.
func (d *doctor) checkOthers() []app.Finding {
	var open, hidden group
	who := theGroup
	entered := map[string]bool{} // the directories that others get into
	for i, f := range d.files {  // a directory comes before what is in it
		mode := f.info.Mode()
		reached := i == 0 || entered[filepath.Dir(f.path)]
		entered[f.path] = reached && f.info.IsDir() && mode&toEnter != 0
		switch {
		case mode&toOthers == 0:
		case !reached:
			hidden.add(f)
		default:
			open.add(f)
			if mode&toAnybody != 0 {
				who = everybody
			}
		}
	}
	switch {
	case open.n > 0:
		return []app.Finding{openText(d.Home, open.n, who, open.first.path, open.mode())}
	case hidden.n > 0:
		return []app.Finding{hiddenText(d.Home, hidden.n, hidden.first.path, hidden.mode())}
	}
	return nil
}
