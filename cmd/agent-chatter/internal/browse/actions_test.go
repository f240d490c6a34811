package browse

import (
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// newActions returns the actions of an empty home.
func actionsForTest(t *testing.T) *actions {
	t.Helper()
	own, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a := newActions(t.Context(), own)
	t.Cleanup(a.Close)
	return a
}

func TestUndoIsBounded(t *testing.T) {
	var a actions
	for range maxUndo + 1 {
		a.push(nil)
	}
	if len(a.undo) != maxUndo {
		t.Errorf("%d changes can be undone", len(a.undo))
	}
}

// A question has the columns of its row, and its cursor is in them, whatever the title is.
func TestActionQuestionsFit(t *testing.T) {
	a := actionsForTest(t)
	for _, title := range []string{"", "日本語の論文", apptest.Hostile} {
		s := catalog.Session{ID: apptest.AliceID, Row: projection.Row{Title: title}}
		for _, key := range []string{"r", "d", "e"} {
			for columns := range 60 {
				a.Press(key, s, title)
				if !a.Asking() {
					t.Fatalf("%s asks nothing", key)
				}
				row, cursor := a.Line(columns)
				if cursor < 0 || cursor > max(columns-1, 0) {
					t.Errorf("%s in %d columns: the cursor is at %d", key, columns, cursor)
				}
				if text := ansi.NoColor.Encode(ansi.Cut(row, columns)); columns > 0 && ansi.Cut(row, columns).Columns() > columns {
					t.Errorf("%s in %d columns: %q", key, columns, text)
				} else if r, acting := apptest.Acting(text); acting {
					t.Errorf("%s: %U in %q", key, r, text)
				}
				if cmd := a.Answer(tea.KeyPressMsg{Code: tea.KeyEscape}); cmd != nil || a.Asking() {
					t.Errorf("Escape does not end %s", key)
				}
			}
		}
	}
}

// Only y confirms; a text is confirmed by Enter.
func TestAnswers(t *testing.T) {
	a := actionsForTest(t)
	s := catalog.Session{ID: apptest.AliceID, Row: projection.Row{Title: "title"}}
	key := func(text string) tea.KeyPressMsg { return tea.KeyPressMsg{Code: rune(text[0]), Text: text} }
	for _, test := range []struct {
		asks    string
		answer  tea.Msg
		begins  bool
		asking  bool
		typed   string
		because string
	}{
		{"d", key("y"), true, false, "", "yes"},
		{"d", key("Y"), true, false, "", "yes"},
		{"d", key("n"), false, false, "", "no"},
		{"d", tea.KeyPressMsg{Code: tea.KeyEnter}, false, false, "", "the default is no"},
		{"d", tea.PasteMsg{Content: "y"}, false, true, "", "pasted text is no answer"},
		{"r", key("y"), false, true, "titley", "a letter of the title"},
		{"r", tea.PasteMsg{Content: "s\n"}, false, true, "titles", "a part of the title"},
		{"r", tea.KeyPressMsg{Code: tea.KeyEnter}, true, false, "", "the title is complete"},
		{"r", tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, false, false, "", "Ctrl+C cancels"},
		{"e", tea.KeyPressMsg{Code: tea.KeyEscape}, false, false, "", "Escape cancels"},
	} {
		a.Press(test.asks, s, "title")
		cmd := a.Answer(test.answer)
		if (cmd != nil) != test.begins || a.Asking() != test.asking || a.Typed() != test.typed {
			t.Errorf("%s: begins %v, asking %v, typed %q", test.because, cmd != nil, a.Asking(), a.Typed())
		}
		if cmd != nil {
			a.Done(cmd().(doneMsg))
		}
		a.question = nil
	}
	if quit, notice := a.Quit(); quit == nil || notice != "" {
		t.Errorf("after all changes: %q", notice)
	}
}
