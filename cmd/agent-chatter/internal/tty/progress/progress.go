package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/clipperhouse/displaywidth"
)

const (
	progressAfter    = time.Second // shorter work shows no progress
	progressInterval = 100 * time.Millisecond
)

// Progress shows on one line of a terminal what takes longer than a second, and how far archiving, unarchiving or
// listing has come. It redraws the line, and erases it at the end, without control sequences. A nil Progress shows
// nothing.
type Progress struct {
	out           io.Writer
	Columns       func() int // width of the terminal
	HideArchiving bool       // set before the first call of Journal
	Hidden        bool       // nothing is shown

	mu      sync.Mutex
	of      string // the session, or "all" for a list
	began   time.Time
	drawn   time.Time
	columns int // of the text on the line; 0: it is erased
}

// New returns the Progress on a terminal whose width columns returns.
func New(out io.Writer, columns func() int) *Progress {
	return &Progress{out: out, Columns: columns}
}

// Journal shows how far a journal is on its way to the archive or back.
func (l *Progress) Journal(p journal.Progress) {
	if l.HideArchiving && !p.Unarchive {
		return
	}
	l.show(p.ID, p.Done < p.Total, func() string { return progressText(p) })
}

// List shows how many journals of a list were read.
func (l *Progress) List(done, of int) {
	l.show("all", done < of, func() string { return listingText(done, of) })
}

// Begin shows what is done, and for how many seconds, until end is called.
func (l *Progress) Begin(what string) (end func()) {
	if l == nil {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(progressAfter)
		defer tick.Stop()
		l.show(what, true, func() string { return what })
		for seconds := 1; ; seconds++ {
			select {
			case <-stop:
				l.show(what, false, nil)
				return
			case <-tick.C:
				l.show(what, true, func() string { return fmt.Sprintf("%s, %ds", what, seconds) })
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// show draws the line, or erases it if the work is done.
func (l *Progress) show(of string, running bool, text func() string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Hidden {
		return
	}
	now := time.Now()
	if l.of != of {
		l.of, l.began = of, now
	}
	switch {
	case !running:
		l.of = ""
		l.clear()
	case now.Sub(l.began) >= progressAfter && now.Sub(l.drawn) >= progressInterval:
		shown := displaywidth.TruncateString(text(), max(0, l.Columns()-1), "")
		columns := displaywidth.String(shown)
		fmt.Fprint(l.out, "\r"+shown+strings.Repeat(" ", max(0, l.columns-columns)))
		l.drawn, l.columns = now, max(l.columns, columns)
	}
}

// Erase removes the line before other output.
func (l *Progress) Erase() {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.clear()
	}
}

func (l *Progress) clear() {
	if l.columns > 0 {
		fmt.Fprint(l.out, "\r"+strings.Repeat(" ", l.columns)+"\r")
		l.columns = 0
	}
}

// listingText is the progress of a list.
func listingText(done, of int) string { return fmt.Sprintf("Reading sessions: %d of %d", done, of) }

// progressText is the progress of archiving or unarchiving. A narrow terminal cuts its
// end.
func progressText(p journal.Progress) string {
	what := "Archiving"
	if p.Unarchive {
		what = "Unarchiving"
	}
	const width = 20
	done := int(width * p.Done / max(1, p.Total))
	bar := strings.Repeat("━", done) + strings.Repeat("─", width-done)
	return fmt.Sprintf("%s %s %d%%  session %s", what, bar, 100*p.Done/max(1, p.Total), tty.SafeLine(p.ID))
}
