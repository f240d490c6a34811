package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// growing is a file that is written in pieces, and a follower of it.
type growing struct {
	t       *testing.T
	path    string
	content []byte
	written int
	stepper *journal.Stepper
	events  []journal.Event
	seen    int
}

func newGrowing(t *testing.T, paddings ...int) *growing {
	source, dir := newDir(t), newDir(t)
	l := mustCreate(t, source)
	for n, padding := range paddings {
		mustAppend(t, l, counted(n+1, padding))
		if n%5 == 2 {
			must(t, l.Sync())
		}
	}
	must(t, l.Close())
	g := &growing{t: t, path: filepath.Join(dir.Path(), l.ID()+".jsonl"), events: validEvents(t, source, l.ID())}
	g.content = readFile(t, l.Path())
	writeFile(t, g.path, nil)
	g.stepper = dir.NewStepper(l.ID(), journal.Position{})
	t.Cleanup(g.stepper.Close)
	return g
}

// grow writes up to an offset, and expects the lines that are complete by then.
func (g *growing) grow(to int) {
	g.t.Helper()
	to = min(to, len(g.content))
	if to <= g.written {
		return
	}
	appendFile(g.t, g.path, g.content[g.written:to])
	g.written = to
	complete := bytes.Count(g.content[:to], []byte("\n"))
	got, err := g.stepper.Step(1 << 20)
	must(g.t, err)
	same(g.t, fmt.Sprint("up to byte ", to), got, g.events[g.seen:complete])
	g.seen = complete
}

func TestLineIsDeliveredWhenComplete(t *testing.T) {
	g := newGrowing(t, 0, 300, 7, 50)
	for to := range g.content {
		g.grow(to + 1)
	}
}

func TestLinesAcrossPagesAreDeliveredComplete(t *testing.T) {
	const page = 4096
	for _, around := range [][]int{{0}, {-1}, {1}, {-1, 0, 1}} {
		t.Run(fmt.Sprint(around), func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t, 300, page-200, 4000, 70_001, 3*page, 20_000, 1, 300_000, page, page)
			for border := page; border < len(g.content)+page; border += page {
				for _, a := range around {
					g.grow(border + a)
				}
			}
			g.grow(len(g.content))
		})
	}
}

// Wherever in a line a writer dies, and whatever the disk has after that: the next
// writer sets it aside, and the follower continues with the new events.
func TestTornTailIsNeverDelivered(t *testing.T) {
	for name, garbage := range map[string][]byte{
		"nothing": nil, "NULs": nulPage, "NULs and a newline": append(slices.Clone(nulPage),
			'\n'), "a newline": []byte("\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newChanging(t, 6)
			for cut := 0; cut < len(f.lines[6]); cut++ {
				if name == "a newline" && cut == len(f.lines[6])-1 {
					break // the line is complete
				}
				appendFile(t, f.path, slices.Concat(f.lines[6][:cut], garbage))
				f.expect()
				l := mustOpen(t, f.dir, f.id)
				added := mustAppend(t, l, counted(cut, 0))
				must(t, l.Close())
				f.expect(added...)
			}
		})
	}
}

func TestFollowKeepsUpWithAFastWriter(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	l := mustCreate(t, dir)
	const lines = 350
	var seen []<-chan []journal.Event
	for _, way := range notificationModes {
		seen = append(seen, followUntil(t, way(dir), l.ID(), lines), followUntil(t, way(dir), l.ID(), lines))
	}
	sizes := []int{300, 4095, 70_001, 1, 4096, 20_000, 4097, 131_072, 777}
	var events []journal.Event
	for n := 1; n <= lines; n++ {
		padding := sizes[n%len(sizes)]
		if n%100 == 0 {
			padding = 1 << 20
		}
		events = append(events, mustAppend(t, l, counted(n, padding))...)
	}
	for i, s := range seen {
		same(t, fmt.Sprint("follower ", i), <-s, events)
	}
}

// A writer that is not a Log, such as a copying program, writes pieces that are not
// lines.
func TestFollowKeepsUpWithPartialWrites(t *testing.T) {
	for name, way := range notificationModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t, slices.Repeat([]int{300, 70_001, 4096, 1, 20_000}, 30)...)
			dir := journal.NewDir(filepath.Dir(g.path), journal.Options{})
			seen := followUntil(t, way(dir), strings.TrimSuffix(filepath.Base(g.path), ".jsonl"), 150)
			file, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			defer file.Close()
			for rest, n := g.content, 1; len(rest) > 0; n++ {
				piece := min(n*977%6000+1, len(rest))
				_, err := file.Write(rest[:piece])
				must(t, err)
				rest = rest[piece:]
			}
			same(t, "followed", <-seen, g.events)
		})
	}
}

// Not parallel: it measures the memory of the process.
func TestLaggingFollowerNeedsLittleMemory(t *testing.T) {
	const existing, added, padding = 100_000, 5_000, 400
	dir := newDir(t)
	l := mustCreate(t, dir)
	write := func(first, last int) {
		for n := first; n < last; n += 1000 {
			if _, err := l.Append(batch(n, n+999, padding)...); err != nil {
				t.Error(err)
			}
			if err := l.Sync(); err != nil { // otherwise the Log keeps the lines
				t.Error(err)
			}
		}
	}
	write(1, existing)
	written := make(chan struct{})
	f := follow(t, dir, l.ID(), journal.Position{})
	before := inUse()
	most, last := uint64(0), journal.Event{}
	for n := uint64(1); n <= existing+added; n++ {
		e, err, ok := f.next()
		if err != nil || !ok || e.Seq != n {
			t.Fatalf("event %d: %d, %v", n, e.Seq, err)
		}
		if n == 1 {
			go func() {
				defer close(written)
				write(existing+1, existing+added)
			}()
		}
		if n%20_000 == 0 {
			most = max(most, inUse())
		}
		last = e
	}
	await(t, written)
	if end := l.Position(); last.Seq != end.Seq || last.Sum != end.Sum {
		t.Errorf("the last event is %d (%s), that of the journal %d (%s)", last.Seq, last.Sum, end.Seq, end.Sum)
	}
	if size := uint64(l.Position().Offset); most > before+size/4 {
		t.Errorf("for a journal of %d bytes it keeps %d in memory", size, most-before)
	}
}

// inUse returns the number of reachable bytes.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
