package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
	"github.com/google/go-cmp/cmp"
)

// mixed fills a catalog with sessions of two teams: some with checkpoints, some
// longer than their checkpoints, one archived, one pinned and renamed.
func mixed(t testing.TB, root string, fsys journal.FS) *catalog.Catalog {
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
	rapid.Check(t, func(rt *rapid.T) {
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
			change(t, indexOf(team), `"rowVersion":2,`, "")
			change(t, indexOf(team), `"title":"Repair"`, `"title":"wrong"`)
		}},
		{"a row of an older version, and the file grew", func(t *testing.T, team *catalog.Dir, end journal.Position) {
			change(t, indexOf(team), `"rowVersion":2,`, "")
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

func TestListOpensNoUnchangedJournal(t *testing.T) {
	disk := watch()
	c := mixed(t, t.TempDir(), disk)
	want := list(t, c)
	disk.forget()
	sameAnswers(t, answers{Sessions: want}, answers{Sessions: list(t, c)})
	if opened, _ := disk.journals(); opened != 0 {
		t.Errorf("%d journals were opened: %v", opened, disk.read)
	}
	if len(disk.written) != 0 {
		t.Errorf("was written: %v", disk.written)
	}
}

// The source of the team is listed from the journal, from its row, after the
// row was folded on, and from the row of an archive.
func TestListHasTeamSource(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	first := &projection.Source{Path: "/home/mia/kitchen.json", SHA256: "00ff"}
	second := &projection.Source{Path: "/home/mia/other.json", SHA256: "11ee"}
	end := put(t, team, id(1), after(0, projection.SessionCreated{
		Format:    1,
		SessionID: id(1),
		Team:      projection.Team{ID: "kitchen", Source: first, Members: []projection.Member{}},
	}), said(1, mia, "Repair"))
	want := func(source *projection.Source) {
		t.Helper()
		for range 2 { // the second time from the index
			if got := list(t, c)[0]; got.Source == nil || *got.Source != *source {
				t.Errorf("got %v, want %v", got.Source, source)
			}
		}
	}
	want(first)
	end = add(t, team, id(1), end, said(2, ada, "well"))
	want(first)
	add(t, team, id(1), end, after(3, projection.SessionResumed{Source: second}))
	want(second)
	archive(t, team, id(1))
	want(second)
}

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

func TestBrokenRowIsReplaced(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	want := list(t, c)
	change(t, indexOf(team), `"title":"Repair"`, "\x00\x00\x00")
	put(t, team, id(2), chat(id(2), "kitchen", "Cake", 3)...)
	list(t, c)
	if text := read(t, indexOf(team)); !json.Valid(text) {
		t.Errorf("the index is %q", text)
	}
	sameAnswers(t, answers{Sessions: want}, answers{Sessions: list(t, c)[1:]})
}

// A state with a changed bit would change what agents are asked.
func TestFlipsInCheckpointChangeNothing(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	want, _ := load(t, team, id(1))
	keep(t, team, id(1))
	if _, loaded := load(t, team, id(1)); loaded.From != end {
		t.Fatalf("the checkpoint is not used: %+v", loaded)
	}
	sound := read(t, checkpointOf(team, id(1)))
	random := rand.New(rand.NewPCG(15, 5))
	for range 500 {
		damaged := bytes.Clone(sound)
		at := random.IntN(len(damaged))
		damaged[at] ^= 1 << random.IntN(8)
		write(t, checkpointOf(team, id(1)), damaged)
		if state, loaded := load(t, team, id(1)); state != want || loaded.From != (journal.Position{}) {
			t.Fatalf("byte %d changed:\n%s\nloaded from %+v:\n%s", at, damaged, loaded.From, cmp.Diff(want, state))
		}
	}
}

func TestCheckpointOfEarlierVersionIsReplaced(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	keep(t, team, id(1))
	path := checkpointOf(team, id(1))
	withSum := read(t, path)
	write(t, path, append(bytes.Clone(withSum[:bytes.LastIndex(withSum, []byte(`,"checksum"`))]), "}\n"...))
	if _, loaded := load(t, team, id(1)); loaded.From != (journal.Position{}) {
		t.Errorf("loaded from %+v", loaded.From)
	}
	keep(t, team, id(1))
	if _, loaded := load(t, team, id(1)); loaded.From != end {
		t.Errorf("loaded from %+v, not from %+v", loaded.From, end)
	}
}

// Every user of a shared folder can write a checkpoint with a valid checksum.
func TestCheckpointDoesNotChangeTheRecordedTeam(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "session.resumed", 5)...)
	resumed := projection.SessionResumed{Source: &projection.Source{Path: "/home/mia/team.json", SHA256: "ab"}}
	if err := team.Append(ctx, id(1), projection.Record(created, resumed)); err != nil {
		t.Fatal(err)
	}
	keep(t, team, id(1))
	path := checkpointOf(team, id(1))
	change(t, path, "/home/mia/team.json", "/tmp/evil.json")
	write(t, path, withChecksum(read(t, path)))
	if state, _, err := team.Load(ctx, id(1)); err != nil || state.Team.Source.Path != "/tmp/evil.json" {
		t.Fatalf("the checkpoint is not used: %+v, %v", state, err)
	}
	recorded, err := team.RecordedTeam(ctx, id(1))
	if err != nil || recorded.ID != "kitchen" || recorded.Source == nil || *recorded.Source != *resumed.Source {
		t.Errorf("%+v, %v", recorded, err)
	}
}

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

func TestLoadFromCheckpoint(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 4000)...)
	if at := keep(t, team, id(1)); at != end {
		t.Fatalf("the checkpoint is at %v, not %v", at, end)
	}
	after := add(t, team, id(1), end, said(5000, ada, "the end"))
	disk.forget()
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil || state.Row.MessageCount != 4001 {
		t.Fatalf("%+v, %v", state, err)
	}
	if loaded.From != end || loaded.At != after {
		t.Errorf("loaded from %v to %v, not from %v to %v", loaded.From, loaded.At, end, after)
	}
	if _, bytes := disk.journals(); bytes > 20<<10 {
		t.Errorf("%d bytes of %d were read", bytes, end.Offset)
	}
}

func TestEmptiedSessionIsListed(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	before := list(t, c)
	if err := os.Truncate(before[0].Path(), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the index
		after := list(t, c)
		if len(after) != 1 || after[0].Damaged == "" || after[0].Title != "Repair" || !after[0].Truncated {
			t.Fatalf("the list is %+v", after)
		}
	}
}

func TestReplacedJournalIsFoldedFromStart(t *testing.T) {
	for _, test := range []struct {
		name string
		with []journal.Record
	}{
		{"by a longer one", chat(id(1), "kitchen", "Replaced", 9)},
		{"by a shorter one", chat(id(1), "kitchen", "Replaced", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			c := catalog.New(root, journal.Options{})
			team := c.Team("kitchen")
			put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
			keep(t, team, id(1))
			list(t, c)
			put(t, team, id(1), test.with...)
			cached := ask(t, c)
			if short := len(test.with) < 4; cached.Sessions[0].Truncated != short {
				t.Errorf("Truncated is %v", cached.Sessions[0].Truncated)
			}
			cached.Sessions[0].Truncated = false // only the index knows that
			dropCaches(t, root)
			sameAnswers(t, ask(t, c), cached)
			if got := cached.Sessions[0].Title; got != "Replaced" {
				t.Errorf("the title is %q", got)
			}
		})
	}
}

func TestShorterJournalIsTruncated(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	records := chat(id(1), "kitchen", "Repair", 5)
	put(t, team, id(1), records...)
	if got := list(t, c)[0]; got.Truncated {
		t.Error("a complete journal is truncated")
	}
	put(t, team, id(1), records[:4]...)
	if got, err := team.Session(ctx, id(1)); err != nil || !got.Truncated || got.LastSeq != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := list(t, c)[0]; !got.Truncated || got.MessageCount != 3 {
		t.Errorf("%+v", got)
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
	disk := journaltest.New(journal.OS)
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
	disk := journaltest.New(journal.OS)
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

func TestUnchangedListWritesNothing(t *testing.T) {
	disk := watch()
	c := mixed(t, t.TempDir(), disk)
	write(t, live(c.Team("kitchen"), id(7)), nil)                   // empty
	write(t, live(c.Team("kitchen"), id(8)), []byte(`{"seq":1,"t`)) // half a line
	list(t, c)
	disk.forget()
	list(t, c)
	if len(disk.written) != 0 {
		t.Errorf("was written: %v", disk.written)
	}
}

func TestIndexInOtherLayoutIsReformatted(t *testing.T) {
	disk := watch()
	c := mixed(t, t.TempDir(), disk)
	want := list(t, c)
	path := indexOf(c.Team("kitchen"))
	ours := read(t, path)
	for name, layout := range map[string]func(t *testing.T) []byte{
		"fields in another order": func(t *testing.T) []byte {
			return regexp.MustCompile(`(?m)^{("id":"[^"]*"),(.*),("updatedAt":"[^"]*")`).ReplaceAll(ours,
				[]byte(`{$1,$3,$2`))
		},
		"times of another zone": func(t *testing.T) []byte {
			return regexp.MustCompile(`[^"]*Z","inode"`).ReplaceAllFunc(ours, func(found []byte) []byte {
				at, err := time.Parse(time.RFC3339, strings.TrimSuffix(string(found), `","inode"`))
				if err != nil {
					t.Fatal(err)
				}
				return []byte(at.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano) + `","inode"`)
			})
		},
		"indented": func(t *testing.T) []byte {
			var b bytes.Buffer
			if err := json.Indent(&b, ours, "", "  "); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, layout(t))
			disk.forget()
			sameAnswers(t, answers{Sessions: want}, answers{Sessions: list(t, c)})
			if opened, _ := disk.journals(); opened != 0 {
				t.Errorf("%d journals were opened: %v", opened, disk.read)
			}
			if now := read(t, path); !bytes.Equal(now, ours) {
				t.Errorf("%s\nnot\n%s", now, ours)
			}
		})
	}
}

func TestUnreadableJournalIsNotIndexedAsDamaged(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	loop := live(c.Team("kitchen"), id(9))
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("no links can be made here: ", err)
	}
	for range 2 {
		for _, s := range list(t, c) {
			if unread := s.ReadErr != nil; unread != (s.ID == id(9)) {
				t.Errorf("%s: %v, damaged: %q", s.ID, s.ReadErr, s.Damaged)
			}
		}
	}
}

func TestCheckpointMatchesSchema(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	golden := read(t, filepath.Join("..", "testdata", "journals", "v1.jsonl"))
	var length int
	for line := range bytes.Lines(golden) {
		length += len(line)
		write(t, live(team, id(1)), golden[:length])
		at := keep(t, team, id(1))
		if err := schemas.Check(schemas.Checkpoint, read(t, checkpointOf(team, id(1)))); err != nil {
			t.Errorf("after event %d: %v", at.Seq, err)
		}
	}
}

func TestIndexMatchesSchema(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	write(t, live(c.Team("kitchen"), id(9)), []byte("not a journal\n"))
	list(t, c)
	for _, team := range []string{"kitchen", "Garden"} {
		if err := schemas.Check(schemas.SessionIndex, read(t, indexOf(c.Team(team)))); err != nil {
			t.Error(err)
		}
	}
}

func TestListReportsLostJournals(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	team := c.Team("kitchen")
	list(t, c)
	path := live(team, id(1))
	content := read(t, path)
	remove := func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, sessions int, lost ...string) {
		t.Helper()
		for _, l := range []lister{team, c, team} { // the notice is repeated
			r := query(t, l, catalog.Query{Team: "kitchen"})
			if len(r.Sessions) != sessions || !slices.Equal(r.Lost, lost) {
				t.Errorf("%s: %d sessions, lost %q, want %d, %q", what, len(r.Sessions), r.Lost, sessions, lost)
			}
		}
	}
	check("all there", 3)
	remove()
	check("removed", 2, path)
	put(t, team, id(7), chat(id(7), "kitchen", "Another", 1)...)
	check("after another session", 3, path)
	write(t, path, content)
	check("restored", 4)
	if err := team.Delete(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	check("in the trash", 3)
	if err := team.Restore(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	list(t, c)
	remove()
	check("removed again", 3, path)
	if _, err := team.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("rebuilt", 3)
	if index := read(t, indexOf(team)); strings.Contains(string(index), id(1)) {
		t.Errorf("%s", index)
	}
}

func TestPurgedSessionIsNotLost(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	team := c.Team("kitchen")
	list(t, c)
	before := read(t, indexOf(team))
	if err := team.Delete(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	trashed, err := team.Journals().ListTrash()
	if err != nil || len(trashed) != 1 {
		t.Fatalf("%v, %v", trashed, err)
	}
	pass := team.BeginRetention()
	if err := pass.Purge(t.Context(), trashed, "old", func(journal.Trashed) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := pass.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, indexOf(team), before) // as the index of a large team is not rewritten
	if r := query(t, team, catalog.Query{}); len(r.Lost) > 0 || len(r.Sessions) != 2 {
		t.Errorf("%d sessions, lost %q", len(r.Sessions), r.Lost)
	}
}

func TestLostJournalOfEmptyDirectoryIsReported(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Alone", 1)...)
	list(t, team)
	if err := os.Remove(live(team, id(1))); err != nil {
		t.Fatal(err)
	}
	if r := query(t, team, catalog.Query{}); !slices.Equal(r.Lost, []string{live(team, id(1))}) {
		t.Errorf("lost %q", r.Lost)
	}
	if _, err := team.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := query(t, team, catalog.Query{}); len(r.Lost) > 0 {
		t.Errorf("after a rebuild, lost %q", r.Lost)
	}
}

func TestListOpensNoClosedSession(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	for n := range 3 {
		put(t, team, id(n), chat(id(n), "kitchen", "Repair", n+1)...)
		state, loaded, err := team.Load(ctx, id(n))
		if err != nil {
			t.Fatal(err)
		}
		team.UpdateIndex(id(n), state, loaded.At)
	}
	disk.forget()
	if got := list(t, c); len(got) != 3 || got[0].MessageCount != 3 {
		t.Errorf("%+v", got)
	}
	if opened, _ := disk.journals(); opened != 0 {
		t.Errorf("%d journals were opened", opened)
	}
}

func TestUpdateIndexChecksEndOfJournal(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 2)...)
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil {
		t.Fatal(err)
	}
	after := add(t, team, id(1), end, said(9, ada, "more"))
	want := ask(t, catalog.New(root, journal.Options{}))
	dropCaches(t, root)
	team.UpdateIndex(id(1), state, loaded.At) // outdated
	sameAnswers(t, want, ask(t, c))
	dropCaches(t, root)
	team.UpdateIndex(id(1), state, after) // not the state at that position
	sameAnswers(t, want, ask(t, c))
	dropCaches(t, root)
	team.UpdateIndex(id(1), state, journal.Position{})
	team.UpdateIndex(id(2), state, end) // no such journal
	sameAnswers(t, want, ask(t, c))
}

func TestConcurrentIndexUpdates(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for process := range 4 {
		wg.Go(func() {
			c := catalog.New(root, journal.Options{})
			team := c.Team("kitchen")
			for n := range 10 {
				name := id(process*10 + n)
				put(t, team, name, chat(name, "kitchen", "Repair", n+1)...)
				state, loaded, err := team.Load(ctx, name)
				if err != nil {
					t.Error(err)
					return
				}
				team.UpdateIndex(name, state, loaded.At)
				if _, err := team.List(ctx, catalog.Query{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c := catalog.New(root, journal.Options{})
	cached := ask(t, c)
	if len(cached.Sessions) != 40 {
		t.Errorf("%d sessions", len(cached.Sessions))
	}
	if err := schemas.Check(schemas.SessionIndex, read(t, indexOf(c.Team("kitchen")))); err != nil {
		t.Error(err)
	}
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
}

func TestLockedIndexIsNotWritten(t *testing.T) {
	root := t.TempDir()
	c := catalog.New(root, journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 2)...)
	lock, err := journal.LockFile(journal.OS, filepath.Join(team.Journals().Path(), "sessions.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, c); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil {
		t.Fatal(err)
	}
	team.UpdateIndex(id(1), state, loaded.At)
	if _, err := os.Stat(indexOf(team)); !os.IsNotExist(err) {
		t.Errorf("it was written: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	list(t, c)
	read(t, indexOf(team))
}

func TestLargeIndexIsRarelyRewritten(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	var end journal.Position
	for n := range 1000 {
		end = put(t, team, id(n), begun(id(n), "kitchen"), said(n+1, mia, "Repair"))
	}
	list(t, c)
	wrote := func(do func()) bool {
		disk.forget()
		do()
		return slices.ContainsFunc(slices.Collect(maps.Keys(disk.written)), func(name string) bool {
			return strings.HasPrefix(name, "sessions.json.")
		})
	}
	end = add(t, team, id(999), end, said(2000, ada, "well"))
	if wrote(func() { list(t, c) }) {
		t.Error("a list rewrote 1,000 rows for one event")
	}
	state, loaded, err := team.Load(ctx, id(999))
	if err != nil {
		t.Fatal(err)
	}
	if wrote(func() { team.UpdateIndex(id(999), state, loaded.At) }) {
		t.Error("UpdateIndex rewrote 1,000 rows")
	}
	if got := list(t, c)[0]; got.ID != id(999) || got.MessageCount != 2 {
		t.Errorf("%+v", got)
	}
	add(t, team, id(999), end, said(2001, mia, strings.Repeat("x", 600_000)))
	if !wrote(func() { list(t, c) }) {
		t.Error("a list read a large journal and did not write the index")
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

func TestAppendUpdatesIndex(t *testing.T) {
	root := t.TempDir()
	disk := watch()
	c := mixed(t, root, disk)
	list(t, c)
	if err := c.Team("kitchen").Append(ctx, id(1), after(500, projection.SessionRenamed{Title: "Tea"})); err != nil {
		t.Fatal(err)
	}
	disk.forget()
	s, _, err := c.Find(ctx, "Tea")
	if err != nil || s.ID != id(1) || s.LastSeq != 5 {
		t.Errorf("%+v, %v", s, err)
	}
	if opened, _ := disk.journals(); opened != 0 {
		t.Error("a journal was opened for it")
	}
	if !s.UpdatedAt.Equal(created.Add(3 * time.Minute)) {
		t.Errorf("renaming moved updatedAt to %v", s.UpdatedAt)
	}
	cached := ask(t, c)
	dropCaches(t, root)
	sameAnswers(t, ask(t, c), cached)
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

func TestReindexReportsLockedIndex(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "hello", 2)...)
	lock, err := journal.LockFile(journal.OS, filepath.Join(team.Journals().Path(), "sessions.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := team.Reindex(ctx); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("while the index is locked: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if sessions, err := team.Reindex(ctx); err != nil || len(sessions) != 1 {
		t.Errorf("%v, %v", ids(sessions), err)
	}
}
