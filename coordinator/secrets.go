package coordinator

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// redact returns the payload without secrets. Every event passes it before it is appended. IDs that
// the program assigns stay; names and IDs that agents assign do not.
func (c *Coordinator) redact(p projection.Payload) projection.Payload {
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
	case projection.PlanUpdated:
		p.Entries = slices.Clone(p.Entries)
		for i := range p.Entries {
			p.Entries[i].Content = clean(p.Entries[i].Content)
		}
		return p
	case projection.TurnEnded:
		p.Error, p.Partial, p.AgentSession = clean(p.Error), clean(p.Partial), clean(p.AgentSession)
		return p
	}
	return p
}

// boundedOutput returns the beginning of a tool's output, without secrets, and whether it is
// complete. Secrets are replaced before it is cut because part of a secret is not recognized.
func (c *Coordinator) boundedOutput(output string) (bounded string, complete bool) {
	complete = len(output) <= 2*maxToolOutput
	if complete {
		bounded = c.secrets.Text(output)
	} else {
		bounded = c.secrets.Stream().Next(output[:2*maxToolOutput])
	}
	bounded = validUTF8(bounded)
	if len(bounded) > maxToolOutput {
		bounded, complete = runecut.Prefix(bounded, maxToolOutput), false
	}
	return bounded, complete
}

// notifyRedacted notifies the listener of the secrets that were replaced since the last call.
func (c *Coordinator) notifyRedacted() {
	if found := c.secrets.Found(); len(found) > 0 {
		c.notify(SecretsRedacted{redact.Kinds(found), len(found)})
	}
}
