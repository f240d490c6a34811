package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find is the program that a turn would start, as an absolute path. The error is a *StartError.
func Find(turn Turn) (string, error) {
	path, err := lookup(turn)
	if err != nil {
		return "", &StartError{Command: turn.Member.Command, Err: err}
	}
	return path, nil
}

// lookup finds the program that the turn runs, as an absolute path.
func lookup(turn Turn) (string, error) {
	if err := checkDir(turn.Dir); err != nil {
		return "", err
	}
	command := turn.Member.Command
	switch {
	case command == "":
		return "", exec.ErrNotFound
	case !strings.ContainsAny(command, separators):
		return lookupInPath(command, turn.Member)
	case !filepath.IsAbs(command):
		command = filepath.Join(turn.Dir, command)
	}
	path, err := filepath.Abs(command)
	if err != nil {
		return "", err
	}
	return executable(path)
}

// separators make a command a path.
const separators = "/" + string(filepath.Separator)

// lookupInPath finds a bare name in the PATH that the program itself will have.
func lookupInPath(name string, member Member) (string, error) {
	path, ok := member.Env["PATH"]
	if !ok {
		path = os.Getenv("PATH")
	}
	failure := exec.ErrNotFound
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a program must not be chosen by where the turn happens to run
		}
		found, err := executable(filepath.Join(dir, name))
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			failure = err // it is there: more useful to hear than that it was not found
		}
	}
	return "", failure
}

// executable gives the path, completed as the system requires, when it can be run.
func executable(path string) (string, error) {
	found, err := exec.LookPath(path)
	if e := (*exec.Error)(nil); errors.As(err, &e) {
		err = e.Err // the path is said by the StartError
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return found, err
}

// checkDir reports a working directory that is not there, which the system would report as
// if the program were missing.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", errDir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is a file", errDir, dir)
	}
	return nil
}
