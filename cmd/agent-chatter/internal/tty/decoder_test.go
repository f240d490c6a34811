package tty

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// decode returns the events of an input that ends there.
func decode(input string) []Event {
	var d Decoder
	return append(d.Feed([]byte(input)), d.Flush()...)
}

func TestDecoderKnowsKeys(t *testing.T) {
	for _, test := range []struct {
		want   Key
		inputs []string
	}{
		{Key{'a', 0}, []string{"a", "\x1b[97u", "\x1b[97;65u"}},
		{Key{'A', 0}, []string{"A", "\x1b[97;2u", "\x1b[97:65;2u", "\x1b[27;2;65~", "\x1b[65;2u"}},
		{Key{' ', 0}, []string{" ", "\x1b[32u", "\x1b[32;2u", "\x1b[97:32;2u"}},
		{Key{'a', 0}, []string{"\x1b[97:65u"}},
		{Key{'A', 0}, []string{"\x1b[97:55296;2u"}},
		{Key{'\u00a0', 0}, []string{"\u00a0", "\x1b[160u"}},
		{Key{0xf900, 0}, []string{"\x1b[63744u"}},
		{Key{'!', 0}, []string{"!", "\x1b[49:33;2u", "\x1b[27;2;33~"}},
		{Key{'ä', 0}, []string{"ä", "\x1b[228u"}},
		{Key{'Ä', 0}, []string{"Ä", "\x1b[228;2u"}},
		{Key{'界', 0}, []string{"界"}},
		{Key{'\u200d', 0}, []string{"\u200d"}},
		{Key{utf8.RuneError, 0}, []string{"\xff", "\x80", "\ufffd"}},
		{Key{'b', Alt}, []string{"\x1bb", "\x1b[98;3u", "\x1b[27;3;98~"}},
		{Key{'B', Alt}, []string{"\x1bB", "\x1b[98;4u", "\x1b[27;4;66~"}},
		{Key{'ä', Alt}, []string{"\x1bä", "\x1b[228;3u"}},
		{Key{'[', Alt}, []string{"\x1b[", "\x1b[91;3u"}},
		{Key{'O', Alt}, []string{"\x1bO", "\x1b[111;4u"}},
		{Key{']', Alt}, []string{"\x1b]", "\x1b[93;3u"}},
		{Key{'c', Ctrl}, []string{"\x03", "\x1b[99;5u", "\x1b[27;5;99~", "\x1b[99;69u", "\x1b[99;5:1u"}},
		{Key{'c', Ctrl | Shift}, []string{"\x1b[99;6u", "\x1b[27;6;67~"}},
		{Key{'c', Ctrl | Alt}, []string{"\x1b\x03", "\x1b[99;7u"}},
		{Key{'i', Ctrl | Shift}, []string{"\x1b[105;6u"}},
		{Key{'2', Ctrl}, []string{"\x1b[50;5u"}},
		{Key{' ', Ctrl}, []string{"\x00", "\x1b[0u", "\x1b[50;6u", "\x1b[32;5u", "\x1b[64;5u"}},
		{Key{'_', Ctrl}, []string{"\x1f", "\x1b[47;5u", "\x1b[95;5u", "\x1b[45;6u", "\x1b[27;6;95~"}},
		{Key{'\\', Ctrl}, []string{"\x1c", "\x1b[92;5u"}},
		{Key{'^', Ctrl}, []string{"\x1e", "\x1b[94;5u", "\x1b[54;6u"}},
		{Key{'6', Ctrl}, []string{"\x1b[54;5u"}},
		{Key{'h', Ctrl}, []string{"\b", "\x1b[104;5u"}},
		{Key{'j', Ctrl}, []string{"\n", "\x1b[106;5u", "\x1b[27;5;106~"}},
		{Key{Enter, 0}, []string{"\r", "\x1b[13u", "\x1b[109;5u", "\x1bOM", "\x1b[57414u"}},
		{Key{Enter, Shift}, []string{"\x1b[13;2u", "\x1b[27;2;13~", "\x1bO2M"}},
		{Key{Enter, Alt}, []string{"\x1b\r", "\x1b[13;3u"}},
		{Key{Enter, Ctrl}, []string{"\x1b[13;5u", "\x1b[27;5;13~"}},
		{Key{Tab, 0}, []string{"\t", "\x1b[9u", "\x1b[105;5u"}},
		{Key{Tab, Shift}, []string{"\x1b[Z", "\x1b[1;2Z", "\x1b[9;2u", "\x1b[27;2;9~"}},
		{Key{Backspace, 0}, []string{"\x7f", "\x1b[127u"}},
		{Key{Backspace, Alt}, []string{"\x1b\x7f", "\x1b[127;3u"}},
		{Key{Backspace, Ctrl}, []string{"\x1b[127;5u", "\x1b[27;5;8~"}},
		{Key{Escape, 0}, []string{"\x1b", "\x1b[27u", "\x1b[27;1u", "\x1b[91;5u"}},
		{Key{Up, 0}, []string{"\x1b[A", "\x1bOA", "\x1b[1;1A", "\x1b[1;129A", "\x1b[57419u"}},
		{Key{Down, 0}, []string{"\x1b[B", "\x1bOB"}},
		{Key{Up, Alt}, []string{"\x1b\x1b[A", "\x1b\x1bOA", "\x1b[1;3A"}},
		{Key{Left, Ctrl}, []string{"\x1b[1;5D", "\x1bOd", "\x1bO5D"}},
		{Key{Right, Shift}, []string{"\x1b[1;2C", "\x1b[c"}},
		{Key{Right, Ctrl | Shift}, []string{"\x1b[1;6C"}},
		{Key{Right, Ctrl | Alt | Shift}, []string{"\x1b[1;8C"}},
		{Key{Left, 0}, []string{"\x1bO0D"}},
		{Key{Home, 0}, []string{"\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "\x1b[57423u"}},
		{Key{End, 0}, []string{"\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "\x1b[57424u"}},
		{Key{Home, Ctrl}, []string{"\x1b[1;5H", "\x1b[1;5~", "\x1b[7^"}},
		{Key{End, Shift}, []string{"\x1b[1;2F", "\x1b[8$"}},
		{Key{Home, Ctrl | Shift}, []string{"\x1b[1;6H", "\x1b[7@"}},
		{Key{insert, 0}, []string{"\x1b[2~"}},
		{Key{Delete, 0}, []string{"\x1b[3~", "\x1b[3;1;1~"}},
		{Key{Delete, Ctrl}, []string{"\x1b[3;5~", "\x1b[3^"}},
		{Key{PageUp, 0}, []string{"\x1b[5~"}},
		{Key{PageDown, 0}, []string{"\x1b[6~"}},
		{Key{'0', 0}, []string{"\x1bOp", "\x1b[57399u"}},
		{Key{'9', 0}, []string{"\x1bOy"}},
		{Key{'7', 0}, []string{"\x1bOw", "\x1b[57406u"}},
		{Key{'+', 0}, []string{"\x1bOk", "\x1b[57413u"}},
	} {
		for _, input := range test.inputs {
			if got := decode(input); !slices.Equal(got, []Event{test.want}) {
				t.Errorf("%q is %v, want %v", input, got, test.want)
			}
		}
	}
}

func TestKeysThatAreText(t *testing.T) {
	for k, want := range map[Key]bool{
		{' ', 0}: true, {'a', 0}: true, {0x1f, 0}: false, {Enter, 0}: false, {'a', Alt}: false, {Up, Shift}: false,
	} {
		if got := k.IsText(); got != want {
			t.Errorf("%v: %v", k, got)
		}
	}
}

func TestDecoderIgnoresUnknownSequences(t *testing.T) {
	for _, input := range []string{
		"\x1b[15~", "\x1bOP", "\x1b[[A", "\x1b[?2026;1$y", "\x1b[?62;22c", "\x1b[3;4R", "\x1b[99;9u", "\x1b[99;5:3u", "\x1b[57441u", "\x1b[99999999999999999999u", "\x1b[55296u", "\x1b[1114112u",
		"\x1b]10;rgb:ffff/ffff/ffff\a", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1bP>|tmux 3.3a\x1b\\", "\x1b_Gi=1;OK\x1b\\",
		"\x1b[1 q", "\x1b[27~", "\x1bO9D", "\x1b[2147483648A", "\x1b[128u", "\x1b[159u", "\x1b[57344u", "\x1b[63743u",
		fmt.Sprintf("\x1b[%du", kittyKeypadStart+len(kittyKeypad)),
		"\x1b[<0;10;10M", "\u009b", "\x1b[" + strings.Repeat("1;", 1000) + "A", "\x1b[1;",
	} {
		if got := decode(input); len(got) > 0 {
			t.Errorf("%q is %v", input, got)
		}
		if got := decode(input + "x"); strings.HasSuffix(input, "A") && !slices.Equal(got, []Event{Key{Code: 'x'}}) {
			t.Errorf("%q and x are %v", input, got)
		}
		if got := decode(input + "\rx"); input != "\x1b[1;" && !slices.Equal(got, []Event{Key{Code: Enter}, Key{Code: 'x'}}) {
			t.Errorf("%q, Enter and x are %v", input, got)
		}
	}
}

func TestDecoderTellsEscapeFromAlt(t *testing.T) {
	long := strings.Repeat("1;", 1000)
	for input, want := range map[string][]Event{
		"\x1b\x1b":                {Key{Code: Escape}, Key{Code: Escape}},
		"\x1b\x1bb":               {Key{Code: Escape}, Key{'b', Alt}},
		"\x1b\x1b\x1b":            {Key{Code: Escape}, Key{Code: Escape}, Key{Code: Escape}},
		"\x1b\x1b[[A":             {Key{Code: Escape}},
		"\x1b\x1b[":               {Key{Code: Escape}, Key{'[', Alt}},
		"\x1b\x1b[1":              {Key{Code: Escape}},
		"\x1b\x1b[1\r":            {Key{Code: Escape}, Key{Code: Enter}},
		"\x1b\x1b[I":              {Key{Code: Escape}, Focus{In: true}},
		"\x1bbc":                  {Key{'b', Alt}, Key{Code: 'c'}},
		"\x1b[1\x7f":              {Key{Code: Backspace}},
		"\x1bO[x":                 {Key{Code: 'x'}},
		"\x1b[1[x":                {Key{Code: 'x'}},
		"\x1b[[1x":                {Key{Code: 'x'}},
		"\x1b[" + long + "@x":     {Key{Code: 'x'}},
		"\x1b\x1b[" + long + "A":  {Key{Code: Escape}},
		"\x1b\x1b[200~a\x1b[201~": {Key{Code: Escape}, Paste{Text: "a"}},
		"\x1b[\x1b[A":             {Key{Code: Up}},
		"\x1b[1\x03":              {Key{'c', Ctrl}},
		"\x1b[1ä":                 {Key{Code: 'ä'}},
		"\x1b]1;\r":               {Key{Code: Enter}},
		"\x1b]1;\x1bb":            {Key{'b', Alt}},
		"\xe0\x80":                {Key{Code: utf8.RuneError}},
		"\x1b\xe0\x80a":           {Key{utf8.RuneError, Alt}, Key{Code: 'a'}},
		"\xe7\x95a":               {Key{Code: utf8.RuneError}, Key{Code: 'a'}},
	} {
		if got := decode(input); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", input, got, want)
		}
	}
	var d Decoder
	d.Feed([]byte("\x1b"))
	if !d.Pending() {
		t.Error("an Escape byte is not pending")
	}
	if got := d.Flush(); !slices.Equal(got, []Event{Key{Code: Escape}}) {
		t.Errorf("after a while it is %v", got)
	}
	if got := d.Feed([]byte("b")); !slices.Equal(got, []Event{Key{Code: 'b'}}) || d.Pending() {
		t.Errorf("the next key is %v", got)
	}
	d.Feed([]byte("\xe7"))
	if d.Pending() {
		t.Error("a part of a character is pending")
	}
}

func TestDecoderReportsPasteAsOneEvent(t *testing.T) {
	for pasted, want := range map[string]string{
		"":                          "",
		"one\rtwo\r\nthree\nfour":   "one\ntwo\nthree\nfour",
		"\x1b[A\x03\t\x1b[201 ~":    "\x1b[A\x03\t\x1b[201 ~",
		"\x1b\x1b[20\x1b[201":       "\x1b\x1b[20\x1b[201",
		"\xff界":                     "\ufffd界",
		strings.Repeat("x", 100000): strings.Repeat("x", 100000),
	} {
		got := decode("\x1b[200~" + pasted + "\x1b[201~a")
		if !slices.Equal(got, []Event{Paste{Text: want}, Key{Code: 'a'}}) {
			t.Errorf("%.40q is %.200v", pasted, got)
		}
	}
}

func TestDecoderEndsPasteWhoseEndIsLost(t *testing.T) {
	var d Decoder
	d.Feed([]byte("\x1b[200~one\rtwo"))
	if d.Pending() || !d.Pasting() {
		t.Error("no paste has begun")
	}
	if got := d.Flush(); !slices.Equal(got, []Event{Paste{Text: "one\ntwo"}}) || d.Pasting() {
		t.Errorf("after a while it is %v", got)
	}
	if got := d.Feed([]byte("\x03")); !slices.Equal(got, []Event{Key{'c', Ctrl}}) {
		t.Errorf("the next key is %v", got)
	}
}

func TestDecoderBoundsPaste(t *testing.T) {
	racetest.SkipSequential(t)
	var d Decoder
	d.Feed([]byte("\x1b[200~"))
	part := []byte(strings.Repeat("x", 1<<20))
	for range maxPasted>>20 + 3 {
		d.Feed(part)
	}
	if kept := cap(d.pasted.text); kept > 2*maxPasted {
		t.Errorf("it keeps %d bytes", kept)
	}
	p, ok := d.Feed([]byte("\x1b[201~"))[0].(Paste)
	if !ok || len(p.Text) != maxPasted || p.Dropped != 3<<20 {
		t.Errorf("the text has %d bytes, %d were dropped", len(p.Text), p.Dropped)
	}
}

// FuzzDecoder splits the input and repeats text between sequences.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{"hello", "\x1b[1;5A\x1b[13;2u", "\x1b[200~a\r\nb\x1b[201~", "\x1b\x1b[A\x1b]0;x\a", "\xe7\x95\x8c\xff"} {
		f.Add([]byte(seed), "text")
	}
	f.Fuzz(func(t *testing.T, input []byte, text string) {
		var whole, bytewise Decoder
		want := append(whole.Feed(input), whole.Flush()...)
		var got []Event
		for i := range input {
			got = append(got, bytewise.Feed(input[i:i+1])...)
		}
		if got = append(got, bytewise.Flush()...); !slices.Equal(got, want) {
			t.Fatalf("%q is %v, byte by byte %v", input, want, got)
		}
		if whole.state == pasting || whole.state == character {
			return
		}
		// The decoder is where it began: text is complete.
		var typed strings.Builder
		for _, e := range whole.Feed([]byte(text)) {
			if k, ok := e.(Key); ok && k.IsText() {
				typed.WriteRune(rune(k.Code))
			}
		}
		printable := strings.Map(func(r rune) rune {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, "\ufffd"))
		if !strings.ContainsRune(text, esc) && utf8.ValidString(text) && typed.String() != printable {
			t.Fatalf("%q types %q", text, typed.String())
		}
	})
}
