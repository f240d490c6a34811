package home

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// byDefault is the home if neither --home nor the environment names one.
const byDefault = "~/.agent-chatter"

// variable names the home if --home does not.
const variable = "AGENT_CHATTER_HOME"

// ByFlag reports whether a name of the home is neither the default nor that of the environment.
func ByFlag(named string) bool {
	return named != "" && named != byDefault && named != os.Getenv(variable)
}

// InsideWorkingDirectory reports whether the home dir, which is called named, is the working directory cwd or below it
// by the name. A clone may have brought such a home. One that the default or an absolute variable names, and any below
// the root, is only by chance there.
func InsideWorkingDirectory(dir, named, cwd string) bool {
	env := os.Getenv(variable)
	absolute := filepath.IsAbs(env) || strings.HasPrefix(env, "~/")
	if named == "" || named == byDefault || named == env && absolute {
		return false
	}
	return cwd != filepath.VolumeName(cwd)+string(filepath.Separator) && inside(cwd, dir)
}

// inside reports whether a directory is dir or below it, by its name or after resolving links.
func inside(dir, name string) bool {
	if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
		return true
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	realName, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(realDir, realName)
	return err == nil && filepath.IsLocal(rel)
}

// Dir returns the absolute path of the home with a name. It expands a leading ~/, which a shell does
// not expand in --home=~/x. An empty name, as of a variable set to nothing, is the default and not the
// working directory.
func Dir(dir string) (string, error) {
	dir, err := ExpandPath(cmp.Or(dir, byDefault))
	if err != nil {
		return "", fmt.Errorf("%w: name the home with --home DIR", err)
	}
	return filepath.Abs(dir)
}

// ExpandPath replaces a leading ~/ of a path by the user's home directory.
func ExpandPath(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return user + string(filepath.Separator) + rest, nil
}
