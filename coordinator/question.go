package coordinator

import (
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// cleanQuestions returns questions without secrets. The labels of a question stay different from each other.
func cleanQuestions(all []agent.Question, clean func(string) string) []agent.Question {
	all = slices.Clone(all)
	for i := range all {
		q := &all[i]
		q.Header, q.Text = clean(q.Header), clean(q.Text)
		q.Options = slices.Clone(q.Options)
		seen := map[string]bool{}
		for j := range q.Options {
			o := &q.Options[j]
			o.Label, o.Description = clean(o.Label), clean(o.Description)
			for label, n := o.Label, 2; seen[o.Label]; n++ {
				o.Label = fmt.Sprintf("%s (%d)", label, n)
			}
			seen[o.Label] = true
		}
	}
	return all
}

// answered returns the grant that gives the agent the user's answers, without secrets unless a question is for one.
// Answers that do not fit the questions are none.
func (r permissionRequest) answered(given [][]string, clean func(string) string) (agent.Grant, projection.Decider) {
	if len(given) != len(r.questions) {
		return agent.Refused, projection.ByDefault
	}
	grant := agent.AllowedOnce
	for i, shown := range r.permission.Questions {
		if shown.Check(given[i]) != nil {
			return agent.Refused, projection.ByDefault
		}
		answer := []string{}
		for _, text := range given[i] {
			at := slices.IndexFunc(shown.Options, func(o agent.Option) bool { return o.Label == text })
			switch {
			case at >= 0:
				text = r.questions[i].Options[at].Label
			case !shown.Secret:
				text = clean(text)
			}
			answer = append(answer, text)
		}
		grant.Answers = append(grant.Answers, answer)
	}
	return grant, projection.ByPerson
}

// record returns the questions and the answers that the journal gets.
func (r permissionRequest) record(answers [][]string) (questions []projection.Question, recorded [][]string) {
	for i, q := range r.permission.Questions {
		question := projection.Question{
			Header: q.Header, Text: q.Text, Several: q.Several, Free: q.Free, Secret: q.Secret,
		}
		for _, o := range q.Options {
			question.Options = append(question.Options, projection.QuestionOption(o))
		}
		questions = append(questions, question)
		if answers == nil {
			continue
		}
		answer := []string{}
		for _, text := range answers[i] {
			at := slices.IndexFunc(r.questions[i].Options, func(o agent.Option) bool { return o.Label == text })
			if at >= 0 {
				text = q.Options[at].Label
			}
			if !q.Secret {
				answer = append(answer, text)
			}
		}
		recorded = append(recorded, answer)
	}
	return questions, recorded
}

// recordableQuestions returns questions and answers as they may be recorded.
func (c *Coordinator) recordableQuestions(p projection.PermissionAnswered) projection.PermissionAnswered {
	questions, answers := slices.Clone(p.Questions), slices.Clone(p.Answers)
	for i := range questions {
		q := &questions[i]
		q.Header, q.Text = c.bounded(q.Header, maxTitle), c.bounded(q.Text, maxTitle)
		q.Options = slices.Clone(q.Options)
		for j, o := range q.Options {
			q.Options[j] = projection.QuestionOption{
				Label: c.bounded(o.Label, maxTitle), Description: c.bounded(o.Description, maxTitle),
			}
		}
	}
	for i, answer := range answers {
		answers[i] = make([]string, len(answer))
		for j, text := range answer {
			answers[i][j] = c.bounded(text, maxTitle)
		}
	}
	p.Questions, p.Answers = questions, answers
	return p
}
