package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// archive measures how long archiving takes and how small journals get, and how
// long it takes to show the end of a long archive.
func (f *figures) archive(t *testing.T) {
	talk := f.home(t)
	all := f.archiveTimes(t, "a talk with tools", talk, writtenSession(t, talk, f.archived/10_000, 1))
	for _, quoted := range []int{20_000, 200_000, 1_000_000} {
		home := f.home(t)
		path := writtenSession(t, home, 4, 1)
		quoteOn(t, path, quoted, f.archived)
		what := fmt.Sprintf("a file of %d bytes, quoted again and again", quoted)
		quotes := f.archiveTimes(t, what, home, path)
		f.isAtLeast("archiving "+what, quotes.smaller(), 15, "times smaller")
		all.add(quotes)
	}
	f.areAsSmall("all four", all)
	f.replayEnd(t)
}

// areAsSmall notes how small archives are beside those of zstd -3, where there is
// one.
func (f *figures) areAsSmall(what string, s shrunk) {
	if s.byZstd > 0 {
		f.isAtLeast("archiving "+what+", against zstd -3", s.smaller()/s.smallerByZstd(), 1, "times smaller")
	}
}

// shrunk is how long journals are, in bytes, and their archives; byZstd is 0
// where there is no zstd.
type shrunk struct{ journals, archives, byZstd int64 }

func (s *shrunk) add(other shrunk) {
	s.journals += other.journals
	s.archives += other.archives
	s.byZstd += other.byZstd
}

func (s shrunk) smaller() float64       { return float64(s.journals) / float64(s.archives) }
func (s shrunk) smallerByZstd() float64 { return float64(s.journals) / float64(s.byZstd) }

// archiveTimes archives a journal, again and again, beside zstd -3, and returns
// how small it gets. The index knows the session each time, as it
// does when a chat has ended.
func (f *figures) archiveTimes(t *testing.T, what, home, path string) (got shrunk) {
	t.Helper()
	kept := filepath.Join(f.dir, "kept.jsonl")
	if err := os.Rename(path, kept); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(kept)
	archived := filepath.Join(filepath.Dir(path), "archive", filepath.Base(path)+".zst")
	again := func(t *testing.T) {
		os.Remove(archived)
		if err := os.Link(kept, path); err != nil {
			t.Fatal(err)
		}
		f.do(t, home, nil, "sessions")
	}
	packed := filepath.Join(f.dir, "kept.zst")
	defer os.Remove(packed)
	compact := contestant{
		name: "compact", home: home, prepare: again, says: "archived",
		args: []string{f.program, "compact", "--keep", "0", "--archive-after", "0d"},
	}
	results := f.race(t, append([]contestant{compact}, f.onOneCore(compact, kept, packed)...)...)
	got.journals, got.archives = fileSize(t, kept), fileSize(t, archived)
	fmt.Printf("\nOf %s MB, %s: %.1f times smaller. %.0f MB/s, read back and compared.\n",
		mb(got.journals), what, got.smaller(), float64(got.journals)/1e6/results[0].wall().Seconds())
	if len(results) > 1 {
		got.byZstd = fileSize(t, packed)
		fmt.Printf("By zstd -3: %.1f times.\n", got.smallerByZstd())
		f.archivesAsZstd(what, results)
	}
	f.areAsSmall(what, got)
	printCosts(results)
	return got
}

// archivesAsZstd notes how long archiving takes beside zstd -3, which alone reads
// nothing back.
func (f *figures) archivesAsZstd(what string, results []costs) {
	compact, onOneCore, alone, checked := results[0], results[1], results[2], results[3]
	against := func(a, b costs) float64 { return a.wall().Seconds() / b.wall().Seconds() }
	f.is("archiving "+what+", time against zstd -3 on one core", against(compact, alone), 1, "times")
	f.is("the same on one core, too, against zstd -3, read back and compared", against(onOneCore, checked), 1, "times")
}

// onOneCore is what archiving is compared with: the same on one core, and zstd
// there, alone and with what archiving does besides; none where that cannot be
// had.
func (f *figures) onOneCore(compact contestant, path, packed string) []contestant {
	taskset, zstd := f.tool("taskset", nil, "taskset"), f.tool("zstd -3", nil, "zstd")
	if taskset.args == nil || zstd.args == nil {
		present([]contestant{taskset, zstd}) // says which
		return nil
	}
	onCore0 := []string{taskset.args[0], "-c", "0"}
	compact.name, compact.args = "compact, on one core", slices.Concat(onCore0, compact.args)
	pack := "zstd -3 -q -f -o " + packed + " " + path
	return []contestant{
		compact,
		{name: "zstd -3, on one core", args: slices.Concat(onCore0, []string{"sh", "-c", pack})},
		{name: "the same, read back and compared", args: slices.Concat(onCore0, []string{"sh", "-c", pack + " && zstd -dc " + packed + " | cmp - " + path})},
	}
}

// replayEnd shows the last events of an archive.
func (f *figures) replayEnd(t *testing.T) {
	home := f.home(t)
	path := writtenSession(t, home, f.searched, 1)
	size := fileSize(t, path)
	seq := lastSeq(t, path)
	if err := journal.NewDir(filepath.Dir(path), journal.Options{}).Archive(idOf(path)); err != nil {
		t.Fatal(err)
	}
	f.do(t, home, nil, "sessions") // reads it whole, once
	results := f.race(t, contestant{
		name: "replay --from near the end of an archive", home: home, says: "That is all.",
		args: []string{f.program, "replay", idOf(path), "--from", fmt.Sprint(seq - 20)},
	})
	fmt.Printf("\nOf an archive of %s MB of events:\n", mb(size))
	printCosts(results)
	f.takes(results[0], 100*time.Millisecond)
}

// lastSeq is the number of the last event of a journal.
func lastSeq(t *testing.T, path string) uint64 {
	t.Helper()
	r, err := journal.NewDir(filepath.Dir(path), journal.Options{}).Reader(idOf(path), journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	end, err := r.End()
	if err != nil {
		t.Fatal(err)
	}
	return end.Seq
}
