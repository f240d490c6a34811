package doctor

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// newTestDoctor returns a doctor for an empty home that accesses files through disk.
func newTestDoctor(t *testing.T, disk vfs.FS) *doctor {
	t.Helper()
	d := newDoctor(t.Context(), testApp(t))
	d.fs = disk
	return d
}

// wantFiles checks which files are in the home.
func wantFiles(t *testing.T, d *doctor, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(d.Home)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if !slices.Equal(left, names) {
		t.Errorf("the home has %q, want %q", left, names)
	}
}

func TestDoctorReportsDiskErrorsAndRemovesProbe(t *testing.T) {
	for _, kind := range []journaltest.Kind{
		journaltest.Open, journaltest.Write, journaltest.Sync, journaltest.Rename, journaltest.SyncDir,
	} {
		t.Run(string(kind), func(t *testing.T) {
			disk := journaltest.New(vfs.OS)
			disk.FailFrom(1, syscall.EIO, kind)
			d := newTestDoctor(t, disk)
			found := d.checkDisk()
			if len(found) != 1 || found[0].State != app.StateWrong ||
				!strings.Contains(found[0].What, syscall.EIO.Error()) ||
				found[0].Help == "" {
				t.Errorf("findings: %+v", found)
			}
			wantFiles(t, d)
		})
	}
}

func TestDoctorReportsProbeThatCannotBeRemoved(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	disk.FailFrom(1, syscall.EIO, journaltest.Remove)
	d := newTestDoctor(t, disk)
	if found := d.checkDisk(); found[0].State != app.StateWrong {
		t.Errorf("findings: %+v", found)
	}
	wantFiles(t, d, filepath.Base(d.probe("new")))
}

func TestDoctorIsNotDisturbedByFilesOfAKilledRun(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	disk.FailFrom(1, syscall.EIO, journaltest.Rename, journaltest.Remove)
	killed := newTestDoctor(t, disk)
	killed.checkDisk()
	wantFiles(t, killed, filepath.Base(killed.probe("old")))
	if found := newDoctor(t.Context(), killed.App).checkDisk(); found[0].State != app.StateOK {
		t.Errorf("findings: %+v", found)
	}
}

// nonExclusive is a file system on which a lock can be taken any number of times.
type nonExclusive struct{ vfs.FS }

func (n nonExclusive) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := n.FS.OpenFile(name, flag, perm)
	return nonExclusiveFile{f}, err
}

type nonExclusiveFile struct{ vfs.File }

func (nonExclusiveFile) Lock() error { return nil }

// caseInsensitive is a file system whose names are not case-sensitive.
type caseInsensitive struct{ vfs.FS }

func (c caseInsensitive) Stat(name string) (fs.FileInfo, error) {
	if info, err := c.FS.Stat(name); err == nil {
		return info, nil
	}
	return c.FS.Stat(filepath.Join(filepath.Dir(name), strings.ToLower(filepath.Base(name))))
}

func TestDoctorTestsLocks(t *testing.T) {
	unsupported := journaltest.New(vfs.OS)
	unsupported.FailFrom(1, syscall.ENOLCK, journaltest.Lock)
	secondFails := journaltest.New(vfs.OS)
	secondFails.Fail(2, syscall.EIO, journaltest.Lock)
	for _, tt := range []struct {
		behaviour string
		disk      vfs.FS
		want      app.State
		what      string
	}{
		{"exclusive", vfs.OS, app.StateOK, "they are exclusive"},
		{"not exclusive", nonExclusive{vfs.OS}, app.StateWrong, "taken twice"},
		{"unsupported", unsupported, app.StateWrong, syscall.ENOLCK.Error()},
		{"the second fails", secondFails, app.StateWrong, "whether locks are exclusive is unknown: "},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			d := newTestDoctor(t, tt.disk)
			found := d.checkLocks()
			if len(found) != 1 || found[0].State != tt.want || !strings.Contains(found[0].What, tt.what) {
				t.Errorf("findings: %+v", found)
			}
			wantFiles(t, d)
		})
	}
}

func TestDoctorReportsCaseSensitivity(t *testing.T) {
	d := newTestDoctor(t, caseInsensitive{vfs.OS})
	if found := d.checkDisk(); found[0].What != diskText(false).What {
		t.Errorf("findings: %+v", found)
	}
	wantFiles(t, d)
}

func TestDoctorGradesFreeSpace(t *testing.T) {
	for _, tt := range []struct {
		bytes, inodes uint64
		want          app.State
	}{
		{1 << 30, 10_000, app.StateOK},
		{1 << 40, math.MaxUint64, app.StateOK},
		{1<<30 - 1, 10_000, app.StateNote},
		{1 << 30, 9_999, app.StateNote},
		{100 << 20, 1_000, app.StateNote},
		{100<<20 - 1, 10_000, app.StateWrong},
		{1 << 30, 999, app.StateWrong},
		{0, 0, app.StateWrong},
	} {
		f := spaceFinding(tt.bytes, tt.inodes)
		if f.State != tt.want || (len(f.Commands) == 0) != (tt.want == app.StateOK) {
			t.Errorf("%d bytes, %d inodes: %+v, want %s", tt.bytes, tt.inodes, f, tt.want)
		}
	}
}

func TestDoctorWarnsBelowTenthOfWatches(t *testing.T) {
	for _, tt := range []struct {
		usage
		want bool
	}{{usage{0, 128}, false}, {usage{115, 128}, false}, {usage{116, 128}, true}, {usage{128, 128}, true},
		{usage{90, 100}, false}, {usage{91, 100}, true}} {
		if got := tt.nearLimit(); got != tt.want {
			t.Errorf("%+v: %v", tt.usage, got)
		}
	}
}

func TestReadOnlyFSRefusesChanges(t *testing.T) {
	dir := t.TempDir()
	readOnly := readOnlyFS{vfs.OS}
	name := filepath.Join(dir, "a")
	_, openErr := readOnly.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	for what, err := range map[string]error{
		"OpenFile": openErr, "Mkdir": readOnly.Mkdir(name, 0o700), "Rename": readOnly.Rename(dir, name), "Remove": readOnly.Remove(dir),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// testApp returns an App for an empty home on a local file system.
func testApp(t *testing.T) *app.App {
	t.Helper()
	local := func(string) string { return "" }
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard, NetworkFS: local}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestWebBrowser(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the program that opens web pages is a part of the system")
	}
	d := newDoctor(t.Context(), testApp(t))
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got := d.checkWebBrowser(); got != nil {
		t.Errorf("without a desktop: %+v", got)
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, ":0")
			if got := d.checkWebBrowser(); len(got) != 1 || got[0].State != app.StateNote {
				t.Errorf("without the program: %+v", got)
			}
			if err := os.WriteFile(filepath.Join(dir, "xdg-open"), nil, 0o755); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(filepath.Join(dir, "xdg-open"))
			if got := d.checkWebBrowser(); len(got) != 1 || got[0].State != app.StateOK {
				t.Errorf("with the program: %+v", got)
			}
		})
	}
}
