//go:build !windows

package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// handles is a file system that counts its open files.
type handles struct {
	vfs.FS
	open *atomic.Int64
}

func (h handles) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	h.open.Add(1)
	return &handle{File: f, open: h.open}, nil
}

type handle struct {
	vfs.File
	open *atomic.Int64
}

func (h *handle) Close() error {
	err := h.File.Close()
	if err == nil {
		h.open.Add(-1)
	}
	return err
}

// caller calls the package on a disk of which one operation fails.
type caller struct {
	*testing.T
	disk *journaltest.FS
	dir  *journal.Dir
	log  *journal.Log // closed after the call; nil: none
}

func newCaller(t *testing.T) (c *caller, open *atomic.Int64) {
	mem := journaltest.NewMem()
	must(t, mem.Mkdir("/home", 0o700))
	c, open = &caller{T: t, disk: journaltest.New(mem)}, new(atomic.Int64)
	c.dir = memDir(handles{c.disk, open})
	return c, open
}

// write appends batches to a journal, which it creates, and syncs each.
func (c *caller) write(batches ...[]journal.Record) {
	l, err := c.dir.Create(programID)
	must(c, err)
	for _, b := range batches {
		mustAppend(c, l, b...)
		must(c, l.Sync())
	}
	must(c, l.Close())
}

// written is a journal of 9 events, in two frames when it is archived.
func (c *caller) written() { c.write(batch(1, 4, 500), batch(5, 7, 500), batch(8, 9, 500)) }

// long is a journal that a search halves.
func (c *caller) long() { c.write(batch(1, 12, 8000)) }

func (c *caller) archived() {
	c.written()
	must(c, c.dir.Archive(c.Context(), programID))
}

func (c *caller) torn() {
	c.written()
	c.change(func(text []byte) []byte { return append(text, "half"...) })
}

// longLine is a journal with a torn tail: an invalid line that is longer than the limit.
func (c *caller) longLine() {
	c.written()
	c.change(func(text []byte) []byte { return append(text, strings.Repeat("x", 20<<10)+"\n"...) })
	c.dir = journal.NewDir(programDir, journal.Options{FS: c.disk, Now: atNoon, MaxLine: journal.MinMaxLine})
}

// trashed is a journal in the trash, with a file set aside.
func (c *caller) trashed() {
	c.torn()
	must(c, c.append())
	must(c, trash.Of(c.dir).Move(c.Context(), programID))
}

// change changes the file of the journal.
func (c *caller) change(to func(text []byte) []byte) {
	name := programDir + "/" + programID + ".jsonl"
	text, err := vfs.ReadFile(c.disk, name, 1<<20)
	must(c, err)
	must(c, vfs.WriteFile(c.disk, name, to(text)))
}

// poisoned is a Log of which an operation has failed.
func (c *caller) poisoned(kind journaltest.Kind) {
	c.written()
	c.log = mustOpen(c, c.dir, programID)
	mustAppend(c, c.log, counted(10, 0))
	c.disk.HalfWrites(true)
	c.disk.Fail(1, syscall.ENOSPC, kind)
	_, err := c.log.Append(counted(11, 0))
	if err := errors.Join(err, c.log.Sync()); !errors.Is(err, journal.ErrPoisoned) {
		c.Fatal(err)
	}
}

// append opens the journal and appends one event.
func (c *caller) append() (err error) {
	if c.log, err = c.dir.Open(c.Context(), programID); err != nil {
		return err
	}
	if _, err = c.log.Append(counted(0, 0)); err != nil {
		return err
	}
	return c.log.Close()
}

// reading calls a method of a Reader.
func reading(call func(r *journal.Reader) error) func(*caller) error {
	return func(c *caller) error {
		r, err := c.dir.Reader(programID, journal.Position{})
		if err != nil {
			return err
		}
		defer r.Close()
		return call(r)
	}
}

// reportedCalls are calls of the package, and how many failed operations of which kind
// they ignore: of locks and their holders, which not every disk has; of leftovers; of
// checks that another operation repeats; of a search, which then reads all lines.
var reportedCalls = []struct {
	name    string
	prepare func(*caller)
	call    func(*caller) error
	ignored string
	instead error // perhaps returned instead
}{
	{"Append to a new journal", func(*caller) {}, func(c *caller) (err error) {
		if c.log, err = c.dir.Create(programID); err != nil {
			return err
		}
		if _, err = c.log.Append(counted(0, 0)); err != nil {
			return err
		}
		return c.log.Close()
	},
		"1 lock ID.jsonl; 1 open ID.jsonl; 1 read /; 2 read /home; 3 read /home/journals; " +
			"4 read ID.jsonl; 1 read ID.lock; 1 read archive/ID.jsonl.zst", nil},
	{"Append to a journal", (*caller).written, (*caller).append,
		"1 lock ID.jsonl; 1 lock ID.lock; 1 open ID.jsonl; 1 open ID.lock; 1 read /; 1 read /home; " +
			"1 read /home/journals; 7 read ID.jsonl; 3 read ID.lock; 1 remove ID.jsonl.tmp; " +
			"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Append to a torn journal", (*caller).torn, (*caller).append,
		"1 lock ID.jsonl; 1 lock ID.lock; 1 open ID.jsonl; 1 open ID.lock; 1 read /; 1 read /home; " +
			"2 read /home/journals; 7 read ID.jsonl; 3 read ID.lock; 1 remove ID.jsonl.tmp; " +
			"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Append to an archive", (*caller).archived, (*caller).append,
		"1 lock ID.jsonl.tmp; 1 lock ID.lock; 1 lock archive/ID.jsonl.zst; 1 open ID.jsonl; " +
			"1 open ID.lock; 1 read /; 1 read /home; 1 read /home/journals; 4 read ID.jsonl; " +
			"3 read ID.jsonl.tmp; 3 read ID.lock; 3 read archive/ID.jsonl.zst; 1 remove ID.jsonl.tmp; " +
			"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Append after a failed sync", func(c *caller) {
		c.written()
		c.log = mustOpen(c, c.dir, programID)
		c.disk.Fail(1, syscall.ENOSPC, journaltest.Sync)
		if _, err := c.log.Append(counted(10, 0)); !errors.Is(err, syscall.ENOSPC) {
			c.Fatal(err)
		}
	}, func(c *caller) error {
		if _, err := c.log.Append(counted(10, 0)); err != nil {
			return err
		}
		return c.log.Close()
	}, "1 lock ID.jsonl.tmp; 3 read ID.jsonl; 3 read ID.jsonl.tmp; 1 remove ID.jsonl.tmp; " +
		"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Append next to a trash", func(c *caller) {
		c.trashed()
		must(c, trash.Of(c.dir).Restore(c.Context(), programID))
	}, (*caller).append,
		"1 lock ID.jsonl; 1 lock ID.lock; 1 open ID.jsonl; 1 open ID.lock; 1 read /; 1 read /home; " +
			"1 read /home/journals; 7 read ID.jsonl; 3 read ID.lock; 1 remove ID.jsonl.tmp; " +
			"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Recover from a failed write", func(c *caller) { c.poisoned(journaltest.Write) }, (*caller).recover,
		"3 read ID.jsonl", journal.ErrLocked},
	{"Recover from a failed sync", func(c *caller) { c.poisoned(journaltest.Sync) }, (*caller).recover,
		"1 lock ID.jsonl.tmp; 2 read ID.jsonl", nil},
	{"Recover in another file", func(c *caller) {
		c.poisoned(journaltest.Write)
		c.change(func(text []byte) []byte { return append(text, "half"...) })
	}, (*caller).recover,
		"1 lock ID.jsonl; 1 read /home/journals; 4 read ID.jsonl; 1 read ID.lock", nil},
	{"Read a Log", func(c *caller) {
		c.written()
		c.log = mustOpen(c, c.dir, programID)
		mustAppend(c, c.log, counted(10, 0))
	}, (*caller).readLog, "", nil},
	{"Read a Log after a failed sync", func(c *caller) {
		c.written()
		c.log = mustOpen(c, c.dir, programID)
		c.disk.Fail(1, syscall.ENOSPC, journaltest.Sync)
		if _, err := c.log.Append(counted(10, 0)); !errors.Is(err, syscall.ENOSPC) {
			c.Fatal(err)
		}
	}, (*caller).readLog, "", nil},
	{"Seal a torn journal", (*caller).torn, func(c *caller) (err error) {
		if c.log, err = c.dir.Open(c.Context(), programID); err != nil {
			return err
		}
		if _, err = c.log.Seal(); err != nil {
			return err
		}
		return c.log.Close()
	},
		"1 lock ID.jsonl; 1 lock ID.lock; 1 open ID.jsonl; 1 open ID.lock; 1 read /; 1 read /home; " +
			"2 read /home/journals; 7 read ID.jsonl; 3 read ID.lock; 1 remove ID.jsonl.tmp; " +
			"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Seal", (*caller).written, func(c *caller) error {
		_, err := c.dir.Seal(c.Context(), programID)
		return err
	},
		"1 lock ID.jsonl; 1 lock ID.lock; 1 open ID.jsonl; 1 open ID.lock; 1 read /; 1 read /home; " +
			"1 read /home/journals; 10 read ID.jsonl; 3 read ID.lock; 1 remove ID.jsonl.tmp; " +
			"1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Archive", (*caller).torn, func(c *caller) error { return c.dir.WithFrames(1<<20).Archive(c.Context(), programID) },
		"1 lock ID.jsonl; 1 open ID.jsonl; 1 read /; 1 read /home; 3 read /home/journals; " +
			"7 read ID.jsonl; 1 read ID.lock; 1 remove ID.jsonl.tmp; 1 remove archive/ID.jsonl.zst.tmp", nil},
	{"Trash", (*caller).torn, func(c *caller) error { return trash.Of(c.dir).Move(c.Context(), programID) },
		"1 lock ID.jsonl; 1 open ID.jsonl; 1 read /home/journals; 2 read ID.jsonl; 1 read ID.lock; " +
			"1 read trash", nil},
	{"Trash an archive after a journal", func(c *caller) {
		c.trashed()
		c.archived()
		must(c, vfs.WriteFile(c.disk, programDir+"/"+programID+".aside-1", []byte("half")))
	}, func(c *caller) error { return trash.Of(c.dir).Move(c.Context(), programID) },
		"1 lock archive/ID.jsonl.zst; 1 open ID.jsonl; 1 read /home/journals; 1 read ID.jsonl; " +
			"1 read ID.lock; 3 read archive/ID.jsonl.zst; 1 read trash", nil},
	{"Restore", (*caller).trashed, func(c *caller) error { return trash.Of(c.dir).Restore(c.Context(), programID) },
		"1 open ID.jsonl; 2 read /home/journals; 1 read ID.jsonl; 1 read ID.lock; " +
			"1 read archive/ID.jsonl.zst", nil},
	{"Purge", (*caller).trashed, func(c *caller) error { return trash.Of(c.dir).Purge(programID) },
		"8 read ID.jsonl; 8 read archive/ID.jsonl.zst", nil},
	{"ListTrash", (*caller).trashed, func(c *caller) error { return second(trash.Of(c.dir).List()) },
		"3 read trash/ID.trashed", nil},
	{"RecordTrashTime", (*caller).trashed, func(c *caller) error { return trash.Of(c.dir).RecordTime(programID) },
		"1 read trash", nil},
	{"Repair", func(c *caller) {
		c.written()
		c.change(func(text []byte) []byte { return bytes.Replace(text, []byte(`{"n":3,`), []byte(`{"n":4,`), 1) })
	}, (*caller).repair,
		"1 lock ID.jsonl; 1 lock ID.jsonl.tmp; 1 open ID.jsonl; 1 read /home/journals; 3 read ID.jsonl; " +
			"1 read ID.lock", nil},
	{"Repair a valid journal", (*caller).written, (*caller).repair,
		"1 lock ID.jsonl; 1 open ID.jsonl; 2 read ID.jsonl; 1 read ID.lock", nil},
	{"Repair a journal with a long line", func(c *caller) {
		c.longLine()
		c.change(func(text []byte) []byte { return bytes.Replace(text, []byte(`{"n":3,`), []byte(`{"n":4,`), 1) })
	}, (*caller).repair,
		"1 lock ID.jsonl; 1 lock ID.jsonl.tmp; 1 open ID.jsonl; 1 read /home/journals; 3 read ID.jsonl; " +
			"1 read ID.lock", nil},
	{"List", (*caller).archived, (*caller).list, "", nil},
	{"List a lock", func(c *caller) {
		must(c, c.disk.Mkdir(programDir, 0o700))
		must(c, vfs.WriteFile(c.disk, programDir+"/"+programID+".lock", nil))
	}, (*caller).list, "", nil},
	{"Stat", (*caller).archived, func(c *caller) error { return second(c.dir.Stat(programID)) }, "", nil},
	{"Check", (*caller).written, func(c *caller) error { return c.dir.Check(programID) }, "", nil},
	{"Check a torn journal", (*caller).torn, func(c *caller) error { return c.dir.Check(programID) }, "", nil},
	{"Check an archive", (*caller).archived, func(c *caller) error { return c.dir.Check(programID) }, "", nil},
	{"Scan", (*caller).torn, reading(func(r *journal.Reader) error {
		for _, err := range r.Scan() {
			if err != nil {
				return err
			}
		}
		return nil
	}), "", nil},
	{"CheckChain with a long line", (*caller).longLine, reading(checkChain), "", nil},
	{"CheckChain of an archive without a table", func(c *caller) {
		c.written()
		text, err := vfs.ReadFile(c.disk, programDir+"/"+programID+".jsonl", 1<<20)
		must(c, err)
		must(c, c.dir.Archive(c.Context(), programID))
		name := programDir + "/archive/" + programID + ".jsonl.zst"
		enc, err := zstd.NewWriter(nil)
		must(c, err)
		defer enc.Close()
		must(c, vfs.WriteFile(c.disk, name, enc.EncodeAll(text, nil)))
	}, reading(checkChain), "", nil},
	{"Before", (*caller).written, reading(before), "", nil},
	{"Before in an archive", (*caller).archived, reading(before), "", nil},
	{"Find", (*caller).long, reading(func(r *journal.Reader) error { return second(r.Find(11)) }),
		"1 read ID.jsonl", nil},
	{"Find in an archive", func(c *caller) {
		c.long()
		must(c, c.dir.WithFrames(40_000).Archive(c.Context(), programID))
	}, reading(func(r *journal.Reader) error { return second(r.Find(11)) }),
		"7 read archive/ID.jsonl.zst", nil},
	{"Grep", (*caller).archived, reading(func(r *journal.Reader) error {
		for _, err := range r.Grep(func(lines []byte) int { return bytes.Index(lines, []byte(`{"n":8,`)) }) {
			return err
		}
		return errors.New("nothing was found")
	}), "", nil},
	{"CheckChain", (*caller).written, reading(checkChain), "", nil},
	{"CheckFile", (*caller).archived, reading(func(r *journal.Reader) error { return r.CheckFile(context.Background()) }), "", nil},
	{"Follow", (*caller).torn, (*caller).follow,
		"3 read ID.jsonl", nil},
	{"Follow a journal with an invalid last line", func(c *caller) {
		c.written()
		c.change(func(text []byte) []byte { return append(text, "half\n"...) })
	}, (*caller).follow, "3 read ID.jsonl", nil},
	{"Follow an archive", (*caller).archived, (*caller).follow, "", nil},
}

func (c *caller) recover() error {
	if _, err := c.log.Recover(c.Context()); err != nil {
		return err
	}
	return c.log.Close()
}

func (c *caller) list() error {
	infos, err := c.dir.List(c.Context())
	for _, info := range infos {
		err = errors.Join(err, info.Err)
	}
	return err
}

func (c *caller) repair() error { return second(c.dir.Repair(c.Context(), programID, nil, false)) }

func (c *caller) follow() error {
	s := c.dir.NewStepper(programID, journal.Position{})
	defer s.Close()
	if _, err := s.Step(3); err != nil {
		return err
	}
	return second(s.Step(100))
}

func (c *caller) readLog() error {
	r, err := c.log.Reader(journal.Position{})
	if err != nil {
		return err
	}
	return errors.Join(checkChain(r), r.Close())
}

func checkChain(r *journal.Reader) error { return r.CheckChain(context.Background()) }

func before(r *journal.Reader) error {
	end, err := r.End()
	if err != nil {
		return err
	}
	for _, err := range r.Before(end) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestEveryFailedOperationIsReported(t *testing.T) {
	racetest.SkipSequential(t)
	for _, tt := range reportedCalls {
		t.Run(tt.name, func(t *testing.T) {
			ignored := map[string]int{}
			for n, operation := 1, "none yet"; operation != "" && !t.Failed(); n++ {
				c, open := newCaller(t)
				tt.prepare(c)
				c.disk.Fail(n, syscall.EIO, allKinds...)
				err := tt.call(c)
				c.disk.Heal()
				operation = failedOperation(c.disk)
				switch {
				case err == nil:
					ignored[operation]++
				case !errors.Is(err, syscall.EIO) && !errors.Is(err, tt.instead):
					t.Errorf("%s: %v", operation, err)
				}
				if c.log != nil {
					c.log.Close()
				}
				if open.Load() != 0 {
					t.Errorf("%s: %d files are open", operation, open.Load())
				}
			}
			delete(ignored, "")
			var got []string
			for _, operation := range slices.Sorted(maps.Keys(ignored)) {
				got = append(got, fmt.Sprintf("%d %s", ignored[operation], operation))
			}
			if diff := cmp.Diff(tt.ignored, strings.Join(got, "; ")); diff != "" {
				t.Errorf("failures without an error (-want +got):\n%s", diff)
			}
		})
	}
}

var allKinds = []journaltest.Kind{
	journaltest.Open, journaltest.Mkdir, journaltest.Write, journaltest.Sync, journaltest.Truncate,
	journaltest.Rename, journaltest.Remove, journaltest.SyncDir, journaltest.Lock, journaltest.Read,
}

// failedOperation describes the operation that failed.
func failedOperation(disk *journaltest.FS) string {
	for line := range strings.Lines(disk.String()) {
		if operation, _, ok := strings.Cut(line, ": "); ok && strings.Contains(line, syscall.EIO.Error()) {
			_, operation, _ = strings.Cut(operation, " ")
			return strings.NewReplacer(programDir+"/", "", programID, "ID").Replace(operation)
		}
	}
	return ""
}
