package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// archive measures the time and the size of archives, and how long it takes to
// show the end of a long one.
func (f *figures) archive(t *testing.T) {
	home := f.home(t)
	all := f.archiveTimes(t, "a conversation with tools", home, writeSession(t, home, f.archived/10_000, 1))
	f.boundFactor("a conversation with tools", all)
	for _, quoted := range []int{20_000, 200_000, 1_000_000} {
		home := f.home(t)
		path := writeSession(t, home, 4, 1)
		appendQuotes(t, path, quoted, f.archived)
		what := fmt.Sprintf("a file of %d bytes, quoted repeatedly", quoted)
		quotes := f.archiveTimes(t, what, home, path)
		f.atLeast("archiving "+what+", factor by which it is smaller", quotes.factor(), 15, "×")
		all.add(quotes)
	}
	f.boundFactor("all four", all)
	f.replayEnd(t)
}

// archiveSizes are the total sizes of journals and of their archives, in bytes;
// zstd is 0 if there is no zstd.
type archiveSizes struct{ journals, archives, zstd int64 }

func (s *archiveSizes) add(other archiveSizes) {
	s.journals += other.journals
	s.archives += other.archives
	s.zstd += other.zstd
}

func (s archiveSizes) factor() float64     { return float64(s.journals) / float64(s.archives) }
func (s archiveSizes) zstdFactor() float64 { return float64(s.journals) / float64(s.zstd) }

// boundFactor records the compression relative to zstd -3, if there is one.
func (f *figures) boundFactor(what string, s archiveSizes) {
	if s.zstd > 0 {
		f.atLeast("archiving "+what+", compression relative to zstd -3", s.factor()/s.zstdFactor(), 1, "×")
	}
}

// archiveTimes archives a journal repeatedly, next to zstd -3, and returns the
// sizes. Before each run the index is up to date, as after a chat.
func (f *figures) archiveTimes(t *testing.T, what, home, path string) (sizes archiveSizes) {
	t.Helper()
	kept := filepath.Join(f.dir, "kept.jsonl")
	if err := os.Rename(path, kept); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(kept)
	archive := func(home string) string {
		return filepath.Join(sessionDir(home), "archive", filepath.Base(path)+".zst")
	}
	restore := func(t *testing.T, v version) {
		os.Remove(archive(v.home))
		if err := os.Link(kept, filepath.Join(sessionDir(v.home), filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
		v.do(t, nil, "sessions")
	}
	packed := filepath.Join(f.dir, "kept.zst")
	defer os.Remove(packed)
	compact := contestant{
		name: "compact", home: home, prepare: restore, prints: "archived",
		args: []string{f.program, "compact", "--keep", "0", "--archive-after", "0d"},
	}
	results := f.race(t, append([]contestant{compact}, f.onOneCore(compact, kept, packed)...)...)
	sizes.journals, sizes.archives = fileSize(t, kept), fileSize(t, archive(home))
	fmt.Printf("\nOf %s MB, %s: %.1f times smaller. %.0f MB/s, read back and compared.\n",
		mb(sizes.journals), what, sizes.factor(), float64(sizes.journals)/1e6/results[0].wall().Seconds())
	if len(results) > 1 {
		sizes.zstd = fileSize(t, packed)
		fmt.Printf("By zstd -3: %.1f times.\n", sizes.zstdFactor())
		f.boundArchiveTime(what, results)
	}
	printCosts(results)
	return sizes
}

// boundArchiveTime records the time relative to zstd -3, which alone reads
// nothing back.
func (f *figures) boundArchiveTime(what string, results []costs) {
	compact, onOneCore, alone, compared := results[0], results[1], results[2], results[3]
	relative := func(a, b costs) float64 { return a.wall().Seconds() / b.wall().Seconds() }
	f.atMost("archiving "+what+", time relative to zstd -3 on one core", relative(compact, alone), 1, "×")
	f.atMost("the same on one core, relative to zstd -3, read back and compared", relative(onOneCore, compared), 1, "×")
}

// onOneCore returns what archiving is compared with: the same on one core, and
// zstd on one core, alone and with the same reading back. It is empty if taskset
// or zstd is missing.
func (f *figures) onOneCore(compact contestant, path, packed string) []contestant {
	taskset, zstd := f.tool("taskset", nil, "taskset"), f.tool("zstd -3", nil, "zstd")
	if taskset.args == nil || zstd.args == nil {
		installed([]contestant{taskset, zstd}) // prints which
		return nil
	}
	core0 := []string{taskset.args[0], "-c", "0"}
	compact.name, compact.args = "compact, on one core", slices.Concat(core0, compact.args)
	pack := "zstd -3 -q -f -o " + packed + " " + path
	compare := " && zstd -dc " + packed + " | cmp - " + path
	return []contestant{
		compact,
		{name: "zstd -3, on one core", args: slices.Concat(core0, []string{"sh", "-c", pack})},
		{name: "the same, read back and compared", args: slices.Concat(core0, []string{"sh", "-c", pack + compare})},
	}
}

// replayEnd shows the last events of an archive.
func (f *figures) replayEnd(t *testing.T) {
	v := version{f.program, f.home(t)}
	path := writeSession(t, v.home, f.searched, 1)
	size := fileSize(t, path)
	var last struct{ Seq uint64 }
	if err := json.Unmarshal(v.do(t, nil, "tail", "-n", "1", "--output", "json", idOf(path)), &last); err != nil {
		t.Fatal(err)
	}
	for _, v := range f.versions(t, v.home) {
		v.do(t, nil, "compact", "--keep", "0", "--archive-after", "0d")
		v.do(t, nil, "sessions") // reads the whole archive, once
	}
	results := f.race(t, contestant{
		name: "replay --from near the end of an archive", home: v.home, prints: "That is all.",
		args: []string{f.program, "replay", idOf(path), "--from", fmt.Sprint(last.Seq - 20)},
	})
	fmt.Printf("\nOf an archive of %s MB of events:\n", mb(size))
	printCosts(results)
	f.takesAtMost(results[0], 100*time.Millisecond)
}
