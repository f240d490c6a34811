package apptest

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// reported is a text about a session that could not be read.
var reported = regexp.MustCompile("skipped|could not be read|[0-9] unreadable\\.|" + syscall.EIO.Error())

// FailEachRead runs a command once without a fault, and then once for each of its reads, with that read failing.
// The command must then return an error, print the error, report that it skipped a session, or print the lines that it
// prints without the fault, in any order. fill creates the home of a run.
func FailEachRead(
	t *testing.T, fill func(home string), run func(home string, disk vfs.FS, stdout, stderr io.Writer) error,
) {
	t.Helper()
	want := ""
	for n := 0; ; n++ {
		home := t.TempDir()
		fill(home)
		disk := journaltest.New(vfs.OS)
		if n > 0 {
			disk.Fail(n, syscall.EIO, journaltest.Read)
		}
		var stdout, stderr strings.Builder
		err := run(home, disk, &stdout, &stderr)
		lines := strings.Split(strings.ReplaceAll(stdout.String()+stderr.String(), home, "HOME"), "\n")
		slices.Sort(lines)
		got := strings.Join(lines, "\n")
		switch {
		case n == 0 && err != nil:
			t.Fatal(err)
		case n == 0:
			want = got
		case !disk.Failed():
			return
		case err == nil && got != want && !reported.MatchString(got):
			t.Errorf("read %d fails: no error, and it printed\n%s\nwant\n%s", n, got, want)
		}
	}
}

// FullOutput runs a command whose results cannot be written, which it must return as an error.
func FullOutput(
	t *testing.T, fill func(home string), run func(home string, disk vfs.FS, stdout, stderr io.Writer) error,
) {
	t.Helper()
	home := t.TempDir()
	fill(home)
	if err := run(home, vfs.OS, full{}, io.Discard); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("with a full output: %v", err)
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
