package agent

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A Question is a choice that an agent asks the user to make.
type Question struct {
	Header   string // a few words for it; may be ""
	Text     string
	Options  []Option
	Several  bool // several of the options may be chosen
	Free     bool // a text of the user's own is an answer, instead of the options or beside them if Several
	Number   bool // that text is a number
	Optional bool // it may be left without an answer
	Secret   bool // the answer is neither shown nor recorded
}

// An Option is an answer that an agent offers.
type Option struct{ Label, Description string }

// The limits of questions. What has more cannot be answered, and is refused.
const (
	maxFields  = 20       // questions of a request
	maxOptions = 50       // of a question
	maxAsked   = 32 << 10 // bytes of all of them

	MaxAnswer = 4 << 10 // bytes of an answer
)

// Check returns an error that says what is wrong with an answer to the question: the labels of the chosen options, and
// then the user's own text. nil is no answer.
func (q Question) Check(answer []string) error {
	for i, text := range answer {
		switch {
		case q.offers(text):
			continue
		case !q.Free:
			return errors.New("it is none of the options")
		case len(text) > MaxAnswer:
			return fmt.Errorf("it is longer than %d bytes", MaxAnswer)
		case text == "" || !utf8.ValidString(text):
			return errors.New("it is no text")
		case i < len(answer)-1:
			return errors.New("there is more than one text")
		}
		if q.Number && !isNumber(text) {
			return errors.New("it is no number")
		}
	}
	switch {
	case len(answer) == 0 && !q.Optional:
		return errors.New("it needs an answer")
	case len(answer) > 1 && !q.Several:
		return errors.New("only one answer is possible")
	case len(slices.Compact(slices.Sorted(slices.Values(answer)))) < len(answer):
		return errors.New("an answer is repeated")
	}
	return nil
}

func isNumber(text string) bool {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// offers reports whether a text is the label of an option.
func (q Question) offers(text string) bool {
	return slices.ContainsFunc(q.Options, func(o Option) bool { return o.Label == text })
}

// errUnanswerable is why questions are refused without the user.
var errUnanswerable = errors.New("the questions cannot be shown: they are too many or too long, or two options " +
	"of one have the same name")

// checkQuestions returns errUnanswerable if questions cannot be asked. Empty ones are unanswerable, too.
func checkQuestions(questions []Question) error {
	size := 0
	for _, q := range questions {
		size += len(q.Header) + len(q.Text)
		labels := map[string]bool{}
		for _, o := range q.Options {
			size += len(o.Label) + len(o.Description)
			labels[o.Label] = true
		}
		if labels[""] || len(labels) < len(q.Options) || len(q.Options) > maxOptions || len(labels) == 0 && !q.Free {
			return errUnanswerable
		}
	}
	if len(questions) == 0 || len(questions) > maxFields || size > maxAsked {
		return errUnanswerable
	}
	return nil
}

// answered returns the grant, or a refusal if it does not answer all questions of the request.
func (p Permission) answered(grant Grant) Grant {
	if len(p.Questions) == 0 || grant.Scope == Nothing {
		return grant
	}
	if len(grant.Answers) != len(p.Questions) {
		return Refused
	}
	for i, q := range p.Questions {
		if q.Check(grant.Answers[i]) != nil {
			return Refused
		}
	}
	return grant
}

// questionTitle is the title of a request with questions.
func questionTitle(message string, questions []Question) string {
	if strings.TrimSpace(message) == "" && len(questions) > 0 {
		message = questions[0].Text
	}
	return runecut.Prefix(message, maxReason)
}
