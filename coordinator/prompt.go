package coordinator

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// history is what a prompt has of the conversation besides the triggering message, without secrets.
type history struct {
	entries []projection.Entry // the newest messages
	// repliedTo is the message to which the triggering message is a reply; nil if entries has
	// it.
	repliedTo *projection.Entry
	summary   string // of messages before entries; "": none
}

func (h history) len() int {
	if h.repliedTo != nil {
		return len(h.entries) + 1
	}
	return len(h.entries)
}

// all returns the messages of a prompt with the given triggering message, the oldest first.
func (h history) all(trigger projection.Entry) []projection.Entry {
	all := slices.Clone(h.entries)
	if h.repliedTo != nil {
		all = append(all, *h.repliedTo)
	}
	return append(all, trigger)
}

// instructed is an item with the contents of the instruction files of the team and of the member.
type instructed struct {
	item
	ofTeam, ofMember string
	// seen is the seq of the newest message that its prompt may have: what other turns of its panel reply is later. 0:
	// any.
	seen uint64
}

// isAfter reports whether a message is newer than what the prompt may have.
func (i instructed) isAfter(e projection.Entry) bool { return i.seen > 0 && e.Seq > i.seen }

// instruct reads the instructions of an item. The error is that of team.Instructions: an agent does not
// run without its instructions.
func (c *Coordinator) instruct(waiting item) (instructed, error) {
	ofTeam, ofMember, err := c.team.Instructions(waiting.member)
	return instructed{item: waiting, ofTeam: ofTeam, ofMember: ofMember}, err
}

// hash returns the SHA-256 of the instructions.
func (i instructed) hash() string {
	all, _ := json.Marshal([]string{i.member.SystemInstruction, i.ofTeam, i.ofMember}) // strings cannot fail
	return fmt.Sprintf("%x", sha256.Sum256(all))
}

// promptFor returns the prompt and what it has of the conversation, truncated to the limit of the engine: the oldest
// messages are left out first, then the middle of the triggering message. It notifies the listener of both.
func (c *Coordinator) promptFor(engine agent.Engine, next instructed) (string, history) {
	h := c.history(next)
	h.entries = slices.DeleteFunc(h.entries, next.isAfter)
	limited, ok := engine.(agent.Limited)
	if !ok {
		return c.prompt(next, h), h
	}
	m := next.member.ForEngine("")
	fit := truncation{c: c, next: next, excess: func(prompt string) int { return limited.Excess(m, prompt) }}
	all := h.len()
	prompt, h := fit.dropMessages(h)
	messages := all - h.len()
	prompt, bytes := fit.dropMiddle(prompt)
	if messages > 0 {
		c.notify(PromptTruncated{next.member, messages})
	}
	if bytes > 0 {
		c.notify(MessageTruncated{next.member, bytes})
	}
	return prompt, h
}

// truncation truncates a prompt to the limit of an engine.
type truncation struct {
	c      *Coordinator
	next   instructed
	excess func(prompt string) int // the bytes beyond the limit
}

// dropMessages leaves out the oldest messages until the prompt fits or none is left.
func (f truncation) dropMessages(h history) (prompt string, rest history) {
	prompt = f.c.prompt(f.next, h)
	for excess := f.excess(prompt); excess > 0 && h.len() > 0; excess = f.excess(prompt) {
		h = f.c.shorter(f.next.trigger, h, excess)
		prompt = f.c.prompt(f.next, h)
	}
	return prompt, h
}

// shorter returns the history without the oldest messages of at least the given size, in bytes.
// repliedTo is left out last.
func (c *Coordinator) shorter(t trigger, h history, bytes int) history {
	if len(h.entries) == 0 {
		return history{}
	}
	for len(h.entries) > 0 && bytes > 0 {
		bytes -= len(h.entries[0].Content)
		h.entries = h.entries[1:]
	}
	return history{h.entries, c.repliedTo(t, h.entries), h.summary}
}

// dropMiddle leaves out the middle of the triggering message until the prompt fits. It returns how
// many bytes it left out. If nothing would remain, it returns the prompt unchanged, and the engine
// reports an error.
func (f truncation) dropMiddle(prompt string) (shorter string, dropped int) {
	// note is at least the length of the text that replaces the middle.
	const note = 100
	text := f.next.trigger.text
	shorter = prompt
	for excess := f.excess(shorter); excess > 0; excess = f.excess(shorter) {
		dropped += excess + note
		if dropped >= len(text) {
			return prompt, 0
		}
		from := (len(text) - dropped) / 2
		head, tail := runecut.Prefix(text, from), runecut.Suffix(text, len(text)-from-dropped)
		dropped = len(text) - len(head) - len(tail)
		f.next.trigger.text = fmt.Sprintf("%s\n[%d bytes of this message are left out here: it is too long]\n%s",
			head, dropped, tail)
		shorter = f.c.prompt(f.next, history{})
	}
	return shorter, dropped
}

// prompt returns the text for the agent: sections under plain headings, without the empty ones. It depends
// only on the team and the session, so that it is the same after a restart.
func (c *Coordinator) prompt(next instructed, h history) string {
	task := ""
	if t := c.conv.state.Task; t != nil {
		task = section("Task of the team", indentRest(c.secrets.Text(*t)))
	}
	texts := c.inline(next.member, h, next.trigger)
	repliedTo := ""
	if m := h.repliedTo; m != nil {
		title := fmt.Sprintf("Message from %s, which %s answered", c.name(m.Speaker.DisplayName),
			c.name(next.trigger.speaker))
		repliedTo = section(title, body(m.Speaker.Type, c.withFiles(m.Content, m.Attachments, texts)))
	}
	said := c.withFiles(next.trigger.text, next.trigger.files, texts)
	sections := []string{
		next.member.SystemInstruction,
		next.ofTeam,
		next.ofMember,
		c.roster(next.member),
		task,
		section("Summary of older messages", body(projection.TypeAI, h.summary)),
		c.conversationSoFar(h, texts),
		repliedTo,
		c.restoredFiles(next.member, c.restoresWithin(h)),
		c.judgement(next, h.entries),
		section("Message from "+c.name(next.trigger.speaker), body(next.trigger.speakerType, said)),
	}
	return joined(sections)
}

// In a prompt, headings and the speakers of the conversation so far start in the first column. The
// messages of agents do not, and neither do further lines of any message in the conversation, so that
// no agent can write what looks like the message of another member.
const indent = "  "

// body returns the text of a message under a heading. A human's is unchanged.
func body(speakerType, text string) string {
	if speakerType == projection.TypeHuman || text == "" {
		return text
	}
	return indent + indentRest(text)
}

// indentRest indents all lines but the first and the empty ones.
func indentRest(text string) string {
	var b strings.Builder
	starts := false
	for _, r := range text {
		ends := strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r)
		if starts && !ends {
			b.WriteString(indent)
		}
		b.WriteRune(r)
		starts = ends
	}
	return b.String()
}

// name returns a recorded name without secrets and line breaks. Those of foreign sessions may have some.
func (c *Coordinator) name(recorded string) string {
	return strings.Join(strings.Fields(c.secrets.Text(recorded)), " ")
}

func section(title, text string) string {
	if text == "" {
		return ""
	}
	return title + ":\n" + text
}

// roster describes the agent, the other members, and how to hand over.
func (c *Coordinator) roster(m team.Member) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s (%s) in the team %s. The others:\n", m.DisplayName, m.Name, c.team.DisplayName)
	for _, other := range c.team.Members {
		if other.ID == m.ID {
			continue
		}
		kind := cmp.Or(other.Role, "agent")
		if other.Type == team.Human {
			kind = "human"
		}
		fmt.Fprintf(&b, "- %s (%s), %s\n", other.Name, other.DisplayName, kind)
	}
	// In code spans markers are text: an agent that repeats its prompt writes none.
	b.WriteString("To hand over, write `[NEXT: name]`, without the backticks, at the end of your reply. " +
		"Without it, the next member in the queue replies, then the human.")
	if m.AllowTeamTask {
		b.WriteString("\nTo change the task of the team, write `[TEAM_TASK: the task]`, without the backticks.")
	}
	if m.DoneWord != "" {
		fmt.Fprintf(&b, "\nWhen the task is done, write %s alone on the last line.", m.DoneWord)
	}
	if w, ok := c.worktree(m); ok {
		fmt.Fprintf(&b, "\nYour working directory is a copy of %s that only you change. Stay in it: a person decides "+
			"what is merged.", c.name(w.Source))
	}
	return b.String()
}

// conversationSoFar returns the section of the newest messages.
func (c *Coordinator) conversationSoFar(h history, texts inlining) string {
	const untruncated = "Conversation so far"
	title := untruncated
	if hidden := c.conv.state.Stats.Messages - 1 - h.len(); hidden > 0 { // 1: the triggering message
		title += fmt.Sprintf(" (%d older messages are left out)", hidden)
	}
	var b strings.Builder
	for _, e := range h.entries {
		said := c.withFiles(e.Content, e.Attachments, texts)
		fmt.Fprintf(&b, "%s: %s\n", c.name(heading(e.Message)), indentRest(said))
	}
	switch {
	case b.Len() > 0:
		return section(title, b.String())
	case title != untruncated:
		return title
	}
	return ""
}

// heading returns "speaker -> addressees" of a message.
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

// maxRepliedTo is the maximum length of a message that is shown although it is not within the
// window, in bytes. A longer one would displace too many others.
const maxRepliedTo = 16 << 10

// repliedTo returns the message to which the triggering message is a reply; nil if there is none, if
// it is among the entries, or if it is too long.
func (c *Coordinator) repliedTo(t trigger, entries []projection.Entry) *projection.Entry {
	is := func(e projection.Entry) bool { return e.ID == t.repliesTo }
	if t.repliesTo == "" || slices.ContainsFunc(entries, is) {
		return nil
	}
	m := c.message(t.repliesTo)
	if m == nil || len(m.Content) > maxRepliedTo {
		return nil
	}
	return m
}

// message returns the message with the given ID, without secrets; nil if there is none.
func (c *Coordinator) message(id string) *projection.Entry {
	is := func(e projection.Entry) bool { return e.ID == id }
	if at := slices.IndexFunc(c.conv.state.Recent, is); at >= 0 {
		return c.withoutSecrets(c.conv.state.Recent[at])
	}
	for e, err := range c.conv.log.Backward() {
		if err != nil {
			return nil
		}
		p, _ := projection.Decode(e)
		if said, ok := p.(projection.MessageAppended); ok && said.Message.ID == id {
			return c.withoutSecrets(entryOf(said))
		}
	}
	return nil
}

// withoutSecrets returns a recorded message for an agent: a session may have been recorded with secrets. They
// are replaced before the message is truncated, because part of a secret is not recognized.
func (c *Coordinator) withoutSecrets(m projection.Entry) *projection.Entry {
	m.Content = c.secrets.Text(m.Content)
	m.Attachments = slices.Clone(m.Attachments)
	for i, f := range m.Attachments {
		m.Attachments[i].Name = c.secrets.Text(f.Name)
	}
	return &m
}
