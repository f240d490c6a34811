package tty

// An Event is something that happens on a terminal: a [Key], a [Paste], a [Resize], a
// [Focus] or a [Background].
type Event interface{ isEvent() }

// Key is a key press. The terminal's ways to report the same key give equal Keys: Ctrl with a letter or a sign
// is Ctrl and the lower-case letter or the sign, Shift with a letter alone is the upper-case letter, Ctrl+I is Tab,
// Ctrl+M is Enter, Ctrl+[ is Escape, and Ctrl+/ is Ctrl+_. A key of the keypad is like the one beside the letters.
type Key struct {
	Code Code
	Mod  Mod
}

// Code is the character that a key types, or one of the keys below.
type Code rune

// The keys that type no character.
const (
	Enter Code = -1 - iota
	Tab
	Backspace
	Escape
	Up
	Down
	Left
	Right
	Home
	End
	PageUp
	PageDown
	insert
	Delete
)

// Mod is the set of modifiers that are held down.
type Mod uint8

// The modifiers. Keys with others are not reported.
const (
	Shift Mod = 1 << iota
	Alt
	Ctrl
)

// IsText reports whether the key types its Code as a character.
func (k Key) IsText() bool { return k.Code >= ' ' && k.Mod == 0 }

// Paste is pasted text in valid UTF-8, with newlines alone between lines. Other control characters are as they were
// pasted.
type Paste struct {
	Text    string
	Dropped int // the number of bytes after the first 16 MiB, which Text lacks
}

// Resize reports that the terminal has another size, or that what it shows is unknown, as after a suspension: the
// next frame has to be drawn.
type Resize struct{}

// Focus reports that the terminal has the focus of the keyboard from now on, or has it no longer.
type Focus struct{ In bool }

// Background reports whether the background of the terminal is light, as AskBackground asks.
type Background struct{ Light bool }

func (Background) isEvent() {}
func (Focus) isEvent()      {}
func (Key) isEvent()        {}
func (Paste) isEvent()      {}
func (Resize) isEvent()     {}
