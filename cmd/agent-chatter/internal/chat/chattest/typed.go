//go:build unix

package chattest

import "testing"

// What is entered in the conversation, in this order. The first member of the team is next if no other one is named.
const (
	First     = "say one"
	Tool      = "plan"
	Asked     = "ask rm -r a" // is allowed, and then refused
	WithNote  = "say look at @" + Note
	OfPicture = "say seen" // follows the picture
	Panel     = "say all [NEXT: ada | bea | cleo]"
	Endless   = "hang" // begins a turn that is cancelled
	Queued    = "say never"
	Made      = "touch made.txt [NEXT: bea]" // is undone: the file
	Retitle   = "/rename Another title"
	InFork    = "say after the fork"
	Undone    = "touch other.txt [NEXT: bea]" // is undone: the file and the conversation
	Returned  = "touch other.txt"             // is in the input box then
	Instead   = "say another way"
	Elsewhere = "say on a terminal"
	Last      = "say the end"
)

// The files that turns make and that are set back.
const (
	MadeFile   = "made.txt"
	UndoneFile = "other.txt"
)

// The numbers that /rewind gives the messages that are undone.
const (
	madeChoice   = "9"
	undoneChoice = "9"
)

// prompt is what the input box shows when a person is next.
const prompt = "hugo> "

// Type has the conversation on a terminal.
func (p *Place) Type(t *testing.T, program string) {
	t.Helper()
	m := Start(t, p.Command(program, "chat", "-t", "asking"))
	m.Expect(prompt)
	say := func(text string) {
		t.Helper()
		m.Line(text)
		m.Expect(prompt)
	}
	say(First)
	say(Tool)
	for _, key := range []string{"y", "n"} {
		m.Line(Asked)
		m.Expect("[N] Refuse")
		m.Press(key + "\r")
		m.Expect(prompt)
	}
	say(WithNote)
	m.Paste(p.PicturePath())
	m.Expect("[" + Picture + "]")
	say(OfPicture)
	say(Panel)
	m.Line(Endless)
	m.Expect("Let me see.")
	m.Line(Queued)
	m.Expect("queued: " + Queued)
	m.Press("\x1b[A")
	m.Expect("> " + Queued)
	m.Press("\x15") // Ctrl+U
	m.Press("\x1b")
	m.Expect(prompt)
	say(Made)
	p.expectFile(t, MadeFile, true)
	m.Line("/rewind")
	m.rewind(madeChoice, "f")
	m.Expect(prompt)
	p.expectFile(t, MadeFile, false)
	m.Line(Retitle)
	m.Expect("renamed")
	m.Line("/fork")
	m.Expect(prompt)
	say(InFork)
	say(Undone)
	p.expectFile(t, UndoneFile, true)
	m.Line("/rewind")
	m.rewind(undoneChoice, "b")
	m.Expect(Returned + "\r") // in the input box
	p.expectFile(t, UndoneFile, false)
	m.Press("\x15")
	say(Instead)
	say(Elsewhere)
	say(Last)
	m.End()
}

// rewind answers the questions of /rewind.
func (m *Terminal) rewind(message, what string) {
	m.t.Helper()
	m.Expect("[Esc] Cancel")
	m.Press(message + "\r")
	m.Expect("[Esc] Neither")
	m.Press(what + "\r")
}

func (p *Place) expectFile(t *testing.T, name string, want bool) {
	t.Helper()
	if p.Has(name) != want {
		t.Fatalf("%s exists: %t, want %t", name, !want, want)
	}
}
