package keys

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// An Action is what a key does.
type Action struct {
	Name string
	Key  tty.Key // the key by default
	Help string
}

// Actions returns all actions. Other keys that do the same, such as Left for Ctrl+B, are not listed.
func Actions() []Action {
	ctrl := func(c rune) tty.Key { return tty.Key{Code: tty.Code(c), Mod: tty.Ctrl} }
	alt := func(c rune) tty.Key { return tty.Key{Code: tty.Code(c), Mod: tty.Alt} }
	return []Action{
		{"send", tty.Key{Code: tty.Enter}, "send the message"},
		{"new-line", ctrl('j'), "begin a new line"},
		{"complete", tty.Key{Code: tty.Tab}, "complete a command, a member or a path"},
		{"previous", tty.Key{Code: tty.Up}, "the row above, an earlier message, or the last queued one"},
		{"next", tty.Key{Code: tty.Down}, "the row below, or a later message"},
		{"interrupt", tty.Key{Code: tty.Escape}, "interrupt the agent"},
		{"leave", ctrl('c'), "clear the text, interrupt the agent, or leave"},
		{"end", ctrl('d'), "in an empty input box: save and leave"},
		{"search", ctrl('r'), "search your earlier messages"},
		{"output", ctrl('o'), "show the tools and their results"},
		{"paste-picture", ctrl('v'), "paste the picture of the clipboard"},
		{"editor", ctrl('g'), "edit the message in an editor"},
		{"clear-screen", ctrl('l'), "clear the screen"},
		{"suspend", ctrl('z'), "stop the program until fg"},
		{"undo", ctrl('_'), "undo a change of the text"},
		{"yank", ctrl('y'), "insert what was removed last"},
		{"line-start", ctrl('a'), "to the start of the line"},
		{"line-end", ctrl('e'), "to the end of the line"},
		{"word-left", alt('b'), "a word to the left"},
		{"word-right", alt('f'), "a word to the right"},
		{"remove-word", ctrl('w'), "remove the word before the cursor"},
		{"remove-before", ctrl('u'), "remove the line before the cursor"},
		{"remove-after", ctrl('k'), "remove the line after the cursor"},
	}
}

// None is bound to a key that has no effect.
const None = "none"

// Bindings are the actions of keys that have others by default, or none. A nil Bindings changes nothing.
type Bindings map[tty.Key]Action

// New returns the bindings of a configuration, from the names of keys to those of actions.
func New(names map[string]string) (Bindings, error) {
	b := Bindings{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		key, err := Parse(name)
		if err != nil {
			return nil, err
		}
		if key == (tty.Key{Code: 'c', Mod: tty.Ctrl}) {
			return nil, errors.New(`"ctrl+c" cannot have another effect: it leaves the chat`)
		}
		action, err := byName(names[name])
		if err != nil {
			return nil, err
		}
		b[key] = action
	}
	return b, nil
}

func byName(name string) (Action, error) {
	names := []string{None}
	for _, a := range Actions() {
		if names = append(names, a.Name); a.Name == name {
			return a, nil
		}
	}
	if name == None {
		return Action{Name: None}, nil
	}
	return Action{}, fmt.Errorf("%q is none of the actions %s", name, strings.Join(names, ", "))
}

// Of returns the key whose default effect a key has; ok is false if it has none.
func (b Bindings) Of(key tty.Key) (effect tty.Key, ok bool) {
	action, bound := b[key]
	switch {
	case !bound:
		return key, true
	case action.Name == None:
		return tty.Key{}, false
	}
	return action.Key, true
}

// For returns the keys of an action, its default one first unless that is bound to another action.
func (b Bindings) For(a Action) (keys []string) {
	if _, bound := b[a.Key]; !bound {
		keys = append(keys, Name(a.Key))
	}
	var others []string
	for key, bound := range b {
		if bound.Name == a.Name && key != a.Key {
			others = append(others, Name(key))
		}
	}
	slices.Sort(others)
	return append(keys, others...)
}

var codes = map[string]tty.Code{
	"enter": tty.Enter, "tab": tty.Tab, "backspace": tty.Backspace, "escape": tty.Escape,
	"up": tty.Up, "down": tty.Down, "left": tty.Left, "right": tty.Right, "home": tty.Home, "end": tty.End,
	"page-up": tty.PageUp, "page-down": tty.PageDown, "delete": tty.Delete, "space": ' ',
}

// Parse returns the key of a name such as ctrl+t, alt+enter or page-up. Without ctrl or alt, a key that types a
// character has no other effect.
func Parse(name string) (tty.Key, error) {
	var key tty.Key
	rest := strings.ToLower(name)
	for prefix, mod := range map[string]tty.Mod{"ctrl+": tty.Ctrl, "alt+": tty.Alt, "shift+": tty.Shift} {
		if strings.Contains(rest, prefix) {
			rest = strings.Replace(rest, prefix, "", 1)
			key.Mod |= mod
		}
	}
	code, named := codes[rest]
	if r, size := utf8.DecodeRuneInString(rest); !named && size == len(rest) && r > ' ' && r != utf8.RuneError {
		code, named = tty.Code(r), true
	}
	key.Code = code
	switch {
	case !named:
		return key, fmt.Errorf("%q is no key; write, for example, ctrl+t, alt+enter or page-up", name)
	case key.Code >= ' ' && key.Mod&^tty.Shift == 0:
		return key, fmt.Errorf("the key %q types a character; add ctrl or alt", name)
	case key.Mod&tty.Ctrl != 0 && strings.ContainsRune("im[", rune(max(key.Code, 0))):
		return key, fmt.Errorf("terminals report %q as tab, enter or escape", name)
	}
	return key, nil
}

// Name returns the name of a key, which Parse reads.
func Name(key tty.Key) string {
	var b strings.Builder
	for _, m := range []struct {
		mod  tty.Mod
		name string
	}{{tty.Ctrl, "ctrl+"}, {tty.Alt, "alt+"}, {tty.Shift, "shift+"}} {
		if key.Mod&m.mod != 0 {
			b.WriteString(m.name)
		}
	}
	for name, code := range codes {
		if code == key.Code {
			return b.String() + name
		}
	}
	return b.String() + string(rune(key.Code))
}
