package coordinator

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Window is how much of the conversation a prompt shows, beside the message that
// is answered. The zero Window is the usual one.
type Window struct {
	Messages int // 0: 20
	Bytes    int // of the messages, the one that is answered included; 0: 256 KiB
}

func (w Window) messages() int { return cmp.Or(w.Messages, 20) }
func (w Window) bytes() int    { return cmp.Or(w.Bytes, 256<<10) }

// excerpt is what a prompt shows of the conversation, beside the message that is
// answered.
type excerpt struct {
	entries []projection.Entry  // the newest messages
	replied *projection.Message // what the message is a reply to, when that is not among them
}

// promptFor is the prompt, with as much of the conversation as the engine takes:
// the oldest goes first, then the middle of the message that is answered, and that is said.
func (c *Coordinator) promptFor(engine agent.Engine, next item) string {
	shown := c.excerpt(next.trigger)
	limited, ok := engine.(agent.Limited)
	if !ok {
		return c.prompt(next, shown)
	}
	member := next.member.ForEngine("")
	fit := fitting{c: c, next: next, excess: func(prompt string) int { return limited.Excess(member, prompt) }}
	prompt, messages := fit.withoutOldest(shown)
	prompt, bytes := fit.withoutMiddle(prompt)
	if messages > 0 {
		c.o.Events.Notice(Notice{Kind: PromptCut, Names: []string{next.member.DisplayName}, Limit: messages})
	}
	if bytes > 0 {
		c.o.Events.Notice(Notice{Kind: MessageCut, Names: []string{next.member.DisplayName}, Limit: bytes})
	}
	return prompt
}

// A fitting makes a prompt as short as an engine takes it.
type fitting struct {
	c      *Coordinator
	next   item
	excess func(prompt string) int
}

// withoutOldest is the prompt with as many of the messages shown as the engine takes, and how
// many are left out.
func (f fitting) withoutOldest(shown excerpt) (prompt string, left int) {
	all := shown.len()
	prompt = f.c.prompt(f.next, shown)
	for excess := f.excess(prompt); excess > 0 && shown.len() > 0; excess = f.excess(prompt) {
		shown = f.c.shorter(f.next.trigger, shown, excess)
		prompt = f.c.prompt(f.next, shown)
	}
	return prompt, all - shown.len()
}

// withoutMiddle is a prompt with as much of the message that is answered as the engine takes,
// and how many bytes of it are left out. When it would take nothing of it the prompt stays as
// it is: the engine says what is wrong.
func (f fitting) withoutMiddle(prompt string) (shorter string, left int) {
	whole := f.next.trigger.text
	shorter = prompt
	for excess := f.excess(shorter); excess > 0; excess = f.excess(shorter) {
		left += excess + leftOutRoom
		if left >= len(whole) {
			return prompt, 0
		}
		f.next.trigger.text, left = withoutMiddle(whole, left)
		shorter = f.c.prompt(f.next, excerpt{})
	}
	return shorter, left
}

// leftOutRoom is at least how many bytes it takes to say how many are left out.
const leftOutRoom = 100

// withoutMiddle is the text less so many bytes of its middle, and how many those are: no
// letter is cut in two.
func withoutMiddle(text string, bytes int) (shorter string, left int) {
	from := (len(text) - bytes) / 2
	head, tail := runecut.Prefix(text, from), runecut.Suffix(text, len(text)-from-bytes)
	left = len(text) - len(head) - len(tail)
	return fmt.Sprintf("%s\n[%d bytes of this message are left out here: it is too long]\n%s", head, left, tail), left
}

// len is how many messages are shown.
func (e excerpt) len() int {
	if e.replied != nil {
		return len(e.entries) + 1
	}
	return len(e.entries)
}

// shorter is the excerpt without the oldest messages, which have that many bytes
// at least. What the message is a reply to goes last.
func (c *Coordinator) shorter(t trigger, shown excerpt, bytes int) excerpt {
	if len(shown.entries) == 0 {
		return excerpt{}
	}
	for len(shown.entries) > 0 && bytes > 0 {
		bytes -= len(shown.entries[0].Content)
		shown.entries = shown.entries[1:]
	}
	return excerpt{shown.entries, c.fallenOut(t.answers, shown.entries)}
}

// prompt is everything that an agent is told: sections under plain headings,
// which every agent understands and none repeats, each only when it has
// something. It depends on the team and the session alone, so that it is the
// same after a restart.
func (c *Coordinator) prompt(next item, shown excerpt) string {
	sections := []string{
		next.member.SystemInstruction,
		instructions(c.team.InstructionFile),
		instructions(next.member.InstructionFile),
		c.roster(next.member),
		c.task(),
		c.history(shown),
		replied(next.trigger, shown.replied),
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
func (c *Coordinator) roster(m team.Member) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s (%s) in the team %s. The others:\n", m.DisplayName, m.Name, c.team.DisplayName)
	for _, other := range c.team.Members {
		if other.ID != m.ID {
			fmt.Fprintf(&b, "- %s (%s), %s\n", other.Name, other.DisplayName, kindOf(other))
		}
	}
	// The markers stand in code spans, where they are text: an agent that repeats its prompt gives none.
	b.WriteString("To hand over, write `[NEXT: name]`, without the backticks, at the end of your reply. Without it, whoever else waits is next, then the human.")
	if m.AllowTeamTask {
		b.WriteString("\nTo change the task of the team, write `[TEAM_TASK: the task]`, without the backticks.")
	}
	if m.DoneWord != "" {
		fmt.Fprintf(&b, "\nWhen the task is done, write %s alone on the last line.", m.DoneWord)
	}
	return b.String()
}

func kindOf(m team.Member) string {
	if m.Type == team.Human {
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

// excerpt is the newest part of the conversation beside the message that is
// answered, and what that one is a reply to, within the bounds of the window.
func (c *Coordinator) excerpt(t trigger) excerpt {
	w := c.o.Window
	others, bytes := before(c.newest(), t.id), w.bytes()-len(t.text)
	entries := window(others, w.messages(), bytes)
	replied := c.fallenOut(t.answers, entries)
	if replied == nil || len(replied.Content) > bytes {
		return excerpt{entries: entries}
	}
	// A narrower window has fewer messages, so this one is not among them either.
	return excerpt{window(others, w.messages(), bytes-len(replied.Content)), replied}
}

// mostReplied is how long a message may be that is shown although it has fallen
// out of the window, in bytes. A longer one would take the room of the others.
const mostReplied = 16 << 10

// fallenOut is the message of that id, unless it is among the entries; nil when
// there is none, or it is too long.
func (c *Coordinator) fallenOut(id string, entries []projection.Entry) *projection.Message {
	is := func(e projection.Entry) bool { return e.ID == id }
	if id == "" || slices.ContainsFunc(entries, is) {
		return nil
	}
	m := c.message(id)
	if m == nil || len(m.Content) > mostReplied {
		return nil
	}
	return m
}

// message is the message of that id, however old it is; nil when there is none.
func (c *Coordinator) message(id string) *projection.Message {
	is := func(e projection.Entry) bool { return e.ID == id }
	if at := slices.IndexFunc(c.conv.state.Recent, is); at >= 0 {
		return &c.conv.state.Recent[at].Message
	}
	for e, err := range c.conv.log.Backward() {
		if err != nil {
			return nil
		}
		p, _ := projection.Decode(e)
		if said, ok := p.(projection.MessageAppended); ok && said.Message.ID == id {
			return &said.Message
		}
	}
	return nil
}

// history is the newest messages, and how many older ones the agent does not see.
func (c *Coordinator) history(shown excerpt) string {
	const beside = 1 // the message that is answered
	title := "Conversation so far"
	if hidden := c.conv.state.Stats.Messages - beside - shown.len(); hidden > 0 {
		title += fmt.Sprintf(" (%d older messages are left out)", hidden)
	}
	var b strings.Builder
	for _, e := range shown.entries {
		fmt.Fprintf(&b, "%s: %s\n", heading(e.Message), e.Content)
	}
	switch {
	case b.Len() > 0:
		return section(title, b.String())
	case title != "Conversation so far":
		return title
	}
	return ""
}

// replied is the message that the one to be answered is a reply to.
func replied(t trigger, m *projection.Message) string {
	if m == nil {
		return ""
	}
	return section(fmt.Sprintf("Message from %s, which %s answered", m.Speaker.DisplayName, t.speaker), m.Content)
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
func readBack(log store.Log, w Window) ([]projection.Entry, error) {
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
