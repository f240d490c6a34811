package view

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Reporter prints what happens in a conversation apart from what is said: notices, prompts, and with JSON the lines
// of the journal. It is a coordinator.Listener.
type Reporter struct {
	App     *app.App
	Team    *team.Team
	JSON    bool
	Prompts bool // prompts are printed

	ManualSave bool // events are unsaved until the user saves them

	Unsaved   bool
	SessionID string
	Next      string // the name of the member that was next when the run reached its limit of turns; "": it did not
	Saved     func() // called when new events were saved

	wrote  bool   // events were appended
	reason string // why the last turn ended early
}

// Begin resets the state for another conversation.
func (r *Reporter) Begin(team *team.Team) {
	r.Team, r.Unsaved, r.SessionID, r.wrote = team, false, "", false
}

// Event implements coordinator.Listener.
func (r *Reporter) Event(e coordinator.Event) {
	r.wrote = true
	switch p := e.Payload.(type) {
	case projection.JournalRecovered:
		r.App.Notice(setAsideText(p.Recovered))
	case projection.TurnEnded:
		r.reason = p.Error
	}
	if r.JSON && !e.Unsaved {
		fmt.Fprintf(r.App.Stdout, "%s\n", e.Line())
	}
}

// DisplayName returns the displayed name of a member.
func (r *Reporter) DisplayName(memberID string) string {
	member, _ := r.Team.Member(memberID)
	return member.DisplayName
}

// Text implements coordinator.Listener. It prints nothing.
func (*Reporter) Text(string, team.Member, string) {}

// Ask implements coordinator.Listener. No user can be asked.
func (*Reporter) Ask(context.Context, coordinator.Question) coordinator.Answer {
	return coordinator.Answer{}
}

// Status implements coordinator.Listener.
func (r *Reporter) Status(status coordinator.Status) {
	if r.Unsaved && !status.Unsaved {
		r.App.Notice(r.savedText())
	}
	r.Unsaved = status.Unsaved
	if status.SessionID == "" {
		return
	}
	r.SessionID = status.SessionID
	if r.wrote && !status.Unsaved && status.Phase != coordinator.Active {
		r.Saved()
	}
}

// savedText is for a conversation that was only in memory.
func (r *Reporter) savedText() string {
	if r.ManualSave {
		return "✓ Everything is saved."
	}
	return "✓ Everything is saved again."
}

// Notice implements coordinator.Listener.
func (r *Reporter) Notice(n coordinator.Notice) {
	switch n := n.(type) {
	case coordinator.Prompt:
		r.prompt(n)
		return
	case coordinator.Written:
		for _, e := range n.Events {
			if r.JSON {
				fmt.Fprintf(r.App.Stdout, "%s\n", e.Line())
			}
		}
		return
	case coordinator.Restored:
		r.SessionID = n.SessionID
	case coordinator.TeamReady:
		r.Team = n.Team
	case coordinator.TeamChanged:
		r.Team = n.Team
	case coordinator.RunLimit:
		r.Next = n.Next[0].Name
	}
	if lost, ok := n.(coordinator.NotSaved); ok {
		r.App.Show(notSavedText(lost))
	} else if e, ok := n.(*coordinator.TurnError); ok {
		shown := r.reason
		if r.JSON || OutputStyle(r.App).Plain || !tty.IsTerminal(r.App.Stderr) {
			shown = ""
		}
		r.App.Show(turnErrorText(e, shown))
	} else if text := noticeText(n, r.Team); text != "" {
		r.App.Notice(text)
	}
	if restored, ok := n.(coordinator.Restored); ok && restored.Invalid > 0 {
		r.App.Show(app.InvalidEventsText(restored.SessionID, restored.Invalid, restored.FirstInvalid))
	}
}

// prompt shows a prompt with --show-prompt, without the secrets in the configuration of the team.
func (r *Reporter) prompt(n coordinator.Prompt) {
	n.Text = r.App.Redactor(r.Team.Secrets()).Text(n.Text)
	switch {
	case !r.Prompts:
	case r.JSON:
		app.WriteJSON(r.App.Stdout, PromptJSON{"prompt.shown", n.Member.ID, n.Text})
	default:
		fmt.Fprint(r.App.Stdout, promptText(n.Member.DisplayName, n.Text))
	}
}

// PromptJSON is a prompt in JSON output. It is not a line of the journal and has no seq.
type PromptJSON struct {
	Type     string `json:"type"`
	MemberID string `json:"memberId"`
	Prompt   string `json:"prompt"`
}

// promptText is a prompt with --show-prompt.
func promptText(member, prompt string) string {
	return fmt.Sprintf("──── Prompt for %s (%s):\n%s\n──── End of prompt\n",
		tty.SafeLine(member), app.Count(len(prompt), "byte"), strings.TrimSuffix(tty.Safe(prompt), "\n"))
}
