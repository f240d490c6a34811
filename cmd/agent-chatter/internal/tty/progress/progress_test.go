package progress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/clipperhouse/displaywidth"
)

func TestProgressIsShownAfterASecond(t *testing.T) {
	halfway := journal.Progress{ID: "s", Done: 1, Total: 2}
	// drawn returns a text on the line, and erased how it is erased.
	drawn := func(text string) string { return "\r" + text }
	erased := func(text string) string { return "\r" + strings.Repeat(" ", displaywidth.String(text)) + "\r" }
	bar := drawn(progressText(halfway))
	noBar := erased(progressText(halfway))
	listing := drawn(listingText(1, 2))
	for _, tt := range []struct {
		name  string
		began time.Duration // ago
		drawn time.Duration // ago
		do    func(l *Progress)
		want  string
	}{
		{"early", 0, time.Hour, func(l *Progress) { l.Journal(halfway) }, ""},
		{"after a second", progressAfter, time.Hour, func(l *Progress) { l.Journal(halfway) }, bar},
		{"twice at once", progressAfter, time.Hour, func(l *Progress) { l.Journal(halfway); l.Journal(halfway) }, bar},
		{"after the interval", progressAfter, progressInterval, func(l *Progress) { l.Journal(halfway) }, bar},
		{"another session", progressAfter, time.Hour, func(l *Progress) { l.Journal(journal.Progress{ID: "t", Total: 2}) }, ""},
		{"a list", progressAfter, time.Hour, func(l *Progress) { l.of = "all"; l.List(1, 2) }, listing},
		{"the end", progressAfter, time.Hour, func(l *Progress) {
			l.Journal(halfway)
			l.Journal(journal.Progress{ID: "s", Done: 2, Total: 2})
		}, bar + noBar},
		{"the end of a list", progressAfter, time.Hour, func(l *Progress) { l.of = "all"; l.List(1, 2); l.List(2, 2) },
			listing + erased(listingText(1, 2))},
		{"the end of what was not shown", 0, time.Hour, func(l *Progress) { l.List(2, 2) }, ""},
		{"the next after the end", progressAfter, time.Hour, func(l *Progress) {
			l.Journal(journal.Progress{ID: "s", Done: 2, Total: 2})
			l.Journal(halfway)
		}, ""},
		{"before other output", progressAfter, time.Hour, func(l *Progress) { l.Journal(halfway); l.Erase(); l.Erase() }, bar + noBar},
		{"hidden", progressAfter, time.Hour, func(l *Progress) { l.Hidden = true; l.Journal(halfway) }, ""},
		{"hidden archiving", progressAfter, time.Hour, func(l *Progress) { l.HideArchiving = true; l.Journal(halfway) }, ""},
		{"unarchiving", progressAfter, time.Hour, func(l *Progress) {
			l.HideArchiving = true
			l.Journal(journal.Progress{ID: "s", Unarchive: true, Total: 2})
		}, "\r" + progressText(journal.Progress{ID: "s", Unarchive: true, Total: 2})},
		{"a narrow terminal", progressAfter, time.Hour, func(l *Progress) {
			l.Columns = func() int { return 10 }
			l.Journal(halfway)
		}, "\rArchiving"},
		{"no columns", progressAfter, time.Hour, func(l *Progress) {
			l.Columns = func() int { return 0 }
			l.Journal(halfway)
			l.Erase()
		}, "\r"},
		{"a shorter text", progressAfter, progressInterval, func(l *Progress) {
			l.Journal(halfway)
			l.of = "all"
			time.Sleep(progressInterval)
			l.List(1, 2)
			l.Erase()
		}, bar + listing + strings.Repeat(" ", displaywidth.String(progressText(halfway))-len(listingText(1, 2))) + noBar},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			l := New(&out, func() int { return 200 })
			now := time.Now()
			l.of, l.began, l.drawn = "s", now.Add(-tt.began), now.Add(-tt.drawn)
			if tt.do(l); out.String() != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, out.String(), tt.want)
			}
		})
	}
}

func TestWorkIsShownWithItsSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := New(&out, func() int { return 200 })
		written := func() string { // since the last call
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			defer out.Reset()
			return out.String()
		}
		end := l.Begin("Working")
		for _, want := range []string{"", "\rWorking, 1s", "\rWorking, 2s", "\rWorking, 3s"} {
			if got := written(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			time.Sleep(time.Second)
		}
		written()
		end()
		if got, erased := written(), "\r"+strings.Repeat(" ", len("Working, 3s"))+"\r"; got != erased {
			t.Errorf("at the end: %q", got)
		}
		l.Journal(journal.Progress{ID: "s", Done: 1, Total: 2})
		if got := written(); got != "" {
			t.Errorf("other work is shown at once: %q", got)
		}
	})
}

func TestBarOfEmptyAndShortJournals(t *testing.T) {
	for _, test := range []struct {
		done, total int64
		want        string
	}{{0, 0, "0%"}, {1, 1, "100%"}, {1, 2, "50%"}, {999, 1000, "99%"}} {
		got := progressText(journal.Progress{ID: "s", Done: test.done, Total: test.total})
		if filled := strings.Count(got, "━"); !strings.Contains(got, " "+test.want+" ") || filled != int(20*test.done/max(1, test.total)) {
			t.Errorf("%d of %d: %s", test.done, test.total, got)
		}
	}
}

func TestNoProgressShowsNothing(t *testing.T) {
	var l *Progress
	l.Begin("work")()
	l.Erase()
}
