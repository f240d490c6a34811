package figures

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// rareWord is in one message of all. Its capital makes the search case-sensitive,
// as in the programs that it is compared with.
const rareWord = "Xylophone"

const mcpSearch = "search_sessions of mcp"

// search measures how long it takes to find a rare word in many journals, and
// in their archives.
func (f *figures) search(t *testing.T) {
	home := f.home(t)
	const journals = 10
	var paths []string
	var bytes int64
	for n := range journals {
		path := writeSession(t, home, f.searched/journals, n)
		paths, bytes = append(paths, path), bytes+fileSize(t, path)
	}
	say(t, paths[journals/2], "Is there a "+rareWord+" in the kitchen?")
	fmt.Printf("\nOne message in %s MB of journals, %d of them.\n", mb(bytes), journals)
	search := contestant{
		name: "sessions search", home: home, prints: rareWord, most: 1.15,
		args: []string{f.program, "sessions", "search", rareWord},
	}
	f.shareHome(t, home)
	for _, v := range f.versions(t, home) {
		v.do(t, nil, "sessions") // updates the index, as a chat does
	}
	f.searchLive(t, search, paths)
	for _, v := range f.versions(t, home) {
		v.do(t, nil, "compact", "--keep", "0", "--archive-after", "0d")
	}
	f.searchArchived(t, search, home)
}

func (f *figures) searchLive(t *testing.T, search contestant, paths []string) {
	insensitive := search
	insensitive.name = "sessions search, case-insensitive"
	insensitive.args = []string{f.program, "sessions", "search", "xylophone"}
	results := f.race(t, installed([]contestant{
		search, insensitive,
		f.tool("rg -F", paths, "rg", "-F", rareWord),
		f.tool("rg -F -i", paths, "rg", "-F", "-i", rareWord),
		f.tool("grep -F", paths, "grep", "-F", rareWord),
		{name: "every line decoded", args: append([]string{f.peer, "search", rareWord}, paths...), prints: rareWord},
		f.client(t, "mcp", mcpSearch, search.home, rareWord, callOf(t, rareWord)),
	})...)
	printCosts(results)
	f.atLeast("search, speed relative to every line decoded", times(results, "every line decoded", results[0]), 10, "×")
	f.atMost(mcpSearch+", wall time relative to sessions search", times(results, mcpSearch, results[0]), 1.2, "×")
	if rg := times(results, "rg -F", results[0]); rg > 0 {
		f.atMost("search, wall time relative to rg -F", 1/rg, 5, "×")
	}
}

func (f *figures) searchArchived(t *testing.T, search contestant, home string) {
	archives, err := filepath.Glob(filepath.Join(sessionDir(home), "archive", "*.zst"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("archives: %q, %v", archives, err)
	}
	search.name += " in archives"
	decompress := f.tool("zstd -dc", archives, "zstd", "-dc")
	decompress.prints, decompress.silent = "", true
	ripgrep := f.tool("rg -z -F", archives, "rg", "-z", "-F", rareWord)
	printCosts(f.race(t, installed([]contestant{search, decompress, ripgrep})...))
}

// tool is a program of the system, run on some files. It has no arguments if it
// is not installed.
func (f *figures) tool(name string, paths []string, program string, args ...string) contestant {
	c := contestant{name: name, prints: rareWord}
	if path, err := exec.LookPath(program); err == nil {
		c.args = slices.Concat([]string{path}, args, paths)
	}
	return c
}

// installed returns the contestants that this machine has, and prints the others.
func installed(contestants []contestant) (in []contestant) {
	for _, c := range contestants {
		if c.args == nil {
			fmt.Printf("\n`%s` is not installed.\n", c.name)
			continue
		}
		in = append(in, c)
	}
	return in
}

// times returns the wall time of the contestant of that name relative to another
// one's; 0 if there is none.
func times(results []costs, name string, other costs) float64 {
	for _, r := range results {
		if r.name == name {
			return r.wall().Seconds() / other.wall().Seconds()
		}
	}
	return 0
}
