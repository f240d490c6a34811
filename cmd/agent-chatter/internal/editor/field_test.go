package editor

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

// keys are the keys that tests name in angle brackets.
var keys = map[string]tea.Key{
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"delete": {Code: tea.KeyDelete}, "backspace": {Code: tea.KeyBackspace},
	"ctrl+left": {Code: tea.KeyLeft, Mod: tea.ModCtrl}, "ctrl+right": {Code: tea.KeyRight, Mod: tea.ModCtrl},
	"alt+b": {Code: 'b', Mod: tea.ModAlt}, "alt+f": {Code: 'f', Mod: tea.ModAlt}, "alt+d": {Code: 'd', Mod: tea.ModAlt},
	"ctrl+a": {Code: 'a', Mod: tea.ModCtrl}, "ctrl+e": {Code: 'e', Mod: tea.ModCtrl},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl},
	"ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+y": {Code: 'y', Mod: tea.ModCtrl},
	"ctrl+_": {Code: '_', Mod: tea.ModCtrl}, "ctrl+/": {Code: '/', Mod: tea.ModCtrl},
	"kpleft":  {Code: tea.KeyKpLeft, Mod: tea.ModNumLock},
	"altgr+@": {Code: 'q', Mod: tea.ModCtrl | tea.ModAlt, Text: "@"},
	"shift+A": {Code: 'a', Mod: tea.ModShift | tea.ModCapsLock, Text: "A"},
	"space":   {Code: tea.KeySpace, Text: " "},
}

// pressField types text, a grapheme at a time, and keys in angle brackets. What is in «» is pasted.
func pressField(t *testing.T, f *Field, typed string) {
	t.Helper()
	for typed != "" {
		var msg tea.Msg
		switch {
		case typed[0] == '<':
			name, rest, _ := strings.Cut(typed[1:], ">")
			key, ok := keys[name]
			if !ok {
				t.Fatalf("unknown key %s", name)
			}
			msg, typed = tea.KeyPressMsg(key), rest
		case strings.HasPrefix(typed, "«"):
			text, rest, _ := strings.Cut(typed[len("«"):], "»")
			msg, typed = tea.PasteMsg{Content: text}, rest
		default:
			g := displaywidth.StringGraphemes(typed)
			g.Next()
			r, _ := utf8.DecodeRuneInString(g.Value())
			msg, typed = tea.KeyPressMsg{Code: r, Text: g.Value()}, typed[len(g.Value()):]
		}
		if !f.Update(msg) {
			t.Fatalf("%v is not taken", msg)
		}
	}
}

func TestFieldEdits(t *testing.T) {
	for typed, want := range map[string]string{ // the cursor is a |
		"":                                       "|",
		"one two":                                "one two|",
		"one<left><left>x":                       "ox|ne",
		"one<kpleft>x":                           "onx|e",
		"one<home>x":                             "x|one",
		"one<ctrl+a>x<ctrl+e>y":                  "xoney|",
		"one<home>x<end>y":                       "xoney|",
		"one<backspace><left><delete>":           "o|",
		"one two three<ctrl+left><ctrl+left>x":   "one x|two three",
		"one two<home><ctrl+right>x":             "onex| two",
		"one two<alt+b><alt+b><alt+f>x":          "onex| two",
		"one two<home><alt+d>":                   "| two",
		"one a-b<ctrl+w>":                        "one |",
		"one two<alt+b><ctrl+u>":                 "|two",
		"one two<alt+b><ctrl+k><ctrl+y><ctrl+y>": "one twotwo|",
		"one<ctrl+u>two<ctrl+_><ctrl+_>":         "one|",
		"one<ctrl+u><ctrl+/>":                    "one|",
		"a<altgr+@><shift+A><space>":             "a@A |",
		"«one\ntwo\r\nthree\rfour\n\n»":          "one two three four|",
		"«\x1b]52;c\x07 a\tb\x00\u0085»":         "]52;c a b|",
		"«a\u2028b»":                             "a b|",
		"«x\xffy»":                               "x\uFFFDy|",
		"«" + strings.Repeat("line\n", 20) + "»": strings.TrimSpace(strings.Repeat("line ", 20)) + "|",
		"e\u0301x<left><backspace>":              "|x",
		"👩‍👩‍👧日<left><left>x<right><backspace>": "x|日",
		"e<left>x<right>«\u0301»<backspace>":    "x|",
	} {
		f := &Field{}
		pressField(t, f, typed)
		before, _ := f.editor.Before()
		if got := before + "|" + f.Text()[len(before):]; got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}

// What leaves a field, and what is no text, is for its owner.
func TestFieldLeavesOtherKeys(t *testing.T) {
	f := NewField("one")
	for _, msg := range []tea.Msg{
		tea.KeyPressMsg{Code: tea.KeyEnter}, tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModShift},
		tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: tea.KeyTab},
		tea.KeyPressMsg{Code: tea.KeyUp}, tea.KeyPressMsg{Code: tea.KeyDown}, tea.KeyPressMsg{Code: tea.KeyF1},
		tea.KeyPressMsg{Code: 'p', Mod: tea.ModCtrl}, tea.KeyPressMsg{Code: 'n', Mod: tea.ModCtrl},
		tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl},
		tea.KeyPressMsg{Code: 'a', Mod: tea.ModCtrl | tea.ModSuper}, tea.KeyPressMsg{Code: 'x', Mod: tea.ModAlt, Text: "x"},
		tea.KeyReleaseMsg{Code: 'x', Text: "x"}, tea.WindowSizeMsg{},
	} {
		if f.Update(msg) || f.Text() != "one" {
			t.Errorf("%T %v was taken; the text is %q", msg, msg, f.Text())
		}
	}
}

func TestFieldIsBounded(t *testing.T) {
	long := strings.Repeat("é", maxBytes)
	f := NewField(long)
	pressField(t, f, "x«y»")
	if got := f.Text(); got != long[:maxBytes] {
		t.Errorf("the text has %d bytes: %s", len(got), got[:10])
	}
	pressField(t, f, "<backspace>x«1234»")
	if got := f.Text(); got != long[:maxBytes-2]+"x1" {
		t.Errorf("the text ends with %q", got[maxBytes-6:])
	}
}

func TestFieldView(t *testing.T) {
	for _, test := range []struct {
		typed   string
		columns int
		want    string // the cursor is a | before the character that it is on
	}{
		{"", 10, "|"},
		{"", 1, "|"},
		{"one", 4, "one|"},
		{"four", 4, "…ur|"},
		{"0123456789", 6, "…6789|"},
		{"0123456789<home>", 6, "|01234…"},
		{"0123456789<home><right><right><right>", 6, "012|34…"},
		{"0123456789<left>", 6, "…5678|9"},
		{"0123456789<ctrl+a><end><left><left><left><left><left>", 6, "…234|5…"},
		{"0123456789<backspace><backspace><backspace><backspace><backspace>", 6, "01234|"},
		{"日本語日本語", 8, "…日本語|"},
		{"日本語日本語<home><right>", 8, "日|本語…"},
		{"日本語日本語", 5, "…語|"},
		{"a\u202eb", 9, "a\uFFFDb|"},
		{"👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 6, "…👩‍👩‍👧👩‍👩‍👧|"},
		{"one", 3, "ne|"},
		{"日本", 1, "|"},
	} {
		f := &Field{}
		pressField(t, f, test.typed)
		text, cursor := f.View(test.columns)
		got := ""
		for g := displaywidth.StringGraphemes(text); g.Next(); {
			if displaywidth.String(got) == cursor {
				got += "|"
			}
			got += g.Value()
		}
		if !strings.Contains(got, "|") {
			got += "|"
		}
		if got != test.want {
			t.Errorf("%q in %d columns: got %q, cursor %d, want %q", test.typed, test.columns, got, cursor, test.want)
		}
	}
	f := NewField("0123456789")
	for _, want := range []string{
		"…6789|", "…5678|9", "…567|89", "…56|789", "…5|6789", "…|56789", "…|4567…", "…|3456…", "…|2345…", "…|1234…", "|01234…",
	} {
		text, cursor := f.View(6)
		before := displaywidth.TruncateString(text, cursor, "")
		if got := before + "|" + text[len(before):]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		pressField(t, f, "<left>")
	}
	if text, cursor := NewField("one").View(0); text != "" || cursor != 0 {
		t.Errorf("a window without columns has %q, %d", text, cursor)
	}
}

// Whatever is typed, the window has its width, the cursor is in it on its character, and the text is safe.
func TestFieldViewFits(t *testing.T) {
	pieces := []string{"a", " ", "日", "e\u0301", "👩‍👩‍👧", "\u200b", "🇩", "\x1b", "\u202e", "é", "\u0301", apptest.Hostile}
	var moves []tea.Key
	for _, key := range keys {
		if key.Text == "" {
			moves = append(moves, key)
		}
	}
	propertytest.Check(t, func(t *rapid.T) {
		f := &Field{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "paste") {
				f.Update(tea.PasteMsg{Content: rapid.SampledFrom(pieces).Draw(t, "piece")})
			} else {
				f.Update(tea.KeyPressMsg(moves[rapid.IntRange(0, len(moves)-1).Draw(t, "key")]))
			}
			columns := rapid.IntRange(1, 20).Draw(t, "columns")
			text, cursor := f.View(columns)
			if n := displaywidth.String(text); n > columns || cursor < 0 || cursor >= columns {
				t.Fatalf("%q has %d of %d columns, the cursor is at %d", text, n, columns, cursor)
			}
			if tty.SafeLine(text) != text || tty.SafeLine(f.Text()) != f.Text() && !strings.Contains(f.Text(), "\u202e") {
				t.Fatalf("%q of %q is not safe", text, f.Text())
			}
			before, _ := f.editor.Before()
			if len(before) < len(f.Text()) && columns >= 4 {
				g := displaywidth.StringGraphemes(f.Text()[len(before):])
				g.Next()
				under := displaywidth.TruncateString(text, cursor, "")
				if shown := tty.SafeLine(g.Value()); !strings.HasPrefix(text[len(under):], shown) && displaywidth.String(shown) > 0 {
					t.Fatalf("the cursor of %q is at %d, not on %q", text, cursor, shown)
				}
			}
		}
	})
}
