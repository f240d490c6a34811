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
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
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
	racetest.SkipSequential(t)
	for _, fault := range faults {
		for k := 1; k <= min(fault.last, 8); k++ { // well within the synced lines
			t.Run(fmt.Sprintf("%s, line %d", fault.name, k), func(t *testing.T) {
				dir := newDir(t)
				id := newJournal(t, dir, 5000)
				path := filepath.Join(dir.Path(), id+".jsonl")
				corrupted := damageFile(t, path, k, fault.damage)

				done, err := dir.Repair(t.Context(), id, nil, false)
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
				if again, err := dir.Repair(t.Context(), id, nil, false); err != nil || len(again.Dropped) > 0 {
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
	done, err := dir.Repair(t.Context(), id, nil, false)
	after, readErr := os.ReadFile(path)
	if err != nil || readErr != nil || len(done.Dropped) > 0 || !bytes.Equal(before, after) {
		t.Errorf("Repair did %+v, %v", done, err)
	}
}

func TestRepairLeavesATornTailToAppend(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	length := stat(t, path).Size()
	appendFile(t, path, []byte(`{"seq":16,"half`))
	for _, dryRun := range []bool{true, false} {
		done, err := dir.Repair(t.Context(), id, nil, dryRun)
		if err != nil || len(done.Dropped) > 0 || done.Torn.Offset != length || done.Torn.Bytes != 15 {
			t.Errorf("Repair did %+v, %v", done, err)
		}
	}
}

func TestDryRepairChangesNothing(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	corrupted := damageFile(t, path, 4, func(lines [][]byte, k int) [][]byte { return slices.Delete(lines, k, k+1) })
	dry, err := dir.Repair(t.Context(), id, nil, true)
	must(t, err)
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, corrupted) {
		t.Errorf("the journal was changed: %v", err)
	}
	wet, err := dir.Repair(t.Context(), id, nil, false)
	must(t, err)
	if dry.Kept != wet.Kept || len(dry.Dropped) != 1 || !slices.Equal(dry.Dropped, wet.Dropped) || dry.Aside != "" {
		t.Errorf("dry %+v, wet %+v", dry, wet)
	}
}

func TestRepairOfALockedJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	mustOpen(t, dir, id)
	if _, err := dir.Repair(t.Context(), id, nil, false); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("the error is %v", err)
	}
}

func TestFailedRepairLeavesOldOrNewJournal(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(noSyncFS{vfs.OS})
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk, Now: atNoon})
		id := newJournal(t, dir, 3000)
		path := filepath.Join(dir.Path(), id+".jsonl")
		corrupted := damageFile(t, path, 5,
			func(lines [][]byte, k int) [][]byte { return slices.Delete(lines, k, k+1) })
		disk.HalfWrites(true)
		disk.Fail(n, syscall.EIO)
		_, err := dir.Repair(t.Context(), id, nil, false)
		failed := disk.Failed()
		disk.Heal()

		now, readErr := os.ReadFile(path)
		must(t, readErr)
		if err != nil && !bytes.Equal(now, corrupted) {
			if _, _, err := read(t, dir, id); err != nil {
				t.Fatalf("failure %d leaves neither the old journal nor a valid one: %v\n%s", n, err, disk)
			}
		}
		if _, err := dir.Repair(t.Context(), id, nil, false); err != nil {
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

func TestRepairSetsRejectedEventsAside(t *testing.T) {
	odd := errors.New("it is odd")
	even := func(e journal.Event) error {
		if e.Type == "sheep.counted" && countIn(t, e)%5 == 0 {
			return odd
		}
		return nil
	}
	for name, c := range map[string]struct {
		damage func(path string)
		want   []int
		runs   int
	}{
		"all lines valid": {func(string) {}, []int{1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14}, 3},
		"a torn tail": {func(path string) { appendFile(t, path, []byte("half")) },
			[]int{1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14}, 3},
		"a line lost before one": {func(path string) {
			damageFile(t, path, 3, func(lines [][]byte, k int) [][]byte { return slices.Delete(lines, k, k+1) })
		}, []int{1, 2, 3, 6, 7, 8, 9, 11, 12, 13, 14}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 10)
			path := filepath.Join(dir.Path(), id+".jsonl")
			c.damage(path)
			before := readFile(t, path)
			dry, err := dir.Repair(t.Context(), id, even, true)
			if err != nil || len(dry.Dropped) != c.runs || !bytes.Equal(readFile(t, path), before) {
				t.Errorf("dry: %+v, %v", dry, err)
			}
			done, err := dir.Repair(t.Context(), id, even, false)
			if err != nil || len(done.Dropped) != c.runs || int(done.Kept) != len(c.want) {
				t.Fatalf("%+v, %v", done, err)
			}
			if !bytes.Equal(readFile(t, filepath.Join(dir.Path(), done.Aside)), before) {
				t.Error("the journal as it was is not kept")
			}
			events := validEvents(t, dir, id)
			if got := counts(t, events); !slices.Equal(got, c.want) {
				t.Errorf("kept %v", got)
			}
			if last := events[len(events)-1]; last.Type != journal.TypeSealed {
				t.Errorf("the last event is a %s", last.Type)
			}
			again, err := dir.Repair(t.Context(), id, even, false)
			if err != nil || len(again.Dropped) > 0 {
				t.Errorf("a second repair: %+v, %v", again, err)
			}
		})
	}
}
