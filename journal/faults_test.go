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
)

// lives are the short lives of a journal in which every fault is tried.
var lives = []struct {
	name string
	live func(*life)
}{
	{"written and written on", func(l *life) {
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
	{"torn and written on", func(l *life) {
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
	{"killed and written on", func(l *life) {
		l.create()
		l.append(100)
		l.close()
		l.diesUnsynced(5000, 10)
		l.open()
		l.append(3)
		l.append(4)
		l.sync()
		l.append(1)
		l.close()
	}},
	{"archived and brought back", func(l *life) {
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
	{"torn and archived", func(l *life) {
		l.create()
		l.append(300)
		l.close()
		l.tear()
		l.archive()
	}},
	{"trashed, restored, trashed for good", func(l *life) {
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
	{"archived, trashed, restored", func(l *life) {
		l.create()
		l.append(5000)
		l.close()
		l.archive()
		l.trash()
		l.restore()
	}},
	{"damaged and repaired", func(l *life) {
		l.create()
		l.append(500)
		l.sync()
		l.append(6000)
		l.sync()
		l.append(40)
		l.sync()
		l.append(41)
		l.close()
		l.damage()
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

// leastImages is how many different disks the power cuts must have tried.
const leastImages = 2000

// With -short, one operation in three fails, in one way only, and a power cut
// leaves fewer disks.
func TestEveryFault(t *testing.T) {
	tried := &tally{images: map[[32]byte]bool{}}
	t.Run("lives", func(t *testing.T) {
		for _, c := range lives {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				t.Run("power cuts", func(t *testing.T) { cutEverywhere(t, tried, c.live) })
				for i, fault := range failures {
					if testing.Short() && i > 0 {
						break
					}
					t.Run(fault.name, func(t *testing.T) { failEverywhere(t, tried, c.live, uint64(i), fault.fail) })
				}
			})
		}
	})
	t.Logf("%d operations failed, %d power cuts left %d different disks", tried.faults.Load(), tried.cuts.Load(), len(tried.images))
	if !t.Failed() && !filtered() && len(tried.images) < leastImages {
		t.Errorf("only %d different disks", len(tried.images))
	}
}

// filtered reports whether somebody runs a part of it only.
func filtered() bool {
	return testing.Short() || slices.ContainsFunc(os.Args, func(a string) bool { return strings.Contains(a, "test.run") && strings.Contains(a, "/") })
}

// cutEverywhere lives a life without a fault, and looks before every operation
// at what a power cut would leave.
func cutEverywhere(t *testing.T, tried *tally, live func(*life)) {
	l := newLife(t, tried)
	operation, disks := uint64(0), 12
	if testing.Short() {
		disks = 4
	}
	look := func() {
		operation++
		l.cut(fmt.Sprintf("power cut before operation %d", operation), disks, operation)
	}
	l.disk.Before(look)
	live(l)
	look()
}

// failEverywhere lives a life once for every operation that can fail, until
// one needs no failure.
func failEverywhere(t *testing.T, tried *tally, live func(*life), seed uint64, fail func(*journaltest.FS, int)) {
	step := 1
	if testing.Short() {
		step = 3
	}
	for n := 1; !t.Failed(); n += step {
		failed := false
		synctest.Test(t, func(t *testing.T) {
			l := newLife(t, tried)
			fail(l.disk, n)
			follower := l.follow()
			l.disk.Before(func() {
				if l.disk.Failed() {
					l.cut(fmt.Sprintf("power cut behind failure %d", n), 1, seed<<32+uint64(n))
				}
			})
			live(l)
			failed = l.disk.Failed()
			l.endsSound(fmt.Sprint("with failure ", n), follower())
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

// settle lets a follower find what there is to be found. Time is that of the
// bubble: nobody waits.
func settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}
