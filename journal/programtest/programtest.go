package programtest

import (
	"os"
	"os/exec"
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

// Required reports whether a test has to fail if a program is not installed.
func Required() bool { return os.Getenv("CI") != "" && runtime.GOOS != "windows" }
