package acp

import (
	"context"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// The ids of the answers to a question: an option has its number after choiceOption.
const (
	choiceOption = "choice_"
	skipOption   = "skip"
)

// answerQuestions asks the questions of a member: the protocol has requests for permission, whose options are the
// answers. A question that needs a text cannot be asked so.
func (o *session) answerQuestions(ctx context.Context, q coordinator.Question) coordinator.Answer {
	answer := coordinator.Answer{Decision: coordinator.Allowed}
	for i, question := range q.Permission.Questions {
		options := questionOptions(question)
		if options == nil {
			return coordinator.Answer{}
		}
		var chosen []string
		switch id := o.ask(ctx, options, questionCall(q, i)); {
		case id == rejectOnce:
			return coordinator.Answer{Decision: coordinator.Refused}
		case id == skipOption && question.Optional:
		default:
			n, err := strconv.Atoi(strings.TrimPrefix(string(id), choiceOption))
			if err != nil || n < 1 || n > len(question.Options) {
				return coordinator.Answer{}
			}
			chosen = []string{question.Options[n-1].Label}
		}
		answer.Answers = append(answer.Answers, chosen)
	}
	return answer
}

// questionOptions returns the answers to a question that are possible; nil if it has none.
func questionOptions(q agent.Question) (all []sdk.PermissionOption) {
	for i, o := range q.Options {
		all = append(all, sdk.PermissionOption{
			OptionId: sdk.PermissionOptionId(choiceOption + strconv.Itoa(i+1)), Name: tty.SafeLine(o.Label),
			Kind: sdk.PermissionOptionKindAllowOnce,
		})
	}
	if q.Optional {
		all = append(all, sdk.PermissionOption{
			OptionId: skipOption, Name: "Skip", Kind: sdk.PermissionOptionKindAllowOnce,
		})
	}
	if all == nil {
		return nil
	}
	return append(all, sdk.PermissionOption{
		OptionId: rejectOnce, Name: "Refuse", Kind: sdk.PermissionOptionKindRejectOnce,
	})
}

// questionCall describes a question of a member, and which of its answers cannot be given.
func questionCall(q coordinator.Question, i int) sdk.ToolCallUpdate {
	call := toolCall(coordinator.Question{
		TurnID: q.TurnID, Member: q.Member,
		Permission: agent.Permission{ToolID: q.Permission.ToolID, Title: q.Permission.Questions[i].Text},
	})
	text := host.QuestionText(q.Member.DisplayName, q.Permission, i)
	switch question := q.Permission.Questions[i]; {
	case question.Several:
		text += "\n" + textOneAnswer
	case question.Free:
		text += "\n" + textNoText
	}
	call.Content = []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))}
	return call
}

const (
	textOneAnswer = "Several answers are possible; the editor can give only one of them."
	textNoText    = "A text is possible, too; the editor can give only one of these answers."
)
