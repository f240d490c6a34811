package coordinator

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
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

// promptFor is the prompt, with as much of the conversation as the engine takes:
// the oldest goes first, and that is said.
func (c *Coordinator) promptFor(engine agent.Engine, next item) string {
	entries := c.context(next.trigger)
	prompt := c.prompt(next, entries)
	limited, ok := engine.(agent.Limited)
	if !ok {
		return prompt
	}
	all := len(entries)
	for excess := limited.Excess(prompt); excess > 0 && len(entries) > 0; excess = limited.Excess(prompt) {
		entries = shorter(entries, excess)
		prompt = c.prompt(next, entries)
	}
	if left := all - len(entries); left > 0 {
		c.o.Events.Notice(Notice{Kind: PromptCut, Names: []string{next.member.DisplayName}, Limit: left})
	}
	return prompt
}

// shorter is the entries without the oldest, which have that many bytes at least.
func shorter(entries []projection.Entry, bytes int) []projection.Entry {
	for len(entries) > 0 && bytes > 0 {
		bytes -= len(entries[0].Content)
		entries = entries[1:]
	}
	return entries
}

// prompt is everything that an agent is told: sections, each only when it has
// something. It depends on the team and the session alone, so that it is the
// same after a restart.
func (c *Coordinator) prompt(next item, entries []projection.Entry) string {
	sections := []string{
		next.member.SystemInstruction,
		instructions(c.team.InstructionFile),
		instructions(next.member.InstructionFile),
		c.roster(next.member),
		c.task(),
		history(entries),
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

// context is the newest part of the conversation before the message that is
// answered.
func (c *Coordinator) context(t trigger) []projection.Entry {
	w := c.o.Window
	return window(before(c.newest(), t.id), w.messages(), w.bytes()-len(t.text))
}

func history(entries []projection.Entry) string {
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
