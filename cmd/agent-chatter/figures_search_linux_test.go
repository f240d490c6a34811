package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// rareWord is in one message of all. Its capital makes agent-chatter mind the
// case, as the programs beside it do.
const rareWord = "Xylophone"

// search measures how long it takes to find a rare word in many journals, and
// in their archives.
func (f *figures) search(t *testing.T) {
	home := f.home(t)
	const journals = 10
	var paths []string
	var bytes int64
	for n := range journals {
		path := writtenSession(t, home, f.searched/journals, n)
		paths, bytes = append(paths, path), bytes+fileSize(t, path)
	}
	say(t, paths[journals/2], "Is there a "+rareWord+" in the kitchen?")
	fmt.Printf("\nOne message in %s MB of journals, %d of them.\n", mb(bytes), journals)
	search := contestant{name: "sessions search", home: home, args: []string{f.program, "sessions", "search", rareWord}, says: rareWord}
	f.searchLive(t, search, paths)
	f.do(t, home, nil, "compact", "--keep", "0", "--archive-after", "0d")
	f.searchArchived(t, search, home)
}

func (f *figures) searchLive(t *testing.T, search contestant, paths []string) {
	folded := search
	folded.name, folded.args = "sessions search, in any case", []string{f.program, "sessions", "search", "xylophone"}
	results := f.race(t, present([]contestant{
		search, folded,
		f.tool("rg -F", paths, "rg", "-F", rareWord),
		f.tool("rg -F -i", paths, "rg", "-F", "-i", rareWord),
		f.tool("grep -F", paths, "grep", "-F", rareWord),
		{name: "every line decoded", args: append([]string{f.beside, "search", rareWord}, paths...), says: rareWord},
	})...)
	printCosts(results)
	f.isAtLeast("search, as fast as every line decoded", times(results, "every line decoded", results[0]), 10, "×")
	if rg := times(results, "rg -F", results[0]); rg > 0 {
		f.is("search, wall time of rg -F", 1/rg, 5, "×")
	}
}

func (f *figures) searchArchived(t *testing.T, search contestant, home string) {
	archives, err := filepath.Glob(filepath.Join(home, "sessions", "*", "archive", "*.zst"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("archives: %q, %v", archives, err)
	}
	search.name += " in archives"
	decompress := f.tool("zstd -dc", archives, "zstd", "-dc")
	decompress.says, decompress.silent = "", true
	results := f.race(t, present([]contestant{search, decompress, f.tool("rg -z -F", archives, "rg", "-z", "-F", rareWord)})...)
	printCosts(results)
}

// tool is a program of the system, run on some files. It has no arguments when
// there is none of that name.
func (f *figures) tool(name string, paths []string, program string, args ...string) contestant {
	c := contestant{name: name, says: rareWord}
	if path, err := exec.LookPath(program); err == nil {
		c.args = slices.Concat([]string{path}, args, paths)
	}
	return c
}

// present are the contestants that this machine has.
func present(contestants []contestant) (in []contestant) {
	for _, c := range contestants {
		if c.args == nil {
			fmt.Printf("\nThere is no `%s` on this machine to compare with.\n", c.name)
			continue
		}
		in = append(in, c)
	}
	return in
}

// times is how many times as long as a contestant the one of that name takes; 0
// when there is none.
func times(results []costs, name string, as costs) float64 {
	for _, r := range results {
		if r.name == name {
			return r.wall().Seconds() / as.wall().Seconds()
		}
	}
	return 0
}
