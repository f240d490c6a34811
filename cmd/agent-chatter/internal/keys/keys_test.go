package keys

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

func TestNamesOfKeys(t *testing.T) {
	for name, want := range map[string]tty.Key{
		"ctrl+t": {Code: 't', Mod: tty.Ctrl}, "Alt+Enter": {Code: tty.Enter, Mod: tty.Alt}, "page-up": {Code: tty.PageUp},
		"ctrl+alt+left": {Code: tty.Left, Mod: tty.Ctrl | tty.Alt}, "shift+tab": {Code: tty.Tab, Mod: tty.Shift},
		"ctrl+space": {Code: ' ', Mod: tty.Ctrl}, "alt+é": {Code: 'é', Mod: tty.Alt}, "ctrl+_": {Code: '_', Mod: tty.Ctrl},
	} {
		got, err := Parse(name)
		if err != nil || got != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
		if Name(got) != strings.ToLower(name) {
			t.Errorf("the name of %s is %s", name, Name(got))
		}
	}
	for name, want := range map[string]string{
		"": "is no key", "t": "types a character", "space": "types a character", "shift+t": "types a character",
		"ctrl+": "is no key", "f1": "is no key", "ctrl+i": "tab, enter or escape", "ctrl+[": "tab, enter or escape",
	} {
		if key, err := Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v", name, key, err)
		}
	}
}

func TestBindings(t *testing.T) {
	b, err := New(map[string]string{"ctrl+t": "output", "alt+o": "output", "ctrl+l": "none", "ctrl+o": "search"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ctrl+t": "ctrl+o", "alt+o": "ctrl+o", "ctrl+o": "ctrl+r", "ctrl+r": "ctrl+r", "enter": "enter", "ctrl+l": "",
	} {
		key, _ := Parse(name)
		effect, ok := b.Of(key)
		if ok != (want != "") || ok && Name(effect) != want {
			t.Errorf("%s has the effect of %s, %v; want %q", name, Name(effect), ok, want)
		}
	}
	for _, a := range Actions() {
		got := strings.Join(b.For(a), " ")
		if want := map[string]string{"output": "alt+o ctrl+t", "search": "ctrl+r ctrl+o", "clear-screen": "", "send": "enter"}; a.Name == "send" || want[a.Name] != "" || a.Name == "clear-screen" {
			if got != want[a.Name] {
				t.Errorf("the keys of %s are %q", a.Name, got)
			}
		}
	}
	for key, action := range map[string]string{"ctrl+c": "none", "ctrl+t": "outptu", "x": "send"} {
		if b, err := New(map[string]string{key: action}); err == nil {
			t.Errorf("%s as %s: %v", key, action, b)
		}
	}
}
