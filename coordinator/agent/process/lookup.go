package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the absolute path of the program that Start would run. Errors are *StartErrors.
func Find(program Program) (string, error) {
	path, err := lookup(program)
	if err != nil {
		return "", &StartError{Command: program.Command, Err: err}
	}
	return path, nil
}

func lookup(program Program) (string, error) {
	if err := checkDir(program.Dir); err != nil {
		return "", err
	}
	command := program.Command
	switch {
	case command == "":
		return "", exec.ErrNotFound
	case !strings.ContainsAny(command, "/"+string(filepath.Separator)):
		return lookupInPath(program)
	case !filepath.IsAbs(command):
		command = filepath.Join(program.Dir, command)
	}
	path, err := filepath.Abs(command)
	if err != nil {
		return "", err
	}
	return executable(path)
}

// lookupInPath looks a bare name up in the PATH that the program will have.
func lookupInPath(program Program) (string, error) {
	path, ok := program.Env["PATH"]
	if !ok {
		path = os.Getenv("PATH")
	}
	failure := exec.ErrNotFound
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // the working directory must not decide which program runs
		}
		found, err := executable(filepath.Join(dir, program.Command))
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			failure = err // more useful than that it was not found
		}
	}
	return "", failure
}

// executable returns the path of an executable file, completed as the system requires.
func executable(path string) (string, error) {
	found, err := exec.LookPath(path)
	if e := (*exec.Error)(nil); errors.As(err, &e) {
		err = e.Err // the StartError has the path
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return found, err
}

// checkDir returns an error if the working directory is missing, which the system would report
// as a missing program.
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
