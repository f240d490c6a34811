package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// LayOut says what a worktree begins with.
type LayOut struct {
	Tree     objects.Hash    // in the store of the directory whose files the worktree gets
	Copy     []string        // patterns of ignored files that it gets, too, see CheckPattern
	Progress func(files int) // called with the number of files that were written so far; may be nil

	before func(operation string) // for tests
}

// LaidOut is a new worktree.
type LaidOut struct {
	Head    string    // the commit that is checked out; "": Git knows nothing of the worktree
	Files   int       // written from the tree
	Copied  []string  // files of LayOut.Copy, sorted
	Skipped []Skipped // paths of the tree that the worktree lacks, sorted
}

// PartError is the error of a worktree of a directory of which a capture has only a part.
type PartError struct {
	Root string
	What string // what it has not
}

func (e *PartError) Error() string {
	return fmt.Sprintf("%s is too large for a worktree: its captures lack %s", e.Root, e.What)
}

// LayOut makes the worktree: the files of the tree, as they were captured, and if the directory is a work tree of Git
// with a commit, a linked work tree on that commit, detached, with its files in the index. Then Git reports there the
// changes that are not committed. No hook, filter or other program of the repository runs, and no branch is made. Files
// of nested repositories become files without a repository.
//
// What the member changes is what differs from a capture that follows this call; that capture reads few files. It can
// lack files of the tree that Git ignores there, since the index has the files of the commit only.
//
// The error matches fs.ErrExist if the directory exists. A crash leaves no directory, and what the next call removes.
func (t Worktree) LayOut(ctx context.Context, o LayOut) (LaidOut, error) {
	l := layouter{Worktree: t, LayOut: o}
	if l.before == nil {
		l.before = func(string) {}
	}
	if err := l.prepare(ctx); err != nil {
		return LaidOut{}, err
	}
	if err := l.layOut(ctx); err != nil {
		return LaidOut{}, errors.Join(err, t.remove(context.WithoutCancel(ctx), l.part, func(string) {}))
	}
	return l.result, nil
}

// A layouter lays out one worktree.
type layouter struct {
	Worktree
	LayOut
	part   string         // the directory until it is complete
	files  []objects.File // that are stored, sorted
	result LaidOut

	counting sync.Mutex // of result.Files
}

// prepare removes what earlier calls and removals have left, and reads the tree.
func (l *layouter) prepare(ctx context.Context) error {
	if err := l.checkPath(); err != nil {
		return err
	}
	if _, err := os.Lstat(l.Dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "lay out", Path: l.Dir, Err: errors.Join(err, fs.ErrExist)}
	}
	l.part = l.beside(layingOutDir)
	for _, left := range []string{l.part, l.beside(droppedDir)} {
		if err := l.remove(ctx, left, l.before); err != nil {
			return err
		}
	}
	if err := l.readTree(); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(l.part), 0o700)
}

// readTree sorts the paths of the tree into those that are written and those that are not.
func (l *layouter) readTree() error {
	if l.From.above != nil {
		return &PartError{l.From.root, "the rest of " + l.From.above.root}
	}
	store := l.From.store
	if partial, err := store.IsPartial(l.Tree); partial || err != nil {
		if err == nil {
			err = &PartError{l.From.root, "the files that Git has"}
		}
		return err
	}
	files, err := store.Files(l.Tree)
	if err != nil {
		return err
	}
	need := uint64(0)
	for name, e := range files {
		if e.Stored() {
			l.files = append(l.files, objects.File{Path: name, Entry: e})
			need += 2 * uint64(e.Size) // in the directory and in its store
			continue
		}
		why, err := store.Read(e.Hash)
		if err != nil {
			return err
		}
		l.result.Skipped = append(l.result.Skipped, Skipped{name, string(why)})
	}
	slices.SortFunc(l.files, func(a, b objects.File) int { return strings.Compare(a.Path, b.Path) })
	limit := l.From.Limits.Free
	if free, err := freeBytes(l.From.home); err == nil && limit > 0 && free < limit+need {
		return l.From.limit("Free", int64(limit))
	}
	return nil
}

// layOut makes the directory.
func (l *layouter) layOut(ctx context.Context) (err error) {
	if l.result.Head, err = l.From.gitHead(ctx); err != nil {
		return err
	}
	l.before("make")
	if l.result.Head == "" {
		err = os.Mkdir(l.part, 0o700)
	} else {
		err = l.addToGit(ctx, l.part, l.result.Head)
	}
	if err != nil {
		return err
	}
	l.before("write")
	if err := l.write(ctx); err != nil {
		return err
	}
	l.before("copy")
	if l.result.Copied, err = copyIncluded(ctx, l.From, l.part, l.Copy); err != nil {
		return err
	}
	slices.SortFunc(l.result.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	if err := l.know(ctx); err != nil {
		return err
	}
	l.before("name")
	if l.result.Head != "" {
		if err := l.nameInGit(l.part); err != nil {
			return err
		}
	}
	// Crash here leaves the directory incomplete by its name, and an entry of Git that names what does not exist.
	l.before("rename")
	if err := os.Rename(l.part, l.Dir); err != nil {
		return err
	}
	return syncDirs(filepath.Dir(l.part), filepath.Dir(l.Dir))
}

// write writes the files of the tree.
func (l *layouter) write(ctx context.Context) error {
	var links []objects.File
	dirs := map[string][]objects.File{}
	for _, f := range l.files {
		if f.Type() == objects.ModeLink {
			links = append(links, f)
			continue
		}
		dir := path.Dir(f.Path)
		dirs[dir] = append(dirs[dir], f)
	}
	jobs := make([][]objects.File, 0, len(dirs)+1)
	for dir, files := range dirs {
		if err := os.MkdirAll(filepath.Join(l.part, filepath.FromSlash(dir)), 0o777); err != nil {
			return err
		}
		jobs = append(jobs, files)
	}
	slices.SortFunc(jobs, func(a, b []objects.File) int { return strings.Compare(a[0].Path, b[0].Path) })
	if err := l.writeAll(ctx, jobs); err != nil {
		return err
	}
	l.before("write links")
	// A link comes after all files: where the file system folds case, a file must not be written through it.
	for _, link := range links {
		dir := filepath.Join(l.part, filepath.FromSlash(path.Dir(link.Path)))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := l.writeFiles(ctx, l.From.store, []objects.File{link}); err != nil {
			return err
		}
	}
	return nil
}

// writeAll writes the files of directories, with several goroutines.
func (l *layouter) writeAll(ctx context.Context, dirs [][]objects.File) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		errs  = make([]error, 2*runtime.GOMAXPROCS(0))
	)
	for i := range errs {
		group.Go(func() {
			store := objects.Open(vfs.OS, l.From.dir) // a store is not safe for concurrent use
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= len(dirs) {
					return
				}
				errs[i] = l.writeFiles(ctx, store, dirs[n])
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// writeFiles writes files of one directory, which exists.
func (l *layouter) writeFiles(ctx context.Context, store *objects.Store, files []objects.File) error {
	d, err := openDir(l.part, path.Dir(files[0].Path), false)
	if err != nil {
		return err
	}
	defer d.close()
	for _, f := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		content, err := store.Read(f.Hash)
		if err != nil {
			return err
		}
		if err := d.create(path.Base(f.Path), f.Entry, content, false); err != nil {
			return fmt.Errorf("%q: %w", f.Path, err)
		}
		l.wrote()
	}
	return nil
}

// wrote counts a file.
func (l *layouter) wrote() {
	l.counting.Lock()
	defer l.counting.Unlock()
	if l.result.Files++; l.Progress != nil {
		l.Progress(l.result.Files)
	}
}

// know makes the files known to the next capture of the worktree, which then does not read them.
func (l *layouter) know(ctx context.Context) error {
	w := newWorkspace(l.From.home, l.Dir)
	release, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := w.store.Copy(ulid.Make().String(), l.From.store, l.Tree); err != nil {
		return err
	}
	disk, err := openDisk(l.part)
	if err != nil {
		return err
	}
	defer disk.close()
	now := cache{tree: l.Tree}
	for _, f := range l.files {
		st, err := disk.lstat(f.Path)
		if err != nil {
			return err
		}
		now.files = append(now.files, cached{f.Path, st, f.Hash})
	}
	now.started = time.Now().UnixNano()
	w.writeCache(&now)
	return nil
}
