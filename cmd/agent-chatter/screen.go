package main

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// screen shows a conversation, as text or as JSON lines.
type screen struct {
	app      *app
	team     *coordinator.Team
	json     bool
	terminal bool // somebody watches: replies appear as they come
	prompts  bool // what agents are told is shown, too

	speaking  bool // a part of a reply stands on the line
	streamed  bool // the reply was shown as it came
	spinner   *spinner
	stream    markerFilter
	unsaved   bool
	sessionID string
	saved     func() // is told when something was said and is on the disk
}

// begin forgets what belongs to another conversation.
func (s *screen) begin(team *coordinator.Team) {
	s.team, s.unsaved, s.sessionID = team, false, ""
}

func (s *screen) TeamReady(*coordinator.Team, bool) {}

func (s *screen) SessionRestored(id string, messages int) {
	s.sessionID = id
	s.app.notice(resumedText(id, messages))
}

func (s *screen) SessionSaved(id string) {
	s.sessionID = id
	s.app.log.Debug("session saved", "session", id)
	s.saved()
	if s.unsaved {
		s.app.notice("✓ Everything is saved again.")
	}
	s.unsaved = false
}

func (s *screen) SaveFailed(err error) {
	s.unsaved = true
	s.endLine()
	s.app.notice(saveFailedText(err))
}

func (s *screen) StatusChanged(coordinator.Status) {}

func (s *screen) MembersMissing(missing []projection.MemberRef) { s.app.notice(missingText(missing)) }

func (s *screen) Appended(e journal.Event) {
	if p, err := projection.Decode(e); err == nil && e.Type == journal.TypeRecovered {
		s.endLine()
		s.app.notice(setAsideText(p.(projection.JournalRecovered).Recovered))
	}
	if s.json {
		fmt.Fprintf(s.app.stdout, "%s\n", e.Line())
	}
}

func (s *screen) TurnStarted(m coordinator.Member) {
	s.stream, s.streamed = markerFilter{}, false
	s.goOn(m)
}

// goOn shows that an agent works.
func (s *screen) goOn(m coordinator.Member) {
	if s.watched() && s.team.ShowThinkingTimer {
		s.spinner.start(safeLine(m.DisplayName) + " is thinking")
	}
}

// Prompted shows what an agent is told, to somebody who wants to know.
func (s *screen) Prompted(m coordinator.Member, prompt string) {
	switch {
	case !s.prompts:
	case s.json:
		writeJSON(s.app.stdout, promptJSON{"prompt.shown", m.ID, prompt})
	default:
		s.endLine()
		fmt.Fprint(s.app.stdout, promptText(m.DisplayName, prompt))
	}
}

// promptJSON is a prompt among the lines of a journal, which it is not one of: it has no seq.
type promptJSON struct {
	Type     string `json:"type"`
	MemberID string `json:"memberId"`
	Prompt   string `json:"prompt"`
}

// watched reports whether somebody sees replies as they come.
func (s *screen) watched() bool { return s.terminal && !s.json }

// Text shows a reply as it comes, to somebody who watches.
func (s *screen) Text(m coordinator.Member, text string) {
	if !s.watched() {
		return
	}
	if text = s.stream.pass(text); text == "" {
		return
	}
	s.spinner.end()
	if !s.speaking {
		fmt.Fprintf(s.app.stdout, "%s: ", s.bold(safeLine(m.DisplayName)))
		s.speaking, s.streamed = true, true
	}
	fmt.Fprint(s.app.stdout, safe(text))
}

// Said shows a whole message. People know what they typed, and what was shown
// as it came is not shown again.
func (s *screen) Said(m projection.Message) {
	if s.json || m.Speaker.Type == projection.TypeHuman {
		return
	}
	s.endLine()
	if !s.streamed {
		s.showEntry(projection.Entry{Message: m})
	}
}

func (s *screen) showEntry(e projection.Entry) {
	name, text, _ := strings.Cut(messageText(e), ": ")
	fmt.Fprintf(s.app.stdout, "%s: %s\n", s.bold(name), text)
}

// bold makes a name stand out, where somebody watches and likes it.
func (s *screen) bold(name string) string {
	if !s.watched() || s.app.noColor {
		return name
	}
	return "\x1b[1m" + name + "\x1b[0m"
}

// messageText is a message as text output has it.
func messageText(e projection.Entry) string {
	return safeLine(e.Speaker.DisplayName) + unfinishedText(e) + ": " + safe(e.Content)
}

// endLine makes room for a line of its own.
func (s *screen) endLine() {
	if s.watched() {
		s.spinner.end()
	}
	if s.speaking {
		fmt.Fprintln(s.app.stdout)
		s.speaking = false
	}
}

func (s *screen) TurnEnded(m coordinator.Member, end projection.TurnEnded) {
	s.endLine()
	name := safeLine(m.DisplayName)
	switch end.FinishReason {
	case projection.Failed, projection.TimedOut:
		s.app.notice(fmt.Sprintf("%s did not answer: %s", name, safe(end.Error)))
	case projection.Cancelled:
		s.app.notice(fmt.Sprintf("%s was interrupted. What was said so far is kept in the journal.", name))
	}
}

func (s *screen) Notice(n coordinator.Notice) {
	s.endLine()
	switch n.Kind {
	case coordinator.UnknownNames:
		s.app.notice(fmt.Sprintf("Nobody here is called %s. The members are: %s.", safeLine(strings.Join(n.Names, ", ")), memberNames(s.team)))
	case coordinator.NotPermitted:
		s.app.notice(notPermittedText(n.Names[0], n.Names[1]))
	case coordinator.OrphansEnded:
		s.app.notice(orphansEndedText(n.Limit))
	case coordinator.AgentChanged:
		s.app.notice(changedText(n.Names[0], "agent", n.Names[1], n.Names[2]))
	case coordinator.ModelChanged:
		s.app.notice(changedText(n.Names[0], "model", n.Names[1], n.Names[2]))
	case coordinator.NobodyToAsk:
		s.app.notice(nobodyToAskText(n.Names[0], n.Names[1]))
	case coordinator.PromptCut:
		s.app.notice(promptCutText(strings.Join(n.Names, ", "), n.Limit))
	case coordinator.MessageCut:
		s.app.notice(messageCutText(strings.Join(n.Names, ", "), n.Limit))
	case coordinator.SecretsReplaced:
		s.app.notice(secretsReplacedText(n.Names, n.Limit))
	default:
		s.app.notice(noticeText(n))
	}
}

func memberNames(t *coordinator.Team) string {
	names := make([]string, len(t.Members))
	for i, m := range t.Members {
		names[i] = safeLine(m.Name)
	}
	return strings.Join(names, ", ")
}

// markerFilter keeps markers out of text that is shown as it comes. It holds
// back what may become one, and blanks that may be the end of the reply.
type markerFilter struct{ held, blanks string }

// longestHeld is how long something may look like the beginning of a marker.
const longestHeld = 200

func (f *markerFilter) pass(text string) string {
	shown := f.blanks + f.withoutMarkers(text)
	end := strings.TrimRight(shown, " \t\r\n")
	f.blanks = shown[len(end):]
	return end
}

func (f *markerFilter) withoutMarkers(text string) (shown string) {
	f.held += text
	for f.held != "" {
		open := strings.IndexByte(f.held, '[')
		if open < 0 {
			shown, f.held = shown+f.held, ""
			break
		}
		shown, f.held = shown+f.held[:open], f.held[open:]
		end := strings.IndexAny(f.held, "]\n")
		switch {
		case end < 0 && len(f.held) < longestHeld:
			return shown
		case end >= 0 && isMarker(f.held[:end+1]):
			f.held = f.held[end+1:]
		default:
			shown, f.held = shown+f.held[:1], f.held[1:]
		}
	}
	return shown
}

func isMarker(text string) bool {
	upper := strings.ToUpper(text)
	return strings.HasSuffix(upper, "]") && (strings.HasPrefix(upper, "[NEXT:") || strings.HasPrefix(upper, "[DROP:"))
}
