package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// slashContext shows how full the context of each agent is, and what its last new session began without.
func (r invocation) slashContext(context.Context, string) error {
	var contexts map[string]coordinator.Context
	if s := r.status().Session; s != nil {
		contexts = s.Contexts
	}
	for _, m := range r.c.Team().Members {
		if m.Type == team.AI {
			cut, isCut := r.display.windowCut(m.ID)
			r.app.Notice(memberContextText(m, contexts[m.ID], cut, isCut))
		}
	}
	return nil
}

// memberContextText says how full the context of a member is. cut is what its prompts lacked, if isCut.
func memberContextText(m team.Member, c coordinator.Context, cut coordinator.WindowCut, isCut bool) string {
	text := "its context is not reported"
	switch {
	case c.Used > 0 && c.Window > 0:
		percent := (100*c.Used + c.Window/2) / c.Window
		text = fmt.Sprintf("%s of %s tokens, %d%%", view.ShortCount(c.Used), view.ShortCount(c.Window), percent)
	case c.Used > 0:
		text = view.ShortCount(c.Used) + " tokens; its window is not reported"
	}
	parts := []string{text}
	if m.Memory == team.MemoryWindow {
		parts = append(parts, "each prompt has the newest messages")
	}
	if isCut {
		parts = append(parts, fmt.Sprintf("began with the newest %d of %s", cut.Shown, app.Count(cut.All, "message")))
	}
	return fmt.Sprintf("  %s: %s", tty.SafeLine(m.DisplayName), strings.Join(parts, "; "))
}

// Notice implements coordinator.Listener.
func (d *display) Notice(n coordinator.Notice) {
	if cut, ok := n.(coordinator.WindowCut); ok {
		d.cuts.Store(cut.Member.ID, cut)
	}
	d.Reporter.Notice(n)
	switch n.(type) {
	case coordinator.TeamReady:
		d.completeArguments()
	case coordinator.TeamChanged:
		d.completeArguments()
		if d.console != nil {
			d.showFacts()
		}
	}
}

// windowCut returns what the prompts of a member lacked last.
func (d *display) windowCut(memberID string) (coordinator.WindowCut, bool) {
	cut, ok := d.cuts.Load(memberID)
	if !ok {
		return coordinator.WindowCut{}, false
	}
	return cut.(coordinator.WindowCut), true
}
