package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// rowsOf returns the rows of the live region on a terminal of 40 columns and 12 rows.
func rowsOf(m *Model) string {
	rows, _ := m.Live(40, 12, nil, noon)
	return strings.Trim(strings.Join(rows, "|"), "|")
}

func TestAnswersAreShownUntilTheyAreClosed(t *testing.T) {
	m := newModel()
	plain := rowsOf(m)
	show := func(lines ...string) { m.ShowAnswer("/status", lines, 12) }
	for _, closing := range []string{"<esc>", "hello<enter>", "<enter>"} {
		show("one", "two")
		if got := rowsOf(m); !strings.Contains(got, "|/status · esc closes|one|two|") {
			t.Errorf("it is shown as %q", got)
		}
		press(t, m, closing)
		if got := rowsOf(m); got != plain {
			t.Errorf("after %s it is %q, before it was %q", closing, got, plain)
		}
	}
	show("one")
	press(t, m, "/")
	if got := rowsOf(m); strings.Contains(got, "one") || !m.menu.open() {
		t.Errorf("with the menu it is %q", got)
	}
	press(t, m, "<esc>") // closes the menu
	if got := rowsOf(m); !strings.Contains(got, "|one|") {
		t.Errorf("after the menu it is %q", got)
	}
	m.Question = &Question{Choices: []KeyChoice{{Key: 'y', Text: "[Y]es"}}}
	if got := rowsOf(m); !strings.Contains(got, "|one|▸ [Y]es|") && !strings.Contains(got, "|one|  [Y]es|") {
		t.Errorf("with a question it is %q", got)
	}
	if effect, _ := m.Update(key(tty.Escape, 0)); effect != None || strings.Contains(rowsOf(m), "|one|") {
		t.Errorf("with a question, Escape has the effect %v and leaves %q", effect, rowsOf(m))
	}
}

func TestEscapeClosesAnAnswerBeforeItCancels(t *testing.T) {
	m := newModel()
	m.Status = Status{Doing: "Ada thinks", Escape: true, Since: noon}
	m.ShowAnswer("/queue", []string{"empty"}, 12)
	if got := rowsOf(m); strings.Contains(got, "esc to") {
		t.Errorf("Escape seems to interrupt: %q", got)
	}
	if effect, _ := m.Update(key(tty.Escape, 0)); effect != None {
		t.Errorf("Escape has the effect %v", effect)
	}
	if effect, _ := m.Update(key(tty.Escape, 0)); effect != Cancel || !strings.Contains(rowsOf(m), "esc to") {
		t.Errorf("Escape again has the effect %v", effect)
	}
}

func TestLongAnswersAreOnAPage(t *testing.T) {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	m := newModel()
	m.ShowAnswer("/help", lines, 12)
	if got := m.wholeRows(40, 4); m.shown != nil || strings.Join(got, "|") != "line 0|line 1|line 2|1–3 of 20 · q closes" {
		t.Errorf("the page is %q", got)
	}
	press(t, m, "qa")
	m.ShowAnswer("/help", lines, 12)
	if got := rowsOf(m); m.whole() || !strings.Contains(got, "/help · esc closes|line 0|line 1|line 2|line 3|… 16 more lines") {
		t.Errorf("while a person types, it is %q", got)
	}
}

func TestAnswersAreSafe(t *testing.T) {
	c, _ := newDrawing(t)
	a := c.Answer("/search " + apptest.Hostile)
	a.Show()
	if c.model.shown != nil {
		t.Error("without a text it is shown")
	}
	fmt.Fprintf(a, "one\n%s\n\n", apptest.Hostile)
	a.Show()
	if got := rowsOf(&c.model); strings.ContainsAny(got, "\x07\r") || strings.Contains(got, "\x1b]") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("it is %q", got)
	}
}
