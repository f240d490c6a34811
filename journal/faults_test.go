package journal_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// scenarios are short histories of a journal in which every fault is tried.
var scenarios = []struct {
	name string
	run  func(*program)
}{
	{"written and resumed", func(l *program) {
		l.create()
		l.append(11, 5000)
		l.append(333)
		l.sync()
		l.append(77, 70_001-60, 3)
		l.append(0)
		l.sync()
		l.close()
		l.open()
		l.append(4097)
		l.append(20)
		l.sync()
		l.close()
	}},
	{"torn and resumed", func(l *program) {
		l.create()
		l.append(100, 200)
		l.sync()
		l.close()
		l.tear()
		l.open()
		l.append(5001)
		l.sync()
		l.append(1, 2)
		l.close()
	}},
	{"killed and resumed", func(l *program) {
		l.create()
		l.append(100)
		l.close()
		l.dieUnsynced(5000, 10)
		l.open()
		l.append(3)
		l.append(4)
		l.sync()
		l.append(1)
		l.close()
	}},
	{"archived and unarchived", func(l *program) {
		l.create()
		l.append(300, 9000)
		l.sync()
		l.append(10)
		l.close()
		l.archive()
		l.open()
		l.append(50)
		l.sync()
		l.close()
		l.archive()
	}},
	{"torn and archived", func(l *program) {
		l.create()
		l.append(300)
		l.close()
		l.tear()
		l.archive()
	}},
	{"trashed, restored, purged", func(l *program) {
		l.create()
		l.append(5000)
		l.close()
		l.trash()
		l.restore()
		l.open()
		l.append(7)
		l.close()
		l.trash()
		l.purge()
	}},
	{"archived, trashed, restored", func(l *program) {
		l.create()
		l.append(5000)
		l.close()
		l.archive()
		l.trash()
		l.restore()
	}},
	{"corrupted and repaired", func(l *program) {
		l.create()
		l.append(500)
		l.sync()
		l.append(6000)
		l.sync()
		l.append(40)
		l.sync()
		l.append(41)
		l.close()
		l.corrupt()
		l.repair()
		l.open()
		l.append(8)
		l.close()
	}},
}

// failures are the ways in which the nth operation fails.
var failures = []struct {
	name string
	fail func(d *journaltest.FS, nth int)
}{
	{"EIO once", func(d *journaltest.FS, n int) { d.Fail(n, syscall.EIO) }},
	{"EACCES for a while", func(d *journaltest.FS, n int) { d.FailFrom(n, syscall.EACCES) }},
	{"EROFS for a while", func(d *journaltest.FS, n int) { d.FailFrom(n, syscall.EROFS) }},
	{"ENOSPC once, half written", func(d *journaltest.FS, n int) {
		d.HalfWrites(true)
		d.Fail(n, syscall.ENOSPC, journaltest.Write, journaltest.Mkdir, journaltest.Open, journaltest.Rename)
	}},
	{"EDQUOT for a while, half written", func(d *journaltest.FS, n int) {
		d.HalfWrites(true)
		d.FailFrom(n, syscall.EDQUOT, journaltest.Write, journaltest.Mkdir, journaltest.Open, journaltest.Rename)
	}},
	{"sync once", func(d *journaltest.FS, n int) { d.Fail(n, syscall.EIO, journaltest.Sync, journaltest.SyncDir) }},
	{"sync for a while", func(d *journaltest.FS, n int) {
		d.FailFrom(n, syscall.EIO, journaltest.Sync, journaltest.SyncDir)
	}},
	{"reading once", func(d *journaltest.FS, n int) { d.Fail(n, syscall.EIO, journaltest.Read) }},
}

// minImages is the number of different disks that the power cuts must produce.
const minImages = 2000

// With -full, each operation fails in every way. Otherwise one operation in three fails, with the race detector one in
// nine, in one way only, and a power cut produces fewer disks.
func TestEveryFault(t *testing.T) {
	tried := &tally{images: map[[32]byte]bool{}}
	t.Run("scenarios", func(t *testing.T) {
		for _, c := range scenarios {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				t.Run("power cuts", func(t *testing.T) { cutEverywhere(t, tried, c.run) })
				for i, fault := range failures {
					if !sizetest.Full() && i > 0 {
						break
					}
					t.Run(fault.name, func(t *testing.T) { failEverywhere(t, tried, c.run, uint64(i), fault.fail) })
				}
			})
		}
	})
	t.Logf("%d operations failed, %d power cuts produced %d different disks",
		tried.faults.Load(), tried.cuts.Load(), len(tried.images))
	if !t.Failed() && !partial() && len(tried.images) < minImages {
		t.Errorf("only %d different disks, want %d", len(tried.images), minImages)
	}
}

// partial reports whether only a part of the test runs.
func partial() bool {
	return !sizetest.Full() || slices.ContainsFunc(os.Args, func(arg string) bool {
		return strings.Contains(arg, "test.run") && strings.Contains(arg, "/")
	})
}

// cutEverywhere runs a scenario without a fault, and checks before every operation
// what a power cut would leave.
func cutEverywhere(t *testing.T, tried *tally, run func(*program)) {
	l := newProgram(t, tried)
	operation, disks := uint64(0), 12
	if !sizetest.Full() {
		disks = 4
	}
	check := func() {
		operation++
		l.cut(fmt.Sprintf("power cut before operation %d", operation), disks, operation)
	}
	l.disk.Before(check)
	run(l)
	check()
}

// failEverywhere runs a scenario once for every operation that can fail, until a
// run does not reach the failure.
func failEverywhere(t *testing.T, tried *tally, run func(*program), seed uint64, fail func(*journaltest.FS, int)) {
	step := 3
	switch {
	case racetest.Enabled:
		step = 9
	case sizetest.Full():
		step = 1
	}
	for n := 1; !t.Failed(); n += step {
		failed := false
		synctest.Test(t, func(t *testing.T) {
			l := newProgram(t, tried)
			fail(l.disk, n)
			follower := l.follow()
			l.disk.Before(func() {
				if l.disk.Failed() {
					l.cut(fmt.Sprintf("power cut after failure %d", n), 1, seed<<32+uint64(n))
				}
			})
			run(l)
			failed = l.disk.Failed()
			l.endsComplete(fmt.Sprint("with failure ", n), follower())
			l.cut(fmt.Sprintf("power cut at the end, with failure %d", n), 2, seed)
			if t.Failed() {
				t.Logf("with failure %d:\n%s", n, l.disk)
			}
		})
		if !failed {
			return
		}
		tried.faults.Add(1)
	}
}

// settle lets a follower deliver all events. The time is that of the synctest
// bubble.
func settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}
