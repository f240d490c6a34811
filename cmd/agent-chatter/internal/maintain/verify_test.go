package maintain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A bit of an archive that decompression ignores is damage, too.
func TestVerifyFailsOnAnyChangedBitOfAnArchive(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	dir := a.Catalog.At(s.Dir())
	if err := journaltest.Archive(t.Context(), dir.Journals(), s.ID); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), "archive", s.ID+".jsonl.zst")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 {
		damaged := bytes.Clone(sound)
		damaged[0] ^= 1 << bit // of the number of a frame that is skipped
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, chainOnly := range []bool{false, true} {
			v, err := verifySession(t.Context(), a, dir, s, chainOnly, true)
			if err != nil || v.OK || v.Line == 0 {
				t.Errorf("bit %d: %+v, %v", bit, v, err)
			}
		}
	}
}

func testApp(t *testing.T) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestVerifyStopsWhenInterrupted(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := verifySession(t.Context(), a, a.Catalog.At(s.Dir()), s, false, true); err != nil || !v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, chainOnly := range []bool{false, true} {
		_, err := verifySession(ctx, a, a.Catalog.At(s.Dir()), s, chainOnly, true)
		if !errors.Is(err, context.Canceled) || app.CodeOf(err) != app.ExitInterrupted {
			t.Errorf("chain only %v: %v", chainOnly, err)
		}
	}
}

// growing is a file system whose files are longer each time their size is read.
type growing struct{ vfs.FS }

func (g growing) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := g.FS.OpenFile(name, flag, perm)
	return growingFile{f, name}, err
}

type growingFile struct {
	vfs.File
	name string
}

func (f growingFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return info, errors.Join(err, appendTo(f.name, "x"))
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// The end of a file that grows may be a write in progress.
func TestVerifyReportsTornTailOnlyAtTheEnd(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(a.Home, "sessions")
	dir := catalog.New(root, journal.Options{}).Team("review")
	invalid := projection.Record(time.Now(), projection.TurnStarted{})
	if err := errors.Join(dir.Append(t.Context(), s.ID, invalid), appendTo(s.Path(), `{"seq":`)); err != nil {
		t.Fatal(err)
	}
	if v, err := verifySession(t.Context(), a, dir, s, false, true); err != nil || v.InvalidEvents != 1 || !v.isTorn() {
		t.Errorf("%+v, %v", v, err)
	}
	dir = catalog.New(root, journal.Options{FS: growing{vfs.OS}}).Team("review")
	if v, err := verifySession(t.Context(), a, dir, s, false, true); err != nil || v.InvalidEvents != 1 || v.isTorn() {
		t.Errorf("while it grows: %+v, %v", v, err)
	}
}

func TestVerifyOfListedDamageHasNoLine(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	s.Damaged = "line 7 is not an event"
	v, err := verifySession(t.Context(), a, a.Catalog.At(s.Dir()), s, true, true)
	if err != nil || v.OK || v.Problem != s.Damaged || v.Line != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestReadErrorAfterInvalidEventHasNoLine(t *testing.T) {
	v := verdict{OK: true}
	v.failEvent(journal.Event{Seq: 2}, 100, errors.New("it is invalid"))
	v.fail(&fs.PathError{Op: "read", Path: "a", Err: errors.New("broken")})
	if want := (verdict{Problem: "read a: broken", unreadable: true}); !reflect.DeepEqual(v, want) {
		t.Errorf("got %+v, want %+v", v, want)
	}
}
