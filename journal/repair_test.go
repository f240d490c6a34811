package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// counts returns the numbers in the events of a journal.
func counts(t *testing.T, events []journal.Event) (all []int) {
	t.Helper()
	for _, e := range events {
		if e.Type != "sheep.counted" {
			continue
		}
		var data struct{ N *int }
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.N != nil {
			all = append(all, *data.N)
		}
	}
	return all
}

func damageFile(t *testing.T, path string, k int, damage func([][]byte, int) [][]byte) (corrupted []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	lines := bytes.SplitAfter(content, []byte("\n"))
	lines = lines[:len(lines)-1]
	corrupted = bytes.Join(damage(lines, k), nil)
	must(t, os.WriteFile(path, corrupted, 0o600))
	return corrupted
}

func TestRepairKeepsEveryValidLine(t *testing.T) {
	for _, fault := range faults {
		for k := 1; k <= min(fault.last, 8); k++ { // well within the synced lines
			t.Run(fmt.Sprintf("%s, line %d", fault.name, k), func(t *testing.T) {
				dir := newDir(t)
				id := newJournal(t, dir, 5000)
				path := filepath.Join(dir.Path(), id+".jsonl")
				corrupted := damageFile(t, path, k, fault.damage)

				done, err := dir.Repair(t.Context(), id, false)
				must(t, err)
				events, torn, err := read(t, dir, id)
				if err != nil || torn.Bytes > 0 {
					t.Fatalf("after the repair: %v, torn %v", err, torn)
				}
				checkKept(t, counts(t, events), k)
				if len(done.Dropped) == 0 || int(done.Kept)+len(done.Dropped)+1 != len(events) {
					t.Errorf("%d events, with the seal, for %d kept and %d runs set aside", len(events), done.Kept, len(done.Dropped))
				}
				aside, err := os.ReadFile(filepath.Join(dir.Path(), done.Aside))
				if err != nil || !bytes.Equal(aside, corrupted) {
					t.Errorf("the journal as it was is not kept: %v", err)
				}
				if again, err := dir.Repair(t.Context(), id, false); err != nil || len(again.Dropped) > 0 {
					t.Errorf("a second repair finds %v, %v", again, err)
				}
				mustAppend(t, mustOpen(t, dir, id), counted(99, 0))
			})
		}
	}
}

// checkKept allows to lose the lines that a fault at k changes, and the next one,
// whose predecessor is unknown.
func checkKept(t *testing.T, kept []int, k int) {
	t.Helper()
	if !slices.IsSorted(kept) || len(slices.Compact(slices.Clone(kept))) != len(kept) {
		t.Errorf("kept %v: not once and in order", kept)
	}
	for n := 1; n <= 15; n++ {
		if (n < k || n > k+2) && !slices.Contains(kept, n) {
			t.Errorf("a fault at %d: the good event %d is gone, kept %v", k, n, kept)
		}
	}
}

func TestRepairDoesNotChangeAValidJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	before, err := os.ReadFile(path)
	must(t, err)
	done, err := dir.Repair(t.Context(), id, false)
	after, readErr := os.ReadFile(path)
	if err != nil || readErr != nil || len(done.Dropped) > 0 || !bytes.Equal(before, after) {
		t.Errorf("Repair did %+v, %v", done, err)
	}
}

func TestRepairLeavesATornTailToAppend(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"seq":16,"half`)
	must(t, errors.Join(err, f.Close()))
	if done, err := dir.Repair(t.Context(), id, false); err != nil || len(done.Dropped) > 0 {
		t.Errorf("Repair did %+v, %v", done, err)
	}
}

func TestDryRepairChangesNothing(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	corrupted := damageFile(t, path, 4, func(lines [][]byte, k int) [][]byte { return slices.Delete(lines, k, k+1) })
	dry, err := dir.Repair(t.Context(), id, true)
	must(t, err)
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, corrupted) {
		t.Errorf("the journal was changed: %v", err)
	}
	wet, err := dir.Repair(t.Context(), id, false)
	must(t, err)
	if dry.Kept != wet.Kept || len(dry.Dropped) != 1 || !slices.Equal(dry.Dropped, wet.Dropped) || dry.Aside != "" {
		t.Errorf("dry %+v, wet %+v", dry, wet)
	}
}

func TestRepairOfALockedJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	mustOpen(t, dir, id)
	if _, err := dir.Repair(t.Context(), id, false); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("the error is %v", err)
	}
}

func TestFailedRepairLeavesOldOrNewJournal(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(noSyncFS{journal.OS})
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk, Now: atNoon})
		id := newJournal(t, dir, 3000)
		path := filepath.Join(dir.Path(), id+".jsonl")
		corrupted := damageFile(t, path, 5,
			func(lines [][]byte, k int) [][]byte { return slices.Delete(lines, k, k+1) })
		disk.HalfWrites(true)
		disk.Fail(n, syscall.EIO)
		_, err := dir.Repair(t.Context(), id, false)
		failed := disk.Failed()
		disk.Heal()

		now, readErr := os.ReadFile(path)
		must(t, readErr)
		if err != nil && !bytes.Equal(now, corrupted) {
			if _, _, err := read(t, dir, id); err != nil {
				t.Fatalf("failure %d leaves neither the old journal nor a valid one: %v\n%s", n, err, disk)
			}
		}
		if _, err := dir.Repair(t.Context(), id, false); err != nil {
			t.Fatalf("after failure %d: %v\n%s", n, err, disk)
		}
		events, _, err := read(t, dir, id)
		must(t, err)
		checkKept(t, counts(t, events), 5)
		if !failed {
			return
		}
	}
}
