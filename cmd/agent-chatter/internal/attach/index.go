package attach

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	maxIndexed  = 50_000           // files
	maxListed   = 16 << 20         // bytes of what git lists
	maxDepth    = 12               // directories, outside of a repository
	listTime    = 10 * time.Second // for git, or for the tree
	indexAge    = 5 * time.Second  // after which an index is made again
	maxMatches  = 50
	maxWordSize = 200 // bytes of a word that is completed
)

// An Index has the files below a directory, for completion: those that git lists, or else those of the tree. It is made
// in the background. Its methods may be called concurrently.
type Index struct {
	dir  string
	skip string // what the paths of files that are left out begin with; "": no file is
	done func()

	mu      sync.Mutex
	files   []string // relative paths
	made    time.Time
	running bool
}

// NewIndex returns the index of a directory, without the files of the program's home. It reads nothing. done is called
// on a goroutine of its own when the index has been made for the first time.
func NewIndex(dir, home string, done func()) *Index {
	x := &Index{dir: dir, done: done}
	if below, err := filepath.Rel(dir, home); err == nil && filepath.IsLocal(below) {
		x.skip = filepath.ToSlash(below) + "/"
	}
	return x
}

// Match returns the paths whose letters contain those of a word in their order, the best first. It does not block: the
// index is made, or made again, in the background, and has what was there when that ended last.
func (x *Index) Match(word string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.running && time.Since(x.made) > indexAge {
		x.running = true
		go x.make()
	}
	return bestMatches(x.files, word)
}

// make makes the index.
func (x *Index) make() {
	ctx, cancel := context.WithTimeout(context.Background(), listTime)
	defer cancel()
	files, ok := listByGit(ctx, x.dir)
	if !ok {
		files = listTree(ctx, x.dir)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return x.skip != "" && strings.HasPrefix(name, x.skip) })
	x.mu.Lock()
	first := x.made.IsZero()
	x.files, x.made, x.running = files, time.Now(), false
	x.mu.Unlock()
	if first {
		x.done()
	}
}

// listByGit returns the files that git tracks or would track. No program that the configuration of a repository names
// is run. ok is false outside of a repository, and without git.
func listByGit(ctx context.Context, dir string) (files []string, ok bool) {
	git := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit",
		"ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = dir
	git.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	git.WaitDelay = time.Second
	out := limitedBuffer{limit: maxListed}
	git.Stdout = &out
	if git.Run() != nil && !out.full {
		return nil, false
	}
	for name := range strings.SplitSeq(out.String(), "\x00") {
		if files = appendFile(files, name); len(files) == maxIndexed {
			break
		}
	}
	return files, true
}

// A limitedBuffer keeps the beginning of what is written to it.
type limitedBuffer struct {
	bytes.Buffer
	limit int
	full  bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	kept := min(len(p), b.limit-b.Len())
	b.full = b.full || kept < len(p)
	b.Buffer.Write(p[:kept])
	return len(p), nil
}

// appendFile appends a path that can be typed.
func appendFile(files []string, name string) []string {
	if name == "" || strings.ContainsAny(name, " \t") || tty.SafeLine(name) != name {
		return files
	}
	return append(files, name)
}

// listTree returns the files of a directory and those below it, without hidden ones. It follows no links.
func listTree(ctx context.Context, dir string) (files []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(path.Base(name), ".") && name != "."
		switch {
		case ctx.Err() != nil || len(files) >= maxIndexed:
			return fs.SkipAll
		case err != nil || entry.IsDir() && (hidden || strings.Count(name, "/") >= maxDepth):
			return fs.SkipDir
		case entry.Type().IsRegular() && !hidden:
			files = appendFile(files, name)
		}
		return nil
	})
	return files
}

// bestMatches returns the paths that match a word best.
func bestMatches(files []string, word string) []string {
	type match struct {
		name  string
		score int
	}
	var found []match
	if len(word) > maxWordSize {
		return nil
	}
	word = strings.ToLower(word)
	for _, name := range files {
		if score, ok := scoreOf(name, word); ok {
			found = append(found, match{name, score})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(b.score-a.score, len(a.name)-len(b.name), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, m := range found[:min(len(found), maxMatches)] {
		names = append(names, m.name)
	}
	return names
}

// scoreOf returns how well a path matches a word in lower case: letters that follow each other, that begin a part of
// the path, and that are in its last part count more. ok is false if it does not.
func scoreOf(name, word string) (score int, ok bool) {
	lower := strings.ToLower(name)
	base := strings.LastIndexByte(lower, '/') + 1
	if at := strings.Index(lower[base:], word); at >= 0 { // the name has it as it is
		score = 8 * len(word)
		if at == 0 {
			score += 100
		}
		return score + 100, true
	}
	at, last := 0, -2
	for i := range len(word) {
		next := strings.IndexByte(lower[at:], word[i])
		if next < 0 {
			return 0, false
		}
		next += at
		switch {
		case next == last+1:
			score += 4
		case next == 0 || strings.IndexByte("/_-.", lower[next-1]) >= 0:
			score += 3
		}
		if next >= base {
			score += 2
		}
		at, last = next+1, next
	}
	return score, true
}
