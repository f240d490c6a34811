package app

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/progress"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
)

// onTerminal returns an App that shows progress on a terminal of so many columns.
func onTerminal(out io.Writer, columns int) *App {
	return &App{Printer: Printer{IO: IO{Stderr: out}, progress: progress.New(out, func() int { return columns })}}
}

func TestProgressUsesOneLineAndErasesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := onTerminal(&shown, 80)
		for done := int64(0); done <= 100; done++ {
			a.progress.Journal(journal.Progress{ID: apptest.AliceID, Done: done, Total: 100})
			time.Sleep(50 * time.Millisecond)
		}
		text := shown.String()
		last := "98%  session " + apptest.AliceID
		erased := "\r" + strings.Repeat(" ", len("Archiving ")+20+len(" "+last)) + "\r"
		if strings.ContainsAny(text, "\n\x1b") || !strings.HasSuffix(text, last+erased) {
			t.Errorf("it shows %q", text)
		}
		if first := strings.Split(text, "\r")[1]; !strings.Contains(first, " 20% ") {
			t.Errorf("after a second it shows %q", first)
		}
		if n := strings.Count(text, "%"); n != 40 {
			t.Errorf("in four seconds it is drawn %d times", n)
		}
	})
}

func TestNoticeWrapsTextButNotCommands(t *testing.T) {
	var shown bytes.Buffer
	notice := Text("A text on no terminal.").With(To("resume the latest session", "chat", "--resume", "latest"))
	(&Printer{IO: IO{Stderr: &shown}}).Show(notice)
	notice.Text = "A text that is wider than the terminal."
	onTerminal(&shown, 20).Show(notice)
	command := "To resume the latest session, type: agent-chatter chat --resume latest\n"
	want := "A text on no terminal.\n" + command + "A text that is\nwider than the\nterminal.\n" + command
	if shown.String() != want {
		t.Errorf("it shows %q, want %q", shown.String(), want)
	}
}

func TestLongListShowsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := onTerminal(&shown, 80)
		for range 2 { // two lists
			for done := range 5 {
				a.progress.List(done+1, 5)
				time.Sleep(400 * time.Millisecond)
			}
			time.Sleep(time.Hour)
		}
		once := "\rReading sessions: 4 of 5\r" + strings.Repeat(" ", 24) + "\r"
		if shown.String() != once+once {
			t.Errorf("it shows %q", shown.String())
		}
	})
}

func TestCatalogReportsNoProgressToAFile(t *testing.T) {
	a, err := New(IO{Stderr: io.Discard}, Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if a.progress != nil || a.Catalog.Progress != nil {
		t.Error("there is progress without a terminal")
	}
}

func TestShortWorkShowsNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := onTerminal(&shown, 80)
		for _, id := range []string{apptest.AliceID, apptest.BobID, apptest.AliceID} {
			for done := int64(0); done <= 10; done++ {
				a.progress.Journal(journal.Progress{ID: id, Done: done, Total: 10})
				time.Sleep(90 * time.Millisecond)
			}
		}
		if shown.Len() > 0 {
			t.Errorf("it shows %q", shown.String())
		}
	})
}

func TestNoticeErasesProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := onTerminal(&shown, 20)
		a.progress.Journal(journal.Progress{ID: apptest.AliceID, Done: 1, Total: 10})
		time.Sleep(2 * time.Second)
		a.progress.Journal(journal.Progress{ID: apptest.AliceID, Done: 2, Total: 10})
		a.Notice("the disk is full")
		if want := "\rArchiving ━━━━─────\r" + strings.Repeat(" ", 19) + "\r" +
			"the disk is full\n"; shown.String() != want {
			t.Errorf("it shows %q, want %q", shown.String(), want)
		}
	})
}

func TestChatHidesProgressOfArchiving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := onTerminal(&shown, 80)
		a.HideArchiving()
		for _, unarchive := range []bool{false, true} {
			for done := range int64(2) {
				a.progress.Journal(journal.Progress{ID: apptest.AliceID, Done: done, Total: 10, Unarchive: unarchive})
				time.Sleep(2 * time.Second)
			}
		}
		if text := shown.String(); strings.Contains(text, "Archiving") || !strings.Contains(text, apptest.AliceID) {
			t.Errorf("it shows %q", text)
		}
	})
}

func TestLongWorkIsShownAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		a := onTerminal(&shown, 12)
		end := a.Begin("Verifying")
		time.Sleep(900 * time.Millisecond)
		end()
		if shown.Len() > 0 {
			t.Errorf("of short work it shows %q", shown.String())
		}
		end = a.Begin("Verifying")
		time.Sleep(2500 * time.Millisecond)
		end()
		if want := "\rVerifying, \rVerifying, \r           \r"; shown.String() != want {
			t.Errorf("it shows %q, want %q", shown.String(), want)
		}
	})
}
