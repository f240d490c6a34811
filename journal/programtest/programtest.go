package programtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the path of a program. If it is not installed, the test is skipped; where the
// environment variable CI is set, it fails, since .ci/run installs every such program. Under
// Wine it is skipped: the programs are those of Linux.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if Required() {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// NodeModule returns the path of a file or directory of node_modules, where .ci/agents installs npm packages. If it is
// missing, the test is skipped, or fails, as in [Path].
func NodeModule(t testing.TB, name string) string {
	t.Helper()
	path, err := nodeModule(name)
	if err == nil {
		return path
	}
	if Required() {
		t.Fatal(err)
	}
	t.Skipf("%v; install it with: .ci/agents", err)
	return ""
}

func nodeModule(name string) (string, error) {
	cache := os.Getenv("AGENT_CHATTER_AGENTS")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(dir, "agent-chatter-agents")
	}
	path := filepath.Join(cache, "node_modules", filepath.FromSlash(name))
	_, err := os.Stat(path)
	return path, err
}

// Required reports whether a test has to fail if a program is not installed.
func Required() bool { return os.Getenv("CI") != "" && runtime.GOOS != "windows" }

// SkipOnWindows skips a test on Windows if there is an error, such as that of a symbolic link that the user may not
// make, or of the removal of an open file. Elsewhere the error fails the test.
func SkipOnWindows(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case runtime.GOOS == "windows":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}
