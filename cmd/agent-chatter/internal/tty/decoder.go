package tty

import "unicode/utf8"

// maxSequence is how many bytes of an escape sequence are kept. The sequences of keys are shorter.
const maxSequence = 64

const (
	esc  = 0x1b
	bell = 0x07
)

// Decoder turns the input of a terminal into events. Where the input is split does not change the events. The zero
// Decoder is ready to use.
//
// An Escape byte is the Escape key or the beginning of a sequence: when [Decoder.Pending] is true and nothing
// arrives for a while, the caller has to call [Decoder.Flush]; and when [Decoder.Pasting] is true, after longer.
type Decoder struct {
	state  state
	seq    []byte // the sequence, or the character in UTF-8, that has begun
	alt    Mod    // Alt if an Escape byte came before the character, or before the Escape byte of the sequence
	pasted pasted
	events []Event
}

type state uint8

const (
	ground       state = iota
	character          // in seq, incomplete
	escaped            // after an Escape byte
	escapedTwice       // after two Escape bytes: of two keys, or of Alt with a key that sends a sequence
	control            // in a control sequence: after ESC [
	linuxKey           // after ESC [ [
	singleShift        // after ESC O
	text               // in the text of a command, such as a terminal's answer to a question
	textEscaped        // after an Escape byte in it
	pasting
)

// Feed returns the events that are complete with the next input.
func (d *Decoder) Feed(input []byte) []Event {
	d.events = nil
	for len(input) > 0 {
		if d.state == pasting {
			var ended bool
			if input, ended = d.pasted.add(input); ended {
				d.events = append(d.events, d.pasted.event())
				d.reset()
			}
			continue
		}
		if d.step(input[0]) {
			input = input[1:]
		}
	}
	return d.events
}

// Pending reports whether an Escape byte has begun something that has not ended, other than a paste or a character.
func (d *Decoder) Pending() bool {
	return d.state != ground && d.state != character && d.state != pasting
}

// Pasting reports whether a paste has begun and not ended.
func (d *Decoder) Pasting() bool { return d.state == pasting }

// Flush ends the sequence or the paste that has begun, because nothing has arrived for a while: an Escape byte alone
// is the Escape key. An incomplete sequence is dropped.
func (d *Decoder) Flush() []Event {
	d.events = nil
	if !d.Pending() && !d.Pasting() {
		return nil
	}
	switch {
	case d.state == pasting: // its end was lost: without it, no key would work any more
		d.events = append(d.events, d.pasted.event())
	case d.state == escaped:
		d.key(Key{Code: Escape})
	case d.state == escapedTwice:
		d.key(Key{Code: Escape})
		d.key(Key{Code: Escape})
	case d.state != textEscaped && len(d.seq) == 1: // Alt with the sign that begins a sequence
		d.firstEscape()
		d.key(Key{Code(d.seq[0]), Alt})
	default:
		d.firstEscape()
	}
	d.reset()
	return d.events
}

// firstEscape reports the first of two Escape bytes, if what follows the second one is no key.
func (d *Decoder) firstEscape() {
	if d.alt != 0 {
		d.key(Key{Code: Escape})
	}
}

func (d *Decoder) reset() { d.state, d.seq, d.alt = ground, d.seq[:0], 0 }

func (d *Decoder) key(k Key) { d.events = append(d.events, k) }

// step takes a byte. It returns false if the byte has ended what came before it, and has to be taken again.
func (d *Decoder) step(b byte) bool {
	switch d.state {
	case ground:
		d.first(b)
		return true
	case character:
		return d.continued(b)
	case escaped:
		return d.afterEscape(b)
	case escapedTwice:
		return d.afterTwoEscapes(b)
	case text, textEscaped:
		return d.inText(b)
	}
	if b < ' ' || b >= 0x7f { // the sequence is broken off
		d.firstEscape()
		d.reset()
		return false
	}
	if len(d.seq) < maxSequence {
		d.seq = append(d.seq, b)
	}
	switch {
	case d.state == control && len(d.seq) == 2 && b == '[':
		d.state = linuxKey
	case d.state == linuxKey:
		d.firstEscape()
		d.reset()
	case d.state == control && len(d.seq) == maxSequence && b >= '@': // its end may not be in seq
		d.firstEscape()
		d.reset()
	case d.state == singleShift && (b < '0' || b > '9'), d.state == control && endsControl(d.seq):
		d.complete()
	}
	return true
}

// first takes a byte that begins a key.
func (d *Decoder) first(b byte) {
	switch {
	case b == esc:
		d.state = escaped
	case b < utf8.RuneSelf:
		d.key(controlKey(b, d.alt))
		d.alt = 0
	default:
		d.state, d.seq = character, append(d.seq[:0], b)
		d.continueCharacter()
	}
}

// continued takes a byte after the first of a character.
func (d *Decoder) continued(b byte) bool {
	if utf8.RuneStart(b) {
		d.invalid()
		return false
	}
	d.seq = append(d.seq, b)
	d.continueCharacter()
	return true
}

// continueCharacter reports the character if it is complete or invalid.
func (d *Decoder) continueCharacter() {
	if !utf8.FullRune(d.seq) {
		return
	}
	r, size := utf8.DecodeRune(d.seq)
	if size < len(d.seq) {
		d.invalid()
		return
	}
	if r >= 0xa0 { // C1 control characters are no keys
		d.key(Key{Code(r), d.alt})
	}
	d.reset()
}

// invalid reports bytes that are no character, as one.
func (d *Decoder) invalid() {
	d.key(Key{utf8.RuneError, d.alt})
	d.reset()
}

func (d *Decoder) afterEscape(b byte) bool {
	d.alt = Alt
	switch b {
	case esc:
		d.state, d.alt = escapedTwice, 0
	case '[':
		d.begin(control, b)
	case 'O':
		d.begin(singleShift, b)
	case ']', 'P', 'X', '^', '_':
		d.begin(text, b)
	default:
		d.state = ground
		d.first(b)
	}
	return true
}

func (d *Decoder) begin(s state, b byte) {
	d.state, d.seq = s, append(d.seq[:0], b)
	d.alt = 0
}

// afterTwoEscapes takes the byte after two Escape bytes. Some terminals send them for Alt with an arrow.
func (d *Decoder) afterTwoEscapes(b byte) bool {
	switch b {
	case '[', 'O':
		d.afterEscape(b)
		d.alt = Alt
	default:
		d.key(Key{Code: Escape})
		d.state = escaped
		return false
	}
	return true
}

// inText takes the text of a command, which BEL or ESC \ ends, and any other control character breaks off. Only the
// answer to AskBackground matters.
func (d *Decoder) inText(b byte) bool {
	switch {
	case d.state == textEscaped && b != '\\':
		d.reset()
		d.state = escaped
		return false
	case d.state == textEscaped, b == bell:
		if light, ok := isLight(string(d.seq)); ok {
			d.events = append(d.events, Background{Light: light})
		}
		d.reset()
	case b == esc:
		d.state = textEscaped
	case b < ' ':
		d.reset()
		return false
	case len(d.seq) < maxSequence:
		d.seq = append(d.seq, b)
	}
	return true
}

// complete reports the key of a sequence, or begins a paste.
func (d *Decoder) complete() {
	k, ok := decodeSequence(d.seq)
	pastes := string(d.seq) == "[200~"
	switch {
	case ok:
		k.Mod |= d.alt
		d.key(k)
	case string(d.seq) == "[I", string(d.seq) == "[O":
		d.firstEscape()
		d.events = append(d.events, Focus{In: d.seq[1] == 'I'})
	default:
		d.firstEscape()
	}
	d.reset()
	if pastes {
		d.state, d.pasted = pasting, pasted{}
	}
}
