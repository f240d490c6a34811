package coordinator

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// Window is how much of the conversation a prompt shows, beside the message that
// is answered. The zero Window is the usual one.
type Window struct {
	Messages int // 0: 20
	Bytes    int // of the messages, the one that is answered included; 0: 256 KiB
}

func (w Window) messages() int { return cmp.Or(w.Messages, 20) }
func (w Window) bytes() int    { return cmp.Or(w.Bytes, 256<<10) }

// prompt is everything that an agent is told: sections, each only when it has
// something. It depends on the team and the session alone, so that it is the
// same after a restart.
func (c *Coordinator) prompt(next item) string {
	sections := []string{
		next.member.SystemInstruction,
		instructions(c.team.InstructionFile),
		instructions(next.member.InstructionFile),
		c.roster(next.member),
		c.task(),
		c.history(next.trigger),
		section("Message from "+next.trigger.speaker, next.trigger.text),
	}
	var b strings.Builder
	for _, s := range sections {
		if s = strings.Trim(s, "\n"); s != "" {
			b.WriteString(s + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func section(title, text string) string {
	if text == "" {
		return ""
	}
	return title + ":\n" + text
}

// instructions is the content of an instruction file; one that cannot be read
// says nothing.
func instructions(path string) string {
	if path == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// roster tells the agent who it is, who else is there, and how to hand over.
func (c *Coordinator) roster(m Member) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s (%s) in the team %s. The others:\n", m.DisplayName, m.Name, c.team.DisplayName)
	for _, other := range c.team.Members {
		if other.ID != m.ID {
			fmt.Fprintf(&b, "- %s (%s), %s\n", other.Name, other.DisplayName, kindOf(other))
		}
	}
	b.WriteString("To hand over, write [NEXT: name] at the end of your reply. Without it, the human is next.")
	return b.String()
}

func kindOf(m Member) string {
	if m.Type == MemberHuman {
		return "human"
	}
	if m.Role != "" {
		return m.Role
	}
	return "agent"
}

func (c *Coordinator) task() string {
	if c.conv.state.Task == nil {
		return ""
	}
	return section("Task of the team", *c.conv.state.Task)
}

// history is the newest part of the conversation before the message that is
// answered, and whether something older was left out.
func (c *Coordinator) history(t trigger) string {
	w := c.o.Window
	entries := window(before(c.newest(), t.id), w.messages(), w.bytes()-len(t.text))
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s: %s\n", heading(e.Message), e.Content)
	}
	return section("Conversation so far", b.String())
}

// newest is as many of the newest messages as the window can show: the state
// has them, unless somebody wants more than it keeps.
func (c *Coordinator) newest() []projection.Entry {
	state, w := c.conv.state, c.o.Window
	kept := len(state.Recent) == state.Stats.Messages || w.messages() < projection.RecentMessages && w.bytes() <= projection.RecentBytes
	if kept || c.conv.unsaved() {
		return state.Recent
	}
	newest, err := readBack(c.conv.log, w)
	if err != nil {
		return state.Recent
	}
	return newest
}

// readBack reads as many of the newest messages as the window can show, and the
// one that is answered, from the end of the journal.
func readBack(log SessionLog, w Window) ([]projection.Entry, error) {
	var newest []projection.Entry
	bytes := 0
	for e, err := range log.Backward() {
		if err != nil {
			return nil, err
		}
		if len(newest) > w.messages() || bytes > w.bytes() {
			break
		}
		if p, err := projection.Decode(e); err == nil {
			if said, ok := p.(projection.MessageAppended); ok {
				newest = append(newest, projection.Entry{Seq: e.Seq, Message: said.Message})
				bytes += len(said.Message.Content)
			}
		}
	}
	slices.Reverse(newest)
	return newest, nil
}

// before is the messages but the one that is answered: it comes last, by
// itself.
func before(entries []projection.Entry, id string) []projection.Entry {
	var others []projection.Entry
	for _, e := range entries {
		if e.ID != id {
			others = append(others, e)
		}
	}
	return others
}

// window is the newest entries within the bounds, oldest first.
func window(entries []projection.Entry, count, bytes int) []projection.Entry {
	from := len(entries)
	for from > 0 && len(entries)-from < count {
		bytes -= len(entries[from-1].Content)
		if bytes < 0 {
			break
		}
		from--
	}
	return entries[from:]
}

// heading is "from -> to" of a message.
func heading(m projection.Message) string {
	if m.Routing == nil {
		return m.Speaker.DisplayName
	}
	var to []string
	for _, a := range m.Routing.ResolvedAddressees {
		if a.MemberName != nil {
			to = append(to, *a.MemberName)
		}
	}
	if len(to) == 0 {
		return m.Speaker.DisplayName
	}
	return m.Speaker.DisplayName + " -> " + strings.Join(to, ", ")
}
