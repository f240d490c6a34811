package journaltest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Kind is a kind of operation of a file system.
type Kind string

// The kinds of operations. All but Read change something; they are the default
// where no kind is given.
const (
	Open     Kind = "open" // OpenFile for writing
	Mkdir    Kind = "mkdir"
	Write    Kind = "write"
	Sync     Kind = "sync"
	Truncate Kind = "truncate"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	SyncDir  Kind = "syncdir"
	Lock     Kind = "lock"
	Read     Kind = "read" // OpenFile for reading, Read, ReadAt, ReadDir, StatFiles and both kinds of Stat
)

// FS is a vfs.FS that wraps another one and fails on request. It may be used by
// several goroutines.
type FS struct {
	inner vfs.FS

	mu      sync.Mutex
	done    []operation
	planned plan
	half    bool
	failed  bool
	before  func()
}

// operation is an operation that was requested.
type operation struct {
	kind Kind
	what string
	err  error // of a planned failure; nil: the operation was not made to fail
}

// plan is the next failure.
type plan struct {
	left    int // operations up to and including the one that fails; 0: none fails
	forever bool
	err     error
	kinds   []Kind
}

// New wraps a file system. Nothing fails yet.
func New(inner vfs.FS) *FS { return &FS{inner: inner} }

// Fail makes one operation fail: the nth from now (1 is the next one) of the given
// kinds, or of all that change something. A failed operation has no effect, except
// with HalfWrites. Its error wraps err. Fail replaces an earlier plan.
func (f *FS) Fail(nth int, err error, kinds ...Kind) { f.plan(plan{nth, false, err, kinds}) }

// FailFrom is Fail for the nth operation and all following ones of these kinds,
// until Heal.
func (f *FS) FailFrom(nth int, err error, kinds ...Kind) { f.plan(plan{nth, true, err, kinds}) }

// Heal ends all planned failures.
func (f *FS) Heal() { f.plan(plan{}) }

func (f *FS) plan(p plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = p
}

// HalfWrites makes a failed Write write the first half of its bytes, as on a disk
// that becomes full.
func (f *FS) HalfWrites(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.half = on
}

// Before makes the FS call hook before every operation that changes something,
// whether it will fail or not.
func (f *FS) Before(hook func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = hook
}

// Failed reports whether an operation was made to fail.
func (f *FS) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// Count returns the number of operations of the given kinds, or of all that change
// something, including failed ones.
func (f *FS) Count(kinds ...Kind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, op := range f.done {
		if meant(op.kind, kinds) {
			n++
		}
	}
	return n
}

// String lists the operations that changed something or failed, one per line.
func (f *FS) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for i, op := range f.done {
		switch {
		case op.err != nil:
			fmt.Fprintf(&b, "%d %s %s: %v\n", i+1, op.kind, op.what, op.err)
		case op.kind != Read:
			fmt.Fprintf(&b, "%d %s %s\n", i+1, op.kind, op.what)
		}
	}
	return b.String()
}

func meant(k Kind, kinds []Kind) bool {
	if len(kinds) == 0 {
		return k != Read
	}
	return slices.Contains(kinds, k)
}

// begin records an operation and returns the error of a planned failure.
func (f *FS) begin(k Kind, name, detail string) error {
	f.mu.Lock()
	hook := f.before
	f.mu.Unlock()
	if hook != nil && k != Read {
		hook()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	op := operation{kind: k, what: name + detail}
	if f.due(k) {
		f.failed = true
		op.err = &fs.PathError{Op: string(k), Path: name, Err: f.planned.err}
	}
	f.done = append(f.done, op)
	return op.err
}

func (f *FS) due(k Kind) bool {
	p := &f.planned
	if p.left == 0 || !meant(k, p.kinds) {
		return false
	}
	if p.left > 1 {
		p.left--
		return false
	}
	if !p.forever {
		p.left = 0
	}
	return true
}

// OpenFile is an Open if the file is writable, else a Read.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	kind := Read
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		kind = Open
	}
	if err := f.begin(kind, name, ""); err != nil {
		return nil, err
	}
	inner, err := f.inner.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{File: inner, fs: f, name: name}, nil
}

// Mkdir is a Mkdir.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	if err := f.begin(Mkdir, name, ""); err != nil {
		return err
	}
	return f.inner.Mkdir(name, perm)
}

// ReadDir is a Read.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.begin(Read, name, ""); err != nil {
		return nil, err
	}
	return f.inner.ReadDir(name)
}

// StatFiles is a Read.
func (f *FS) StatFiles(ctx context.Context, dir string, match func(string) bool) ([]vfs.FileStat, error) {
	if err := f.begin(Read, dir, ""); err != nil {
		return nil, err
	}
	return f.inner.StatFiles(ctx, dir, match)
}

// Stat is a Read.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.begin(Read, name, ""); err != nil {
		return nil, err
	}
	return f.inner.Stat(name)
}

// SameFile never fails.
func (f *FS) SameFile(a, b fs.FileInfo) bool { return f.inner.SameFile(a, b) }

// Rename is a Rename.
func (f *FS) Rename(oldname, newname string) error {
	if err := f.begin(Rename, oldname, " to "+newname); err != nil {
		return err
	}
	return f.inner.Rename(oldname, newname)
}

// Remove is a Remove.
func (f *FS) Remove(name string) error {
	if err := f.begin(Remove, name, ""); err != nil {
		return err
	}
	return f.inner.Remove(name)
}

// SyncDir is a SyncDir.
func (f *FS) SyncDir(name string) error {
	if err := f.begin(SyncDir, name, ""); err != nil {
		return err
	}
	return f.inner.SyncDir(name)
}

// file is an open file of an FS.
type file struct {
	vfs.File
	fs   *FS
	name string
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.fs.begin(Read, f.name, ""); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.begin(Read, f.name, ""); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.fs.begin(Read, f.name, ""); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *file) Write(p []byte) (int, error) {
	err := f.fs.begin(Write, f.name, fmt.Sprintf(", %d bytes", len(p)))
	if err == nil {
		return f.File.Write(p)
	}
	f.fs.mu.Lock()
	half := f.fs.half
	f.fs.mu.Unlock()
	if !half {
		return 0, err
	}
	n, _ := f.File.Write(p[:len(p)/2])
	return n, err
}

// Sync, when it fails, drops the unsynced pages of a Mem.
func (f *file) Sync() error {
	err := f.fs.begin(Sync, f.name, "")
	if err == nil {
		err = f.File.Sync()
	} else if mem, ok := f.File.(*memFile); ok {
		mem.failSync()
	}
	return err
}

func (f *file) Truncate(size int64) error {
	if err := f.fs.begin(Truncate, f.name, fmt.Sprintf(" to %d bytes", size)); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Lock is a Lock. Unlocking never fails.
func (f *file) Lock() error {
	if err := f.fs.begin(Lock, f.name, ""); err != nil {
		return err
	}
	return f.File.Lock()
}
