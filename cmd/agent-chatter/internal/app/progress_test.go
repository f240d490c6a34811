package app

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
)

func TestProgressStandsOnOneLineThatIsGoneInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := &Env{Stderr: &shown}
		a.Progress = &progressLine{app: a, columns: func() int { return 80 }}
		for done := int64(0); done <= 100; done++ {
			a.Progress.come(journal.Progress{ID: apptest.AliceID, Done: done, Total: 100})
			time.Sleep(50 * time.Millisecond)
		}
		text := shown.String()
		if strings.Contains(text, "\n") || !strings.HasSuffix(text, "98%  session "+apptest.AliceID+"\r\x1b[K") {
			t.Errorf("it shows %q", text)
		}
		if first := strings.Split(text, "\r\x1b[K")[1]; !strings.Contains(first, " 20% ") {
			t.Errorf("it begins with %q", first) // after a second
		}
		if n := strings.Count(text, "%"); n != 40 {
			t.Errorf("in four seconds it is drawn %d times", n)
		}
	})
}

func TestWhatIsSaidBreaksBetweenWordsAndWhatIsTypedDoesNot(t *testing.T) {
	var shown bytes.Buffer
	a := &Env{Stderr: &shown}
	a.Notice("It is said, and nobody watches.")
	a.Progress = &progressLine{app: a, columns: func() int { return 20 }}
	a.Notice("It is said, and somebody watches.\nTo go on, type: agent-chatter chat --resume latest")
	want := "It is said, and nobody watches.\nIt is said, and \nsomebody watches.\nTo go on, type: agent-chatter chat --resume latest\n"
	if shown.String() != want {
		t.Errorf("it shows %q, want %q", shown.String(), want)
	}
}

func TestALongListShowsHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := &Env{Stderr: &shown}
		a.Progress = &progressLine{app: a, columns: func() int { return 80 }}
		for range 2 { // two lists
			for done := range 5 {
				a.Catalog().Progress(done+1, 5)
				time.Sleep(400 * time.Millisecond)
			}
			time.Sleep(time.Hour)
		}
		once := tty.EraseLine + listingText(4, 5) + tty.EraseLine
		if shown.String() != once+once {
			t.Errorf("it shows %q", shown.String())
		}
		if (&Env{}).Catalog().Progress != nil {
			t.Error("progress that nobody watches")
		}
	})
}

func TestWhatIsDoneSoonShowsNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := &Env{Stderr: &shown}
		a.Progress = &progressLine{app: a, columns: func() int { return 80 }}
		for _, id := range []string{apptest.AliceID, apptest.BobID, apptest.AliceID} {
			for done := int64(0); done <= 10; done++ {
				a.Progress.come(journal.Progress{ID: id, Done: done, Total: 10})
				time.Sleep(90 * time.Millisecond)
			}
		}
		if shown.Len() > 0 {
			t.Errorf("it shows %q", shown.String())
		}
	})
}

func TestANoticeDoesNotStandBehindProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := &Env{Stderr: &shown}
		a.Progress = &progressLine{app: a, columns: func() int { return 20 }}
		a.Progress.come(journal.Progress{ID: apptest.AliceID, Done: 1, Total: 10})
		time.Sleep(2 * time.Second)
		a.Progress.come(journal.Progress{ID: apptest.AliceID, Done: 2, Total: 10})
		a.Notice("the disk is full")
		if want := tty.EraseLine + "Archiving ━━━━─────" + tty.EraseLine + "the disk is full\n"; shown.String() != want {
			t.Errorf("it shows %q, want %q", shown.String(), want)
		}
		(&Env{Stderr: &shown}).Notice("nobody watches")
	})
}
