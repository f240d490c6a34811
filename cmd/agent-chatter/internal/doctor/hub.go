package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// maxSkew is how much the clock of the hub's servers may differ from the one here, without a note. No decision
// depends on it, but people read the times.
const maxSkew = time.Minute

// checkHub checks that the hub, if there is one, can be reached, and that its clock agrees with the one here.
func (d *doctor) checkHub() []app.Finding {
	settings, err := d.Remote.Settings()
	if err != nil || len(settings.URLs) == 0 {
		return nil
	}
	defer d.Remote.Close()
	ctx, stop := context.WithTimeout(d.ctx, home.AskTimeout)
	defer stop()
	hub, err := d.Remote.Hub(ctx)
	if err != nil {
		m := app.Explain(err)
		return []app.Finding{app.Wrong(m.Text, "Until this is mended, events are only on this machine.", m.Help...)}
	}
	if len(settings.Teams) == 0 {
		return []app.Finding{app.Note("no team is shipped", "Name the teams in hub.teams of config.json.",
			app.To("see an example", "guide", "hub"))}
	}
	findings := []app.Finding{app.Fine(fmt.Sprintf("%s can be reached", tty.SafeLine(hub.Name())))}
	for _, warning := range hub.Warnings() {
		findings = append(findings, app.Wrong(tty.SafeLine(warning), "Sessions that were shipped may be lost there."))
	}
	if there, err := hub.Clock(ctx); err == nil {
		findings = append(findings, skewFindings(time.Until(there))...)
	}
	return findings
}

// skewFindings is about the clock of the servers, which is ahead by some time.
func skewFindings(ahead time.Duration) []app.Finding {
	if ahead.Abs() <= maxSkew {
		return nil
	}
	return []app.Finding{app.Note(fmt.Sprintf("the clock of its servers differs by %s from the one here",
		ahead.Abs().Round(time.Second)), "Set both clocks by a time server.")}
}
