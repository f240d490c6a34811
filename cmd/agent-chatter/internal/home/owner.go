package home

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DevicesFile is the file with the devices that may use the page of serve.
const DevicesFile = "devices.json"

// Deciding are the files of a home that decide what runs and what is sent where, relative to it.
var Deciding = []string{
	"config.json", "trust.json", "team-config", filepath.Join("agents", "config.json"), DevicesFile,
}

// OthersError is about a file or directory of the home that another user can change, and that decides what runs.
type OthersError struct {
	Home, Path string
	Mode       fs.FileMode
	Owner      int // the user id of another owner; -1 if the mode is wrong
}

func (e *OthersError) Error() string {
	if e.Owner >= 0 {
		return fmt.Sprintf("%s belongs to user %d: nothing in the home %s is trusted", e.Path, e.Owner, e.Home)
	}
	return fmt.Sprintf("others can change %s (mode %04o): nothing in the home %s is trusted",
		e.Path, e.Mode.Perm(), e.Home)
}

// CheckOwner returns an *OthersError if another user can change what the home decides: if the home, or one of Deciding
// in it, belongs to another user than this one and the superuser, or has a mode that permits others to write. A missing
// home decides nothing. Windows has no such modes.
func CheckOwner(dir string) error {
	for _, name := range append([]string{".", "agents"}, Deciding...) {
		if err := CheckFileOwner(dir, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// CheckFileOwner is CheckOwner for a file or directory of the home, and for what it points to if it is a link.
func CheckFileOwner(dir, path string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // what cannot be reached cannot be read: it decides nothing
	}
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	checked := []string{path, target}
	shut := inside(top, target)
	if shut {
		shut = shutsOthersOut(top)
	} else {
		checked = append(checked, filepath.Dir(target)) // a user who can write it can replace the file
	}
	for i, name := range checked {
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		found := &OthersError{Home: dir, Path: name, Mode: info.Mode(), Owner: foreignOwner(info)}
		sticky := i == 2 && info.Mode()&fs.ModeSticky != 0 // others cannot replace what is there
		switch {
		case found.Owner >= 0:
			return found
		case info.Mode()&fs.ModeSymlink != 0, sticky, shut:
		case othersWrite(info):
			return found
		}
	}
	return nil
}

// shutsOthersOut reports whether no other user can enter a directory: the modes of what it has do not count.
func shutsOthersOut(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&0o011 == 0 && !othersWrite(info)
}
