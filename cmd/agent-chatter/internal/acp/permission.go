package acp

import (
	"cmp"
	"context"
	"errors"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/updates"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// The ids of the answers to a request for permission.
const (
	allowOnce    = "allow"
	allowSession = "allow_session"
	rejectOnce   = "reject"
)

var answers = map[sdk.PermissionOptionId]coordinator.Decision{
	allowOnce: coordinator.Allowed, allowSession: coordinator.AllowedForSession, rejectOnce: coordinator.Refused,
}

// Ask implements coordinator.Listener: the client and the other front ends ask their user.
func (l *listener) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	switch chosen := l.session.permissions(q.Member.ID); { // since the turn began
	case chosen == agent.Deny:
		return coordinator.Answer{Decision: coordinator.Refused}
	case len(q.Permission.Questions) > 0:
	case chosen == agent.Allow:
		return coordinator.Answer{Decision: coordinator.Allowed}
	}
	return l.askEverywhere(ctx, q, func(ctx context.Context) coordinator.Answer { return l.askClient(ctx, q) })
}

// askClient asks the client, until ctx is done.
func (l *listener) askClient(ctx context.Context, q coordinator.Question) coordinator.Answer {
	// The context of the request ends when the agent does not wait any more. After session/cancel the client answers
	// by itself.
	asking, withdraw := context.WithCancel(context.Background())
	answered := make(chan coordinator.Answer, 1)
	go func() {
		defer withdraw()
		answered <- l.session.answer(asking, q)
	}()
	select {
	case answer := <-answered:
		return answer
	case <-ctx.Done():
		if cause := context.Cause(l.prompt); !errors.Is(cause, errCanceled) {
			withdraw()
		}
		return coordinator.Answer{}
	}
}

// answer asks for permission, or the questions of a member, one after the other.
func (o *session) answer(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if len(q.Permission.Questions) > 0 {
		return o.answerQuestions(ctx, q)
	}
	id := o.ask(ctx, choices(q.Permission), toolCall(q))
	return coordinator.Answer{Decision: answers[id]} // an unknown one is Unanswered
}

// ask sends a request for permission and waits for the option that is chosen; "" if none is.
func (o *session) ask(
	ctx context.Context, options []sdk.PermissionOption, call sdk.ToolCallUpdate,
) sdk.PermissionOptionId {
	response, err := o.server.client.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: sdk.SessionId(o.id), Options: options, ToolCall: call,
	})
	if err != nil || response.Outcome.Selected == nil {
		return ""
	}
	return response.Outcome.Selected.OptionId
}

// choices returns the answers that are possible. "Always" ends with the session: a client may show one answer of each
// kind, and must not take the agent's own, which has no end, for it.
func choices(p agent.Permission) []sdk.PermissionOption {
	all := []sdk.PermissionOption{{OptionId: allowOnce, Name: "Allow", Kind: sdk.PermissionOptionKindAllowOnce}}
	if p.Omitted == 0 {
		all = append(all, sdk.PermissionOption{
			OptionId: allowSession, Name: "Allow for the session", Kind: sdk.PermissionOptionKindAllowAlways,
		})
	}
	return append(all, sdk.PermissionOption{
		OptionId: rejectOnce, Name: "Reject", Kind: sdk.PermissionOptionKindRejectOnce,
	})
}

// toolCall describes what a member asks for.
func toolCall(q coordinator.Question) sdk.ToolCallUpdate {
	p := q.Permission
	title := tty.SafeLine(q.Member.DisplayName + ": " + cmp.Or(p.Title, p.Tool))
	call := sdk.ToolCallUpdate{
		ToolCallId: updates.ToolCallID(q.TurnID, p.ToolID), Title: &title, Status: sdk.Ptr(sdk.ToolCallStatusPending),
		Meta: map[string]any{"agent-chatter": map[string]any{"member": q.Member.ID, "name": q.Member.DisplayName}},
	}
	if p.Input != nil {
		call.RawInput = p.Input
	}
	for _, e := range p.Edits {
		call.Content = append(call.Content, sdk.ToolDiffContent(e.Path, e.New, e.Old))
		call.Locations = append(call.Locations, sdk.ToolCallLocation{Path: e.Path})
	}
	if len(p.Edits) == 0 {
		text := host.PermissionText(q.Member.DisplayName, p)
		call.Content = []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))}
	}
	return call
}
