package console

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
)

// out records what a Printer writes.
type out struct {
	text   string
	writes int
}

func (o *out) Write(p []byte) (int, error) {
	o.text += string(p)
	o.writes++
	return len(p), nil
}

// saying returns the blocks of a message of an agent.
func saying(content string) func(*Model) []view.Block {
	return func(m *Model) []view.Block {
		return m.Transcript.Entry(projection.Entry{Message: projection.Message{
			Speaker: projection.Speaker{ID: "ada", DisplayName: "Ada"}, Content: content,
		}}, nil)
	}
}

func TestPrinterPrintsLinesAtOnce(t *testing.T) {
	o := &out{}
	p := &Printer{Out: o, Model: Model{Transcript: &view.Transcript{}, Style: view.Style{Plain: true}, Mark: "> "}}
	p.Say(saying("one\n\ntwo"))
	if o.text != "> Ada: one\n>\n> two\n" || o.writes != 1 {
		t.Errorf("it prints %q in %d writes", o.text, o.writes)
	}
}

func TestPrinterLeavesOutTheRestAfterCancellation(t *testing.T) {
	o := &out{}
	p := &Printer{
		Out: o, Model: Model{Transcript: &view.Transcript{}, Style: view.Style{Plain: true}},
		Cancelled: func() bool { return len(o.text) > 0 },
	}
	long := strings.Repeat("a line\n", printedAtOnce)
	if p.Say(saying(long)); len(o.text) > 2*printedAtOnce {
		t.Errorf("of %d bytes %d are printed after the cancellation", len(long), len(o.text))
	}
}
