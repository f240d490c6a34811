package console

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// newDrawing returns a Console that draws to a file, and a function that returns what it has drawn since the last call.
func newDrawing(t *testing.T) (c *Console, drawn func() string) {
	t.Helper()
	file, err := os.Create(t.TempDir() + "/screen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	c = newConsole()
	c.screen, c.stop, c.stopped = tty.NewOutput(file), make(chan struct{}), make(chan struct{})
	c.tasks = make(chan func(), 1)
	read := 0
	return c, func() string {
		all, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		since := string(all[read:])
		read = len(all)
		return since
	}
}

// printed takes what is to be printed.
func printed(c *Console) string {
	lines := strings.Join(c.done, "|")
	c.done, c.pending = nil, 0
	return lines
}

func TestPrintingWaitsForASlowTerminal(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bytes  int
		change func(c *Console)
		waits  bool
	}{
		{"as much as may wait", maxPending, func(*Console) {}, false},
		{"more than may wait", maxPending + 1, func(*Console) {}, true},
		{"after the end of the input", maxPending + 1, func(c *Console) { c.ended = true }, false},
		{"after Escape", maxPending + 1, func(c *Console) { c.cancelled = true }, false},
		{"after it has waited for long", maxPending + 1, func(c *Console) { c.stalled = true }, false},
		{"while a page is shown", maxPending + 1, func(c *Console) { c.model.page = &page{} }, false},
	} {
		c := newConsole()
		tt.change(c)
		stalled := c.stalled
		if c.stallTime = time.Hour; tt.waits {
			c.stallTime = time.Millisecond
		}
		c.Print(strings.Repeat("x", tt.bytes))
		if c.mu.Lock(); c.stalled != (tt.waits || stalled) {
			t.Errorf("%s: it waits: %v", tt.name, c.stalled)
		}
		c.mu.Unlock()
	}
}

func TestLinesThatAreNotKeptAreCounted(t *testing.T) {
	c, drawn := newDrawing(t)
	c.ended = true // so that nothing waits
	c.pending = maxKept
	c.Print("kept")
	c.Print("one", "two")
	c.Print("three")
	if c.dropped != 3 || len(c.done) != 1 {
		t.Errorf("%d lines are kept, %d are not", len(c.done), c.dropped)
	}
	c.stalled = true
	c.frame()
	if text := drawn(); !strings.Contains(text, "kept\r\n"+missingText(3)) {
		t.Errorf("it ends with %q", text[max(0, len(text)-200):])
	}
	if c.done != nil || c.pending != 0 || c.dropped != 0 || c.stalled {
		t.Errorf("after a frame: %d lines, %d bytes, %d dropped, stalled: %v", len(c.done), c.pending, c.dropped, c.stalled)
	}
	if c.frame(); strings.Contains(drawn(), "not shown") {
		t.Error("it is reported twice")
	}
}

func TestFrameShowsTheQuestion(t *testing.T) {
	c, drawn := newDrawing(t)
	c.model.Question = &Question{Choices: permission, unseen: true}
	if c.frame(); c.model.Question.unseen || !strings.Contains(drawn(), "[Y] Allow") {
		t.Error("the question was not seen")
	}
}

func TestPageIsOverWhatIsPrinted(t *testing.T) {
	c, drawn := newDrawing(t)
	c.model.page = &page{render: func(int) []string { return []string{"result"} }}
	c.Print("later")
	if c.frame(); len(c.done) != 1 || strings.Contains(drawn(), "later") {
		t.Error("it was printed over the page")
	}
	c.model.page = nil
	if c.frame(); len(c.done) != 0 || !strings.Contains(drawn(), "later") {
		t.Error("it was not printed after the page")
	}
}

func TestBlankLineSeparatesNotesFromMessages(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plain bool
		do    func(c *Console)
		want  string
	}{
		{"a message", true, func(c *Console) { c.Say(saying("one")) }, "Ada: one"},
		{"notes", true, func(c *Console) { c.Print("note"); c.Print("note") }, "note|note"},
		{"a message after a note", true, func(c *Console) { c.Print("note"); c.Say(saying("one")) }, "note||Ada: one"},
		{"a message with a blank line", false, func(c *Console) { c.Print("note"); c.Say(saying("one")) }, "note||Ada|one"},
		{"two messages", true, func(c *Console) { c.Print("note"); c.Say(saying("one")); c.Say(saying("two")) },
			"note||Ada: one|Ada: two"},
		{"a note of no lines", true, func(c *Console) { c.Print(); c.Say(saying("one")) }, "Ada: one"},
		{"a message of no lines", true, func(c *Console) {
			c.Print("note")
			c.Say(func(*Model) []view.Block { return nil })
			c.Say(saying("one"))
		}, "note||Ada: one"},
	} {
		c, _ := newDrawing(t)
		c.model.Transcript, c.model.Style = &view.Transcript{}, view.Style{Plain: tt.plain, Profile: ansi.NoColor}
		tt.do(c)
		if got := printed(c); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWriteKeepsTheRestOfALine(t *testing.T) {
	c, drawn := newDrawing(t)
	for _, text := range []string{"one", " line\ntwo lines\nth", "r\x07"} {
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if c.frame(); !strings.Contains(drawn(), "thr") {
		t.Error("the rest of the line is not shown")
	}
	c.Write([]byte("ee\n"))
	if got := printed(c); !strings.HasPrefix(got, "thr") || !strings.HasSuffix(got, "ee") || c.line != "" {
		t.Errorf("it prints %q, and keeps %q", got, c.line)
	}
}

func TestCloseDrawsTheRest(t *testing.T) {
	c, drawn := newDrawing(t)
	close(c.stopped)
	c.Print("one")
	c.Write([]byte("two"))
	if err := c.finish(); err != nil || !strings.Contains(drawn(), "one\r\ntwo") || !c.ended || c.done != nil {
		t.Errorf("after the end: %v, %q", err, c.done)
	}
}

func TestNext(t *testing.T) {
	quit := make(chan struct{})
	close(quit)
	for _, tt := range []struct {
		name, prompt string
		queued       []string
		over         bool
		text, left   string
		ended        bool
		printed      string
	}{
		{"a message", "you> ", []string{"hello", "again"}, false, "hello", "again", false, ""},
		{"a message before the end", "you> ", []string{"hello"}, true, "hello", "", false, ""},
		{"the end", "you> ", nil, true, "", "", true, ""},
		{"Ctrl+D", "you> ", []string{endOfInput, "again"}, false, "", "again", true, ""},
		{"a message before Ctrl+D", "you> ", []string{"hello", endOfInput}, false, "hello", endOfInput, false, ""},
		{"the end of what waits", "you> ", nil, false, "", "", true, ""},
		{"a command", "you> ", []string{"/status"}, false, "/status", "", false, ""},
		{"a message that starts with a slash", "you> ", []string{"//status"}, false, "//status", "", false, ""},
		{"an answer", "", []string{"2"}, false, "2", "", false, "|> 2"},
		{"an empty answer", "", []string{" "}, false, " ", "", false, ""},
	} {
		c := newConsole()
		c.model.Style.Profile, c.model.Queued, c.ended = ansi.NoColor, typed(tt.queued...), tt.over
		line, err := c.Next(tt.prompt, quit)
		if left := texts(c.model.Queued, " "); line.Text != tt.text || left != tt.left || (err == errInterrupted) != tt.ended {
			t.Errorf("%s: %q, %v, %q is left", tt.name, line.Text, err, left)
		}
		if got := printed(c); got != tt.printed {
			t.Errorf("%s: it prints %q", tt.name, got)
		}
		if len(c.drawNow) != 1 || c.model.Prompt != "" || c.model.asks {
			t.Errorf("%s: not drawn at once, or the prompt remains", tt.name)
		}
	}
}

func TestNextShowsThePromptUntilALineIsEntered(t *testing.T) {
	for _, prompt := range []string{"you> ", ""} {
		c := newConsole()
		go func() {
			<-c.drawNow
			c.mu.Lock()
			defer c.mu.Unlock()
			text := "asks"
			if !c.model.asks {
				text = c.model.Prompt
			}
			c.enter(tty.Line{Text: text})
			if c.model.Prompt != "" || c.model.queuedRows(80) != nil {
				t.Errorf("with the prompt %q: a frame has the prompt, or the line as queued", prompt)
			}
		}()
		if line, err := c.Next(prompt, nil); err != nil || prompt != "" && line.Text != prompt || prompt == "" && line.Text != "asks" {
			t.Errorf("with the prompt %q: %q, %v", prompt, line.Text, err)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(m *Model)
		q      Question
		keys   string
		answer string
		text   string // in the input box after it
	}{
		{"an answer", func(*Model) {}, Question{Choices: permission}, "y<enter>", "y", ""},
		{"a key", func(*Model) {}, Question{}, "x", "x", ""},
		{"while text is typed", func(m *Model) { m.Editor.Set("te") }, Question{Choices: permission}, "xy<tab><enter>", "y", "texy"},
		{"a key while text is typed", func(m *Model) { m.Editor.Set("te") }, Question{}, "x", "x", "te"},
		{"during a search", func(m *Model) { m.Search = &Search{} }, Question{Choices: permission}, "<enter>n<enter>", "n", ""},
		{"a reason", func(*Model) {}, Question{Choices: permission}, "r<enter>risky<enter>", "rrisky", ""},
	} {
		c := newConsole()
		tt.change(&c.model)
		c.o.Find = func(context.Context, string) []string { return nil }
		c.answers <- "of an older question"
		go func() {
			<-c.redraw
			c.mu.Lock()
			defer c.mu.Unlock()
			c.model.Question.unseen = false
			script := tt.keys
			for script != "" {
				name, rest, named := strings.Cut(strings.TrimPrefix(script, "<"), ">")
				if named && strings.HasPrefix(script, "<") {
					c.update(keyNames[name])
				} else {
					c.update(key(tty.Code(script[0]), 0))
					rest = script[1:]
				}
				script = rest
			}
		}()
		if answer := c.Ask(tt.q, nil); answer != tt.answer || c.model.Editor.Text() != tt.text || c.model.Question != nil {
			t.Errorf("%s: the answer is %q, the text %q", tt.name, answer, c.model.Editor.Text())
		}
	}
}

func TestWithdrawnQuestionGivesTheTextBack(t *testing.T) {
	c := newConsole()
	quit := make(chan struct{})
	go func() {
		<-c.redraw
		c.Change(func(m *Model) { m.Question.typed, m.Question.before = &KeyChoice{Asks: "Reason"}, "before" })
		close(quit)
	}()
	if answer := c.Ask(Question{Choices: permission}, quit); answer != "" || c.model.Question != nil || c.model.Editor.Text() != "before" {
		t.Errorf("the answer is %q, the text %q", answer, c.model.Editor.Text())
	}
	if k, err := c.ReadKey(quit); k != 0 || err != errInterrupted {
		t.Errorf("the key is %q, %v", k, err)
	}
}

func TestOnlyTheLastSearchIsShown(t *testing.T) {
	c := newConsole()
	stopped := make(chan string, 1)
	c.o.Find = func(ctx context.Context, text string) []string {
		if text == "x" {
			<-ctx.Done()
			stopped <- text
		}
		return []string{"found " + text}
	}
	c.mu.Lock()
	c.update(key('r', tty.Ctrl))
	c.update(key('x', 0))
	if s := c.model.Search; !s.Running || s.Text != "x" {
		t.Errorf("it searches: %+v", s)
	}
	c.update(key('y', 0))
	s := c.model.Search
	for s.Running { // searches change it with the lock held
		c.mu.Unlock()
		<-c.redraw
		c.mu.Lock()
	}
	c.mu.Unlock()
	if text := <-stopped; text != "x" || strings.Join(s.Found, " ") != "found xy" {
		t.Errorf("found %q", s.Found)
	}
}

func TestEffectsOfEvents(t *testing.T) {
	tasks := func(c *Console) int { return len(c.tasks) }
	lines := func(c *Console) int { return len(c.done) }
	lists := func(c *Console) int {
		if c.model.calls == nil {
			return 0
		}
		return 1
	}
	for _, tt := range []struct {
		name  string
		event tty.Event
		count func(c *Console) int
		want  int
	}{
		{"Ctrl+L", key('l', tty.Ctrl), tasks, 1},
		{"Ctrl+Z", key('z', tty.Ctrl), tasks, 1},
		{"Ctrl+G", key('g', tty.Ctrl), tasks, 1},
		{"Ctrl+O", key('o', tty.Ctrl), lists, 1},
		{"a paste", tty.Paste{Text: "a"}, lines, 0},
		{"a paste that is too long", tty.Paste{Text: "a", Dropped: 1}, lines, 1},
	} {
		c, _ := newDrawing(t)
		c.update(tt.event)
		c.update(key('l', tty.Ctrl)) // does not wait for an earlier task
		if got := tt.count(c); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// typed returns lines that were typed.
func typed(texts ...string) (lines []tty.Line) {
	for _, text := range texts {
		lines = append(lines, tty.Line{Text: text})
	}
	return lines
}

// texts joins the texts of lines.
func texts(lines []tty.Line, separator string) string {
	var all []string
	for _, line := range lines {
		all = append(all, line.Text)
	}
	return strings.Join(all, separator)
}

func TestCtrlC(t *testing.T) {
	c, cancels, leaves := newConsole(), 0, 0
	stop := c.Watch(func(string) { cancels++ }, func() { leaves++ }, nil)
	c.model.Queued = typed("queued")
	if c.update(key('c', tty.Ctrl)); cancels != 1 || leaves != 0 || !c.cancelled || c.model.Editor.Text() != "queued" {
		t.Errorf("in a turn: %d cancels, %d leave, the text is %q", cancels, leaves, c.model.Editor.Text())
	}
	c.model.Editor.Clear()
	if c.update(key('c', tty.Ctrl)); cancels != 1 || leaves != 1 || c.ended {
		t.Errorf("in a turn that does not end: %d cancels, %d leave", cancels, leaves)
	}
	stop()
	if c.cancelled || c.escape != nil || c.interrupt != nil {
		t.Error("after the turn its keys are watched")
	}
	c.update(key('c', tty.Ctrl))
	if !strings.Contains(c.model.statusRow(80, noon), textLeaves) || c.ended || leaves != 1 {
		t.Error("without a turn the first one does not ask")
	}
	c.update(key('x', 0))
	c.update(key('c', tty.Ctrl)) // clears the text
	c.update(key('c', tty.Ctrl))
	if c.ended {
		t.Error("it leaves although another key was pressed")
	}
	if c.update(key('c', tty.Ctrl)); !c.ended {
		t.Error("the second one does not leave")
	}
}

func TestCallsAreListed(t *testing.T) {
	c := newConsole()
	c.model.Transcript = &view.Transcript{}
	c.showCalls()
	if rows := c.model.wholeRows(60, 4); rows[0] != textNoOutput || printed(c) != "" {
		t.Errorf("without a tool there is %q", rows)
	}
	press(t, &c.model, "q")
	for _, p := range []projection.Payload{
		projection.TurnStarted{TurnID: "t", MemberID: "ada"},
		projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Read"},
		projection.ToolCompleted{TurnID: "t", ToolID: "1", Output: "a kettle"},
		projection.ToolStarted{TurnID: "t", ToolID: "2", Name: "Bash"},
		projection.ToolCompleted{TurnID: "t", ToolID: "2", Output: strings.Repeat("line\n", 100), Error: "line"},
	} {
		r := projection.Record(noon, p)
		c.model.Transcript.Apply(projection.DecodeEvent(journal.Event{Time: r.Time, Type: r.Type, Data: r.Data}))
	}
	c.showCalls()
	shown := func() string { return strings.Trim(strings.Join(c.model.wholeRows(60, 4), "\n"), "\n") }
	for _, step := range []struct{ keys, want string }{
		{"", "  ● Read  ok 0ms\n▸ ● Bash  failed 0ms\n\n2 of 2 · Enter opens · / filters · q closes"},
		{"<up><up>", "▸ ● Read  ok 0ms\n  ● Bash  failed 0ms\n\n1 of 2 · Enter opens · / filters · q closes"},
		{"<enter>", "● Read  ok 0ms\n  a kettle\n\n1–2 of 2 · q closes"},
		{"q<down><enter>", "● Bash  failed 0ms\n  line\n  line\n1–3 of 101 · q closes"},
		{"<down><down>", "  line\n  line\n  line\n3–5 of 101 · q closes"},
		{"q/KETtle", "▸ ● Read  ok 0ms\n\n\n/KETtle · 1 of 1 · Enter opens · / filters · q closes"},
		{"x", "/KETtlex · 0 of 0 · Enter opens · / filters · q closes"},
		{"<enter><esc>", "▸ ● Read  ok 0ms\n  ● Bash  failed 0ms\n\n1 of 2 · Enter opens · / filters · q closes"},
	} {
		press(t, &c.model, step.keys)
		if got := shown(); got != step.want {
			t.Errorf("after %s:\n%s\nwant\n%s", step.keys, got, step.want)
		}
	}
	if press(t, &c.model, "<esc>"); c.model.whole() || !c.model.Editor.Empty() {
		t.Error("Escape does not close the list")
	}
}

// recorded returns a call of a session.
func recorded(seq uint64, name, output string) view.Call {
	return view.Call{Call: conversation.Call{
		Seq: seq, Started: projection.ToolStarted{Name: name}, Result: &projection.ToolCompleted{Output: output},
	}}
}

func TestEarlierCallsPrecedeTheOthers(t *testing.T) {
	l := newCallList([]view.Call{recorded(30, "Read", "kettle"), recorded(34, "Bash", "cord")})
	if l.oldest() != 30 {
		t.Errorf("the oldest is %d", l.oldest())
	}
	if !l.addEarlier([]view.Call{recorded(10, "Grep", "kettle"), recorded(14, "Grep", "lid")}) || len(l.calls) != 4 || l.selected != 3 {
		t.Errorf("%d calls, selected %d", len(l.calls), l.selected)
	}
	l.query.Type("kettle")
	l.filter()
	l.selected = 0
	l.addEarlier([]view.Call{recorded(2, "Bash", "kettle"), recorded(4, "Bash", "plug"), recorded(6, "Bash", "kettle")})
	var found []uint64
	for _, i := range l.shown {
		found = append(found, l.calls[i].Seq)
	}
	if fmt.Sprint(found) != "[2 6 10 30]" || l.calls[l.shown[l.selected]].Seq != 10 {
		t.Errorf("found %v, selected %d", found, l.selected)
	}
	l = newCallList(nil)
	l.addEarlier([]view.Call{recorded(1, "a", ""), recorded(2, "b", "")})
	if l.selected != 1 {
		t.Errorf("of a list that was empty, %d is selected", l.selected)
	}
}

func TestListOfCallsHasBounds(t *testing.T) {
	l := newCallList(make([]view.Call, 0))
	many := make([]view.Call, maxListed+3)
	for i := range many {
		many[i] = recorded(uint64(i+1), "Read", "")
	}
	if l.addEarlier(many) || len(l.calls) != maxListed || l.calls[0].Seq != 4 || l.failure == nil {
		t.Errorf("%d calls, %v", len(l.calls), l.failure)
	}
	long := recorded(1, "Read", strings.Repeat("x", maxListedBytes))
	if l = newCallList(nil); l.addEarlier([]view.Call{long, long}) || len(l.calls) != 1 {
		t.Errorf("%d calls", len(l.calls))
	}
}

func TestEarlierCallsAreReadWhileTheListIsOpen(t *testing.T) {
	c := newConsole()
	batches := make(chan []view.Call)
	closed := make(chan struct{})
	c.o.Calls = func(_ context.Context, before uint64) iter.Seq2[[]view.Call, error] {
		return func(yield func([]view.Call, error) bool) {
			defer close(closed)
			for calls := range batches {
				if !yield(calls, errors.New("it is damaged")) {
					return
				}
			}
		}
	}
	rows := func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return strings.Join(c.model.wholeRows(80, 3), "\n")
	}
	c.mu.Lock()
	c.showCalls()
	c.mu.Unlock()
	if got, want := rows(), "\n\n0 of 0… · Enter opens · / filters · q closes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	batches <- []view.Call{recorded(3, "Read", "")}
	batches <- nil // the first is added
	want := "▸ ● Read  ok\n\nNot all: it is damaged · 1 of 1… · Enter opens · / filters · q closes"
	if got := rows(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.mu.Lock()
	press(t, &c.model, "q")
	c.mu.Unlock()
	select { // it may have been between two batches
	case batches <- nil:
	case <-closed:
	}
	<-closed
}

// What is entered during a turn is given to its agent, one message after another.
func TestEnteredMessagesAreGivenToTheAgent(t *testing.T) {
	c := newConsole()
	c.o.ReadOnly = func(string) bool { return false }
	given, answer := make(chan string), make(chan bool)
	stop := c.Watch(func(string) {}, func() {}, func(line tty.Line) bool {
		given <- line.Text
		return <-answer
	})
	enter := func(text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.enter(tty.Line{Text: text})
	}
	left := func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return texts(c.model.Queued, " ")
	}
	enter("one")
	enter("two")
	if got := <-given; got != "one" || left() != "one two" {
		t.Errorf("given %q, left %q", got, left())
	}
	answer <- true
	if got := <-given; got != "two" || left() != "two" {
		t.Errorf("given %q, left %q", got, left())
	}
	enter("three")
	answer <- false
	c.running.Wait()
	if left() != "two three" {
		t.Errorf("left %q", left())
	}
	enter("four")
	if got := <-given; got != "two" { // which precedes it
		t.Errorf("given %q", got)
	}
	c.model.Status.Escape = true
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	if got := c.model.Editor.Text(); left() != "two" || got != "three\nfour" {
		t.Errorf("after Escape: left %q, the text is %q", left(), got)
	}
	answer <- false
	stop()
	if got := c.model.Editor.Text(); left() != "" || !strings.Contains(got, "two") {
		t.Errorf("after the turn: left %q, the text is %q", left(), got)
	}
}

func TestQueuedMessageIsTakenBack(t *testing.T) {
	for _, tt := range []struct {
		name, queued string
		steering     bool
		text, left   string
	}{
		{"a message", "one", false, "one", ""},
		{"the last of two", "one,two", false, "two", "one"},
		{"the end of the input", "one," + endOfInput, false, "", "one"},
		{"one that the agent may take", "one", true, "", "one"},
		{"after one that the agent may take", "one,two", true, "two", "one"},
	} {
		c := newConsole()
		c.model.Queued, c.steering = typed(strings.Split(tt.queued, ",")...), tt.steering
		c.update(key(tty.Up, 0))
		if got, left := c.model.Editor.Text(), texts(c.model.Queued, ","); got != tt.text || left != tt.left {
			t.Errorf("%s: the text is %q, left is %q", tt.name, got, left)
		}
	}
}

// Without a line in the own queue, Up takes back what was queued last in the process that hosts the conversation.
func TestSharedLineIsTakenBack(t *testing.T) {
	c := newConsole()
	c.model.Shared = []tty.Line{{ID: "1", Text: "one"}, {ID: "2", Text: "two"}}
	asked, back := make(chan string), make(chan bool)
	c.model.TakeShared = func(id string) (string, bool) {
		asked <- id
		return "two", <-back
	}
	c.update(key(tty.Up, 0))
	if id := <-asked; id != "2" {
		t.Errorf("asked for %s", id)
	}
	back <- true
	for text := ""; text != "two"; {
		<-c.redraw
		c.mu.Lock()
		text = c.model.Editor.Text()
		c.mu.Unlock()
	}
}
