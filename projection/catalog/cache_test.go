package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// mixed fills a catalog with sessions of two teams: some with checkpoints, some

// longer than their checkpoints, one archived, one pinned and renamed.

func mixed(t testing.TB, root string, fsys vfs.FS) *catalog.Catalog {
	t.Helper()
	c := catalog.New(root, journal.Options{FS: fsys})
	kitchen, garden := c.Team("kitchen"), c.Team("Garden")
	put(t, kitchen, id(1), chat(id(1), "kitchen", "Repair the kettle", 3)...)
	end := put(t, kitchen, id(2), chat(id(2), "kitchen", "[NEXT: ada] Boil water", 40)...)
	keep(t, kitchen, id(2))
	add(t, kitchen, id(2), end, said(90, ada, "It boils"), after(91, projection.TaskSet{Task: new("Tea")}))
	renamed := append(chat(id(3), "kitchen", "Old", 2),
		after(70, projection.SessionRenamed{Title: "Renamed"}), after(71, projection.SessionPinned{Pinned: true}))
	put(t, kitchen, id(3), renamed...)
	put(t, garden, id(4), chat(id(4), "Garden", "Plant a tree", 5)...)
	keep(t, garden, id(4))
	archive(t, garden, id(4))
	return c
}

func TestDeletedCachesChangeNoAnswer(t *testing.T) {
	root := t.TempDir()
	c := mixed(t, root, nil)
	first := ask(t, c)
	if len(first.Sessions) != 4 {
		t.Fatalf("%d sessions", len(first.Sessions))
	}
	sameAnswers(t, first, ask(t, c)) // with an index
	dropCaches(t, root)
	sameAnswers(t, first, ask(t, c))
}

func TestCachesEqualWholeJournal(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		root := t.TempDir()
		c := catalog.New(root, journal.Options{})
		team := c.Team("kitchen")
		end := put(t, team, id(1), begun(id(1), "kitchen"))
		for range rapid.IntRange(1, 5).Draw(rt, "visits") {
			if rapid.Bool().Draw(rt, "list") {
				list(t, c)
			}
			if rapid.Bool().Draw(rt, "checkpoint") {
				keep(t, team, id(1))
			}
			for range rapid.IntRange(0, 4).Draw(rt, "events") {
				end = add(t, team, id(1), end, anyRecord(rt))
			}
		}
		cached := ask(t, c)
		dropCaches(t, root)
		sameAnswers(t, ask(t, c), cached)
	})
}

func anyRecord(t *rapid.T) journal.Record {
	minutes := rapid.IntRange(0, 100).Draw(t, "minutes")
	return rapid.SampledFrom([]journal.Record{
		said(minutes, mia, "hello"), said(minutes, ada, "hi"), said(minutes, mia, "[NEXT: ada]"),
		after(minutes, projection.SessionRenamed{Title: "Renamed"}),
		after(minutes, projection.SessionPinned{Pinned: minutes%2 == 0}),
		after(minutes, projection.SessionEnded{Reason: "exit"}),
		after(minutes, projection.SessionResumed{CWD: "/elsewhere"}),
		after(minutes, projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		after(minutes, projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done}),
		{Type: "water.poured", Data: json.RawMessage(`{}`), Time: created},
		{Type: "message.appended", Data: json.RawMessage(`{"v":2}`), Time: created},
	}).Draw(t, "event")
}

func TestWrongCachesAreIgnored(t *testing.T) {
	type damage = func(t *testing.T, team *catalog.Dir, end journal.Position)
	index := func(spoil func(t *testing.T, path string)) damage {
		return func(t *testing.T, team *catalog.Dir, end journal.Position) { spoil(t, indexOf(team)) }
	}
	checkpoint := func(spoil func(t *testing.T, path string)) damage {
		return func(t *testing.T, team *catalog.Dir, end journal.Position) {
			path := checkpointOf(team, id(1))
			spoil(t, path)
			write(t, path, withChecksum(read(t, path)))
		}
	}
	content := func(data string) func(*testing.T, string) {
		return func(t *testing.T, path string) { write(t, path, []byte(data)) }
	}
	replace := func(old, new string) func(*testing.T, string) {
		return func(t *testing.T, path string) { change(t, path, old, new) }
	}
	half := func(t *testing.T, path string) { data := read(t, path); write(t, path, data[:len(data)/2]) }
	// forged writes a checkpoint with a state at a position that is near the end.
	forged := func(move func(at *journal.Position), state projection.State) damage {
		return func(t *testing.T, team *catalog.Dir, end journal.Position) {
			move(&end)
			write(t, checkpointOf(team, id(1)), withChecksum([]byte(asJSON(t, map[string]any{
				"foldVersion": projection.FoldVersion, "seq": end.Seq, "offset": end.Offset, "sum": end.Sum,
				"state": state,
			}))))
		}
	}
	wrong := projection.State{Seq: 4, SessionID: id(1), Row: projection.Row{Title: "wrong", MessageCount: 99}}
	wrongAt := func(seq uint64) projection.State { state := wrong; state.Seq = seq; return state }
	row := func(fields string) damage {
		return index(content(`{"version":"1.0.0","sessions":[{"id":"` + id(1) + `","foldVersion":1,"title":"wrong",` +
			fields + `}]}`))
	}
	for _, test := range []struct {
		name   string
		damage damage
	}{
		{"an empty index", index(content(""))},
		{"a truncated index", index(half)},
		{"an index that is not JSON", index(content("\x00\x00\x00"))},
		{"an index of another shape", index(content(`[1,2]`))},
		{"an index without rows", index(content(`{"version":"1.0.0","sessions":null}`))},
		{"an index of another version", index(func(t *testing.T, path string) {
			change(t, path, `"version":"1.0.0"`, `"version":"9.0.0"`)
			change(t, path, `"title":"Repair"`, `"title":"wrong"`)
		})},
		{"an index that is a directory", index(func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		})},
		{"a row that is cut off after the glance", index(replace(`"title":"Repair"`, "\x00\x00\x00"))},
		{"an index in which the fields come in another order", index(func(t *testing.T, path string) {
			var file map[string]any // encoding/json sorts its keys
			if err := json.Unmarshal(read(t, path), &file); err != nil {
				t.Fatal(err)
			}
			write(t, path, []byte(asJSON(t, file)))
		})},
		{"a row of another sum", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			change(t, indexOf(team), end.Sum.String(), "00000000")
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
			settle(t, live(team, id(1)))
		}},
		{"a row that was made from another file", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
			settle(t, live(team, id(1)))
		}},
		{"a row of another fold version", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			fold := fmt.Sprintf(`"foldVersion":%d`, projection.FoldVersion)
			change(t, indexOf(team), fold, strings.Replace(fold, ":", ":9", 1))
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
		}},
		{"a row of another fold version, and the file grew", func(t *testing.T, team *catalog.Dir,
			end journal.Position) {
			fold := fmt.Sprintf(`"foldVersion":%d`, projection.FoldVersion)
			change(t, indexOf(team), fold, strings.Replace(fold, ":", ":9", 1))
			change(t, indexOf(team), fmt.Sprintf(`"size":%d`, end.Offset), `"size":5`)
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
		}},
		{"a row of an older version", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			change(t, indexOf(team), `"rowVersion":3,`, "")
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
		}},
		{"a row of an older version, and the file grew", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			change(t, indexOf(team), `"rowVersion":3,`, "")
			change(t, indexOf(team), fmt.Sprintf(`"size":%d`, end.Offset), `"size":5`)
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
		}},
		{"a row without events", row(`"messageCount":7,"lastSeq":0,"end":0,"sum":"00000000"`)},
		{"a row without a position", row(`"messageCount":7`)},
		{"a row that ends after the file", row(`"lastSeq":1,"end":99999999,"sum":"00000000"`)},
		{"a row that ends before the file", row(`"lastSeq":1,"end":-5,"sum":"00000000"`)},

		{"an empty checkpoint", checkpoint(content(""))},
		{"a truncated checkpoint", checkpoint(half)},
		{"a checkpoint that is not JSON", checkpoint(content("\x00\x00"))},
		{"a checkpoint of another shape", checkpoint(content(`[]`))},
		{"an empty JSON object as checkpoint", checkpoint(content(`{}`))},
		{"a checkpoint without a state",
			checkpoint(content(fmt.Sprintf(`{"foldVersion":%d}`, projection.FoldVersion)))},
		{"a checkpoint of another fold version", checkpoint(func(t *testing.T, path string) {
			fold := `"foldVersion":%d`
			change(t, path, fmt.Sprintf(fold, projection.FoldVersion), fmt.Sprintf(fold, projection.FoldVersion+1))
			change(t, path, `"title":"Repair"`, `"title":"wrong"`)
		})},
		{"a checkpoint with another seq", checkpoint(replace(`"seq":4`, `"seq":3`))},
		{"a checkpoint with the state of another seq", forged(func(*journal.Position) {}, wrongAt(3))},
		{"a checkpoint with the offset of another seq", forged(func(at *journal.Position) { at.Seq = 3 }, wrongAt(3))},
		{"a checkpoint with another offset", forged(func(at *journal.Position) { at.Offset-- }, wrong)},
		{"a checkpoint after the end", forged(func(at *journal.Position) { at.Offset += 1000 }, wrong)},
		{"a checkpoint with a negative offset", forged(func(at *journal.Position) { at.Offset = -1 }, wrong)},
		{"a checkpoint with another sum", forged(func(at *journal.Position) { at.Sum++ }, wrong)},
		{"a checkpoint at the beginning", forged(func(at *journal.Position) { *at = journal.Position{} }, wrongAt(0))},
		{"a checkpoint without a session id", forged(func(*journal.Position) {}, projection.State{Seq: 4})},
		{"another journal's checkpoint", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			put(t, team, id(2), chat(id(2), "kitchen", "Another", 3)...)
			keep(t, team, id(2))
			write(t, checkpointOf(team, id(1)), read(t, checkpointOf(team, id(2))))
			if err := errors.Join(os.Remove(live(team, id(2))), os.Remove(checkpointOf(team, id(2)))); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			c := catalog.New(root, journal.Options{})
			team := c.Team("kitchen")
			end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
			keep(t, team, id(1))
			want := ask(t, c)
			test.damage(t, team, end)
			sameAnswers(t, want, ask(t, c))
			sameAnswers(t, want, ask(t, c)) // the list has replaced the index
		})
	}
}

// The source of the team is listed from the journal, from its row, after the

// row was folded on, and from the row of an archive.

func TestGrownJournalIsFoldedFromItsRow(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 4000)...)
	list(t, c)
	end = add(t, team, id(1), end, said(5000, ada, "the end"))
	disk.forget()
	got := list(t, c)[0]
	if got.MessageCount != 4001 || got.LastSpeakerID != "ada" || got.LastSeq != 4002 || got.Title != "Repair" ||
		got.End != end {
		t.Errorf("%+v", got)
	}
	if _, bytes := disk.journals(); bytes > 20<<10 {
		t.Errorf("%d bytes of %d were read", bytes, end.Offset)
	}
}

// A state with a changed bit would change what agents are asked.

// Every user of a shared folder can write a checkpoint with a valid checksum.

// Two programs may write the caches of a session at once, such as compact and reindex.

func TestCachesAreWrittenConcurrently(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil {
		t.Fatal(err)
	}
	failed := make([]error, 4)
	var writers sync.WaitGroup
	for i := range failed {
		writers.Go(func() {
			for range 50 {
				err := team.WriteCheckpoint(id(1), state, loaded.At)
				if i == 0 {
					_, reindexErr := team.Reindex(ctx)
					err = errors.Join(err, reindexErr)
				}
				failed[i] = errors.Join(failed[i], err)
			}
		})
	}
	writers.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
	if names, err := filepath.Glob(filepath.Join(team.Journals().Path(), "*.tmp")); err != nil || len(names) > 0 {
		t.Errorf("left are %q, %v", names, err)
	}
}

func TestDamageBeforeIndexedEndIsFound(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair the kettle", 5)...)
	synced(t, team, id(1), end)
	if got := list(t, c)[0]; got.Damaged != "" {
		t.Fatalf("%+v", got)
	}
	change(t, live(team, id(1)), "Repair the kettle", "Repair the kettlX")
	if got := list(t, c)[0]; got.Damaged == "" {
		t.Errorf("%+v", got)
	}
}

// synced appends a line whose sync mark covers everything before it.

func synced(t testing.TB, team *catalog.Dir, id string, at journal.Position) {
	t.Helper()
	log, err := team.Journals().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(said(200, ada, "well")); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListRetriesFailedRead(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	root := t.TempDir()
	c := catalog.New(root, journal.Options{FS: disk})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	want := ask(t, catalog.New(root, journal.Options{}))
	for n := 1; ; n++ {
		dropCaches(t, root)
		disk.Fail(n, syscall.EIO, journaltest.Read)
		before := disk.Count(journaltest.Read)
		team.List(ctx, catalog.Query{})
		done := disk.Count(journaltest.Read)-before < n
		disk.Heal()
		sameAnswers(t, want, ask(t, c))
		if done {
			break
		}
	}
}

func TestUnwritableCachesChangeNoAnswer(t *testing.T) {
	root := t.TempDir()
	want := ask(t, mixed(t, root, nil))
	disk := journaltest.New(vfs.OS)
	c := catalog.New(root, journal.Options{FS: disk})
	for n := 1; ; n++ {
		dropCaches(t, root)
		disk.Heal()
		disk.FailFrom(n, syscall.ENOSPC)
		disk.HalfWrites(n%2 == 0)
		before := disk.Count()
		sameAnswers(t, want, ask(t, c))
		state, loaded, err := c.Team("kitchen").Load(ctx, id(2))
		if err != nil {
			t.Fatal(err)
		}
		err = c.Team("kitchen").WriteCheckpoint(id(2), state, loaded.At)
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		c.Team("kitchen").UpdateIndex(id(2), state, loaded.At)
		sameAnswers(t, want, ask(t, c))
		if disk.Count()-before < n {
			return
		}
	}
}

func TestUnreadableJournalIsNotIndexedAsDamaged(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	loop := live(c.Team("kitchen"), id(9))
	programtest.SkipOnWindows(t, os.Symlink(loop, loop))
	for range 2 {
		for _, s := range list(t, c) {
			if unread := s.ReadErr != nil; unread != (s.ID == id(9)) {
				t.Errorf("%s: %v, damaged: %q", s.ID, s.ReadErr, s.Damaged)
			}
		}
	}
}

func TestDeleteRemovesCaches(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	team := c.Team("kitchen")
	list(t, c)
	if err := team.Delete(t.Context(), id(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(checkpointOf(team, id(2))); !os.IsNotExist(err) {
		t.Errorf("the checkpoint: %v", err)
	}
	if index := string(read(t, indexOf(team))); strings.Contains(index, id(2)) || !strings.Contains(index, id(1)) {
		t.Errorf("%s", index)
	}
	if _, _, err := c.Find(ctx, id(2)); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := team.Delete(t.Context(), id(2)); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("deleting again: %v", err)
	}
}

func TestRestoreDeletedSession(t *testing.T) {
	root := t.TempDir()
	c := mixed(t, root, nil)
	before := ask(t, c)
	for _, gone := range []struct{ team, id string }{{"kitchen", id(2)}, {"Garden", id(4)}} {
		if err := c.Team(gone.team).Delete(t.Context(), gone.id); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Find(ctx, gone.id); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if err := c.Team(gone.team).Restore(t.Context(), gone.id); err != nil {
			t.Fatal(err)
		}
	}
	sameAnswers(t, before, ask(t, c))
}
