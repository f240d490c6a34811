package tty

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The keys of sequences that end in a letter, after ESC [ or ESC O.
var letterKeys = map[byte]Code{
	'A': Up, 'B': Down, 'C': Right, 'D': Left, 'F': End, 'H': Home,
}

// The keys of rxvt: a lower-case letter is Shift after ESC [, and Ctrl after ESC O.
var rxvtKeys = map[byte]Code{'a': Up, 'b': Down, 'c': Right, 'd': Left}

// The keys of sequences ESC [ number ~.
var numberedKeys = map[int]Code{
	1: Home, 2: insert, 3: Delete, 4: End, 5: PageUp, 6: PageDown, 7: Home, 8: End,
}

// The signs of a keypad that is in the mode for applications, after ESC O.
var keypadSigns = map[byte]Code{
	'M': Enter, 'X': '=', 'j': '*', 'k': '+', 'l': ',', 'm': '-', 'n': '.', 'o': '/',
}

// The keys of the keypad in the kitty keyboard protocol, from 57399 on.
var kittyKeypad = []Code{
	'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '/', '*', '-', '+', Enter, '=', ',',
	Left, Right, Up, Down, PageUp, PageDown, Home, End, insert, Delete,
}

const kittyKeypadStart = 57399

// controlKey returns the key that a byte below 0x80 reports.
func controlKey(b byte, alt Mod) Key {
	switch {
	case b == '\r':
		return Key{Enter, alt}
	case b == '\t':
		return Key{Tab, alt}
	case b == esc:
		return Key{Escape, alt}
	case b == 0x7f:
		return Key{Backspace, alt}
	case b == 0:
		return Key{' ', alt | Ctrl}
	case b < ' ':
		return Key{Code(unicode.ToLower(rune(b + '@'))), alt | Ctrl}
	}
	return Key{Code(b), alt}
}

// endsControl reports whether a control sequence is complete. That of rxvt for Shift with a key ends in $.
func endsControl(seq []byte) bool {
	last := seq[len(seq)-1]
	if last == '$' {
		_, err := strconv.Atoi(string(seq[1 : len(seq)-1]))
		return err == nil
	}
	return last >= 0x40
}

// decodeSequence returns the key of a sequence without its Escape byte; ok is false for those of no known key.
func decodeSequence(seq []byte) (k Key, ok bool) {
	last := seq[len(seq)-1]
	p, ok := parseParameters(string(seq[1 : len(seq)-1]))
	if !ok {
		return Key{}, false
	}
	if seq[0] == 'O' {
		return singleShiftKey(last, p.at(len(p)-1, 0))
	}
	first, modifiers := p.at(0, 0), p.at(1, 0)
	switch last {
	case '~':
		if first == 27 && len(p) == 3 { // modifyOtherKeys of xterm
			return typedKey(p.at(2, 0), 0, modifiers)
		}
		return modified(numberedKeys, first, modifiers)
	case 'u': // key[:shifted]; modifiers[:event] of the kitty keyboard protocol, or modifyOtherKeys
		const released = 3
		if i := first - kittyKeypadStart; i >= 0 && i < len(kittyKeypad) {
			first = int(kittyKeypad[i])
		}
		k, ok = typedKey(first, p.at(0, 1), modifiers)
		return k, ok && p.at(1, 1) != released
	case '$': // rxvt
		return modified(numberedKeys, first, 1+int(Shift))
	case '^':
		return modified(numberedKeys, first, 1+int(Ctrl))
	case '@':
		return modified(numberedKeys, first, 1+int(Ctrl|Shift))
	case 'a', 'b', 'c', 'd':
		return modified(rxvtKeys, last, 1+int(Shift))
	case 'Z':
		mod, ok := decodeModifiers(modifiers)
		return Key{Tab, mod | Shift}, ok
	}
	return modified(letterKeys, last, modifiers)
}

// singleShiftKey returns the key of ESC O. Old terminals put the modifiers before the letter.
func singleShiftKey(last byte, modifiers int) (Key, bool) {
	switch {
	case last >= 'p' && last <= 'y':
		return Key{Code: Code(last - 'p' + '0')}, true
	case rxvtKeys[last] != 0:
		return modified(rxvtKeys, last, 1+int(Ctrl))
	case keypadSigns[last] != 0:
		return modified(keypadSigns, last, modifiers)
	}
	return modified(letterKeys, last, modifiers)
}

// parameters are the numbers of a sequence, which may have parts.
type parameters [][]int

func parseParameters(text string) (p parameters, ok bool) {
	for field := range strings.SplitSeq(text, ";") {
		var parts []int
		for part := range strings.SplitSeq(field, ":") {
			n, err := strconv.ParseUint("0"+part, 10, 31)
			if err != nil {
				return nil, false
			}
			parts = append(parts, int(n))
		}
		p = append(p, parts)
	}
	return p, true
}

// at returns a part of a number, 0 if it is not given.
func (p parameters) at(i, part int) int {
	if i < len(p) && part < len(p[i]) {
		return p[i][part]
	}
	return 0
}

// modified returns a key of a table with the modifiers of a sequence.
func modified[T comparable](keys map[T]Code, name T, modifiers int) (Key, bool) {
	code, known := keys[name]
	mod, ok := decodeModifiers(modifiers)
	return Key{code, mod}, known && ok
}

// decodeModifiers decodes a number that is 1 more than the bits of the modifiers, or 0 without any. ok is false if
// modifiers without a name here are held down; Caps Lock and Num Lock do not matter.
func decodeModifiers(number int) (mod Mod, ok bool) {
	const locks = 64 | 128
	bits := max(0, number-1) &^ locks
	return Mod(bits), bits <= int(Shift|Alt|Ctrl)
}

// typedKey returns the key that types a character, or one of the keys below 0, in its only form. shifted is what the
// key types with Shift, or 0 if that is unknown.
func typedKey(code, shifted, modifiers int) (Key, bool) {
	mod, ok := decodeModifiers(modifiers)
	switch {
	case !ok:
		return Key{}, false
	case code < 0:
		return Key{Code(code), mod}, true
	case code == '\b':
		return Key{Backspace, mod}, true
	case code < ' ' || code == 0x7f:
		k := controlKey(byte(code), 0)
		k.Mod |= mod
		return k, true
	case code < 0xa0 && code > 0x7f, code >= 0xe000 && code < 0xf900, !utf8.ValidRune(rune(code)):
		return Key{}, false // a control character, or the kitty keyboard protocol's number of another key
	case mod&Ctrl != 0:
		return controlForm(unicode.ToLower(rune(code)), mod), true
	case mod&Shift != 0 && utf8.ValidRune(rune(shifted)) && shifted >= ' ':
		code = shifted
	case mod&Shift != 0:
		code = int(unicode.ToUpper(rune(code)))
	}
	return Key{Code(code), mod &^ Shift}, true
}

// controlForm returns a key with Ctrl as the control character reports it, if there is one. Shift matters only for
// letters.
func controlForm(r rune, mod Mod) Key {
	if unicode.IsLetter(r) {
		if mod&Shift == 0 && (r == 'i' || r == 'm') {
			return controlKey(byte(r&0x1f), mod&Alt)
		}
		return Key{Code(r), mod}
	}
	switch {
	case r == '[':
		return Key{Escape, mod & Alt}
	case r == '/', r == '-' && mod&Shift != 0:
		r = '_'
	case r == '@', r == '2' && mod&Shift != 0:
		r = ' '
	case r == '6' && mod&Shift != 0:
		r = '^'
	}
	return Key{Code(r), mod &^ Shift}
}
