package app

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"golang.org/x/term"
)

const (
	progressAfter    = time.Second // shorter work shows no progress
	progressInterval = 100 * time.Millisecond
)

// progressLine shows on one line of a terminal how far archiving, unarchiving or listing
// has come. It redraws the line, and erases it at the end.
type progressLine struct {
	out io.Writer

	mu      sync.Mutex
	of      string // the session, or "all" for a list
	began   time.Time
	drawn   time.Time
	onLine  bool // the line is drawn
	columns func() int

	hideArchiving bool
}

// newProgressLine returns the progress line of a terminal, or nil if out is none.
func newProgressLine(out io.Writer) *progressLine {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progressLine{out: out, columns: func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return 80
		}
		return width
	}}
}

// fold breaks the lines of a text between words on a terminal.
func (l *progressLine) fold(text string) string {
	if l == nil {
		return text
	}
	var folded strings.Builder
	for line := range strings.Lines(text) {
		folded.WriteString((&tty.Wrapper{Width: l.columns}).Pass(line))
	}
	return folded.String()
}

// HideArchiving hides the progress of archiving, which a chat does in the background.
func (a *App) HideArchiving() {
	if a.progress != nil {
		a.progress.hideArchiving = true
	}
}

// Spin shows a spinner on a terminal until end is called.
func (a *App) Spin(what string) (end func()) {
	if a.progress == nil {
		return func() {}
	}
	s := &tty.Spinner{Out: a.Stderr, Width: a.progress.columns}
	s.Start(what, "")
	return s.End
}

// journal shows how far a journal is on its way to the archive or back.
func (l *progressLine) journal(p journal.Progress) {
	if l.hideArchiving && !p.Unarchive {
		return
	}
	l.show(p.ID, p.Done < p.Total, func() string { return progressText(p) })
}

// list shows how many journals of a list were read.
func (l *progressLine) list(done, of int) {
	l.show("all", done < of, func() string { return listingText(done, of) })
}

// show draws the line, or erases it if the work is done.
func (l *progressLine) show(of string, running bool, text func() string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.of != of {
		l.of, l.began = of, now
	}
	switch {
	case !running:
		l.of = ""
		l.clear()
	case now.Sub(l.began) >= progressAfter && now.Sub(l.drawn) >= progressInterval:
		fit := tty.Spinner{Width: l.columns}
		fmt.Fprint(l.out, tty.EraseLine+fit.Fit(text()))
		l.drawn, l.onLine = now, true
	}
}

// erase removes the line before other output. A nil progressLine has none.
func (l *progressLine) erase() {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.clear()
	}
}

func (l *progressLine) clear() {
	if l.onLine {
		fmt.Fprint(l.out, tty.EraseLine)
		l.onLine = false
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
	return fmt.Sprintf(
		"%s %s%s %d%%  session %s",
		what,
		strings.Repeat("━", done),
		strings.Repeat("─", width-done),
		100*p.Done/max(1, p.Total),
		tty.SafeLine(p.ID),
	)
}
