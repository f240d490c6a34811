package editor

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// maxBytes is the length of the longest text, in bytes: that of a path on Linux.
const maxBytes = 4096

// A Field is a line of text that a user edits. The zero Field is empty. It is not for concurrent use.
type Field struct {
	editor Editor
	first  int // the first character of the window
}

// NewField returns a Field with a text and the cursor at its end.
func NewField(text string) *Field {
	f := &Field{}
	f.Set(text)
	return f
}

// Text returns the text. It has no line break, tab or other control character.
func (f *Field) Text() string { return f.editor.Text() }

// Set replaces the text and puts the cursor at its end.
func (f *Field) Set(text string) { f.editor.Set(runecut.Prefix(oneLine(text), maxBytes)) }

// Update edits the text. It reports whether msg is a key that edits or moves the cursor, or pasted text. The keys that
// leave a field, Enter, Escape, Tab, Up and Down, are not taken.
func (f *Field) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		f.editor.ReplaceBefore(0, f.fitting(msg.Content))
		return true
	case tea.KeyPressMsg:
		if typed(tea.Key(msg)) {
			f.editor.Type(f.fitting(msg.Text))
			return true
		}
		key, ok := keyOf(tea.Key(msg))
		return ok && f.editor.Press(key)
	}
	return false
}

// fitting returns as much of a text, as one line, as can be inserted.
func (f *Field) fitting(text string) string {
	return runecut.Prefix(oneLine(text), max(0, maxBytes-len(f.Text())))
}

// oneLine returns a text with blanks for line breaks, without those at its end, and without other control characters.
func oneLine(text string) string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\r\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// typed reports whether a key types text. Ctrl and Alt together are AltGr.
func typed(k tea.Key) bool {
	held := k.Mod &^ (tea.ModShift | tea.ModCapsLock | tea.ModNumLock | tea.ModScrollLock)
	return k.Text != "" && (held == 0 || held == tea.ModCtrl|tea.ModAlt)
}

// codes are the keys that move the cursor or remove text.
var codes = map[rune]tty.Code{
	tea.KeyLeft: tty.Left, tea.KeyRight: tty.Right, tea.KeyHome: tty.Home, tea.KeyEnd: tty.End,
	tea.KeyKpLeft: tty.Left, tea.KeyKpRight: tty.Right, tea.KeyKpHome: tty.Home, tea.KeyKpEnd: tty.End,
	tea.KeyDelete: tty.Delete, tea.KeyKpDelete: tty.Delete, tea.KeyBackspace: tty.Backspace,
}

// keyOf returns the key of the editor for a key that types nothing, if a field has a use for it.
func keyOf(k tea.Key) (key tty.Key, ok bool) {
	for mod, of := range map[tea.KeyMod]tty.Mod{tea.ModShift: tty.Shift, tea.ModAlt: tty.Alt, tea.ModCtrl: tty.Ctrl} {
		if k.Mod.Contains(mod) {
			key.Mod |= of
		}
	}
	if k.Mod&(tea.ModMeta|tea.ModHyper|tea.ModSuper) != 0 {
		return key, false
	}
	if key.Code, ok = codes[k.Code]; ok {
		return key, true
	}
	key.Code = tty.Code(k.Code)
	switch {
	case key.Mod == tty.Ctrl && k.Code == '/':
		key.Code = '_'
	case key.Mod == tty.Ctrl && strings.ContainsRune("jnp", k.Code): // a new line, and the keys like Up and Down
		return key, false
	}
	return key, k.Code > ' ' && k.Code < unicode.MaxRune
}
