package coordinator

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
)

// withoutSecrets is the payload as it may be kept: this is where everything that is said, or
// done, or went wrong comes by on its way to the journal. What we name the parts of a session by
// stays as it is, or they would not be found again; the names that agents give become others.
func (c *Coordinator) withoutSecrets(p projection.Payload) projection.Payload {
	clean := c.secrets.Text
	switch p := p.(type) {
	case projection.MessageAppended:
		p.Message.Content = clean(p.Message.Content)
		if p.Raw != nil {
			p.Raw = []byte(clean(string(p.Raw)))
		}
		return p
	case projection.TaskSet:
		if p.Task != nil {
			task := clean(*p.Task)
			p.Task = &task
		}
		return p
	case projection.SessionRenamed:
		p.Title = clean(p.Title)
		return p
	case projection.SessionEnded:
		p.Reason = clean(p.Reason)
		return p
	case projection.TurnText:
		p.Text = clean(p.Text)
		return p
	case projection.ToolStarted:
		p.ToolID, p.Name, p.Input = clean(p.ToolID), clean(p.Name), c.secrets.JSON(p.Input)
		return p
	case projection.ToolCompleted:
		p.ToolID, p.Name, p.Output, p.Error = clean(p.ToolID), clean(p.Name), clean(p.Output), clean(p.Error)
		return p
	case projection.PermissionAnswered:
		p.ToolID, p.Name, p.Title = clean(p.ToolID), clean(p.Name), clean(p.Title)
		return p
	case projection.TurnEnded:
		p.Error, p.Partial, p.AgentSession = clean(p.Error), clean(p.Partial), clean(p.AgentSession)
		return p
	}
	return p
}

// boundedOutput is the beginning of what a tool printed, without secrets, and whether that is
// all of it. Secrets are replaced before it is cut: half of one has no shape.
func (c *Coordinator) boundedOutput(printed string) (output string, whole bool) {
	whole = len(printed) <= 2*toolOutput
	if whole {
		output = c.secrets.Text(printed)
	} else {
		output = c.secrets.Stream().Next(printed[:2*toolOutput])
	}
	output = strings.ToValidUTF8(output, "\uFFFD")
	if len(output) > toolOutput {
		output, whole = strings.ToValidUTF8(output[:toolOutput], ""), false
	}
	return output, whole
}

// sayReplaced tells how many secrets were replaced since it was last told.
func (c *Coordinator) sayReplaced() {
	if found := c.secrets.Found(); len(found) > 0 {
		c.o.Events.Notice(Notice{Kind: SecretsReplaced, Names: redact.Kinds(found), Limit: len(found)})
	}
}
