package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// Recover removes the files that an interrupted restore has left in a directory, and gives a file that it has taken out
// its name again if that is in no capture, or if its path is missing. changes are those from the tree that was captured
// before the restore to its target. It returns the files that it had to leave, by their names.
//
// Recover can itself be interrupted and repeated. No restore of the directory may run.
func Recover(root, id string, changes []objects.Change) ([]Kept, error) {
	var left []Kept
	for _, c := range changes {
		d, err := openDir(root, path.Dir(c.Path), false)
		if errors.Is(err, errNoDirectory) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return left, err
		}
		temp := tempName(id, c.Path)
		for _, name := range []string{temp + partSuffix, temp + oldSuffix, temp} {
			if err := recoverFile(d, name, c); err != nil {
				left = append(left, Kept{path.Join(path.Dir(c.Path), name), err.Error()})
			}
		}
		d.close()
	}
	return left, nil
}

// recoverFile recovers one file of the restore of a path. c.Before is what the restore found, c.After its target.
func recoverFile(d *dir, name string, c objects.Change) error {
	base := path.Base(c.Path)
	missing := d.has(base, objects.Entry{})
	known := d.has(name, c.Before) || d.has(name, c.After)
	var err error
	switch {
	case d.has(name, objects.Entry{}):
		return nil
	case strings.HasSuffix(name, partSuffix): // a part of the target
		err = d.remove(name)
	case missing && (!known || strings.HasSuffix(name, oldSuffix)): // it was renamed away or aside
		err = d.renameNew(name, base)
	case known:
		err = d.remove(name)
	case d.has(base, c.After): // it was saved before it was exchanged
		err = recoverSaved(d, name, base, c.After)
	default:
		return fmt.Errorf("it is another version of %s, which no capture has", c.Path)
	}
	if err != nil {
		return err
	}
	return d.sync()
}

// recoverSaved gives a file its name again, which has the target of the restore.
func recoverSaved(d *dir, name, base string, target objects.Entry) error {
	if err := d.exchange(name, base); err != nil {
		return err
	}
	if !d.has(name, target) {
		return beside(name)
	}
	return d.remove(name)
}
