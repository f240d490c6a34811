package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// A form is what a server of the Model Context Protocol, or an agent, asks the user to fill in: a JSON schema of an
// object with simple fields.
type form struct {
	fields    []formField
	questions []Question // of fields, one for each
}

// A formField is a field of a form.
type formField struct {
	name string
	own  string // the field after it, which is for the user's own text; "": there is none

	Type        string       `json:"type"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Enum        []string     `json:"enum"`
	EnumNames   []string     `json:"enumNames"`
	OneOf       []formOption `json:"oneOf"`
	Items       struct {
		Enum  []string     `json:"enum"`
		AnyOf []formOption `json:"anyOf"`
	} `json:"items"`
	Meta struct {
		Codex struct {
			IsSecret bool `json:"isSecret"`
		} `json:"codex"`
	} `json:"_meta"`
}

type formOption struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// The labels of the options of a form, as far as it has none.
const (
	labelYes    = "Yes"
	labelNo     = "No"
	labelAccept = "Accept"
)

// ownSuffixes are those of the names of fields for the user's own text instead of an option of the field before, as the
// servers for Claude Code and Codex make them.
var ownSuffixes = []string{"_custom", "_note"}

// parseForm returns the form of a schema. The error is errUnanswerable.
func parseForm(message string, schema json.RawMessage) (form, error) {
	fields, required, err := fieldsIn(schema)
	if err != nil {
		return form{}, err
	}
	var f form
	names := map[string]bool{}
	for _, field := range fields {
		if n := len(f.fields); n > 0 && field.ownTextOf(f.fields[n-1]) {
			f.fields[n-1].own, f.questions[n-1].Free = field.name, true
			continue
		}
		q, err := field.question()
		if err != nil || names[field.name] {
			return form{}, errUnanswerable
		}
		names[field.name] = true
		q.Optional = !slices.Contains(required, field.name)
		f.fields, f.questions = append(f.fields, field), append(f.questions, q)
	}
	if len(f.fields) == 0 { // it asks for consent
		f.questions = []Question{{Text: message, Options: []Option{{Label: labelAccept}}}}
	}
	if len(f.fields) == 1 && f.fields[0].Description == "" && message != "" {
		f.questions[0].Header, f.questions[0].Text = f.fields[0].Title, message
	}
	return f, checkQuestions(f.questions)
}

// fieldsIn returns the fields of a schema, in order, and the names of those that are required.
func fieldsIn(schema json.RawMessage) (fields []formField, required []string, err error) {
	var object struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if len(schema) > 0 && json.Unmarshal(schema, &object) != nil {
		return nil, nil, errUnanswerable
	}
	properties := json.NewDecoder(bytes.NewReader(object.Properties))
	if token, err := properties.Token(); err != nil || token != json.Delim('{') {
		return nil, object.Required, nil
	}
	for properties.More() {
		var field formField
		name, err := properties.Token()
		if err != nil || properties.Decode(&field) != nil || len(fields) >= 2*maxFields {
			return nil, nil, errUnanswerable
		}
		field.name, _ = name.(string)
		fields = append(fields, field)
	}
	return fields, object.Required, nil
}

// ownTextOf reports whether a field is for the user's own text instead of an option of the field before.
func (f formField) ownTextOf(before formField) bool {
	return f.Type == "string" && len(f.options()) == 0 && before.own == "" && len(before.options()) > 0 &&
		slices.ContainsFunc(ownSuffixes, func(suffix string) bool { return f.name == before.name+suffix })
}

// options returns the options of a field in one form. Const is the value.
func (f formField) options() []formOption {
	all := slices.Concat(f.OneOf, f.Items.AnyOf)
	for _, value := range f.Items.Enum {
		all = append(all, formOption{Const: value})
	}
	for i, value := range f.Enum {
		o := formOption{Const: value}
		if i < len(f.EnumNames) {
			o.Title = f.EnumNames[i]
		}
		all = append(all, o)
	}
	return all
}

// question returns what a field asks.
func (f formField) question() (Question, error) {
	q := Question{Header: f.Title, Text: f.Description, Secret: f.Meta.Codex.IsSecret}
	if q.Text == "" {
		q.Header, q.Text = "", f.Title
	}
	for _, o := range f.options() {
		q.Options = append(q.Options, Option{o.label(), o.Description})
	}
	switch f.Type {
	case "string":
		q.Free = len(q.Options) == 0
	case "number", "integer":
		q.Free, q.Number = true, true
	case "boolean":
		q.Options = []Option{{Label: labelYes}, {Label: labelNo}}
	case "array":
		q.Several = true
	default:
		return Question{}, errUnanswerable
	}
	return q, nil
}

func (o formOption) label() string { return cmp.Or(o.Title, o.Const) }

// content returns the fields with their answers, which fit the questions.
func (f form) content(answers [][]string) map[string]any {
	content := map[string]any{}
	for i, field := range f.fields {
		var chosen []string
		for _, text := range answers[i] {
			options := field.options()
			at := slices.IndexFunc(options, func(o formOption) bool { return o.label() == text })
			switch {
			case at >= 0:
				chosen = append(chosen, options[at].Const)
			case field.own != "":
				content[field.own] = text
			default:
				chosen = append(chosen, text)
			}
		}
		switch {
		case field.Type == "array":
			if chosen != nil {
				content[field.name] = chosen
			}
		case chosen != nil:
			content[field.name] = field.value(chosen[0])
		}
	}
	return content
}

// value returns an answer as the type of the field.
func (f formField) value(text string) any {
	switch f.Type {
	case "boolean":
		return text == labelYes
	case "number", "integer":
		n, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n)
		}
		return n
	}
	return text
}

// permission returns what a form asks the user.
func (f form) permission(use *formUse, message string) Permission {
	return Permission{
		ToolID: use.id, Tool: use.name, Title: questionTitle(message, f.questions), Questions: f.questions,
	}
}

// response returns the response to the request of a form.
func (f form) response(grant Grant) map[string]any {
	if grant.Scope == Nothing {
		return map[string]any{"action": "decline"}
	}
	return map[string]any{"action": "accept", "content": f.content(grant.Answers)}
}

// A formUse is a form, or other questions, that the agent does not report as the use of a tool: they are one of its
// own.
type formUse struct {
	id, name   string
	permission *atomic.Int32 // notAsked, asked, granted or refused
}

// formName is the name of the tool that a form of a server is reported as.
func formName(server string) string { return cmp.Or(server, "agent") + ".elicitation" }

func formID(request string) string { return "request " + request }

// formUses are those of a turn that have not ended.
type formUses []*formUse

// add adds one. It returns the event that reports it.
func (f *formUses) add(id, name string) (*formUse, ToolStarted) {
	use := &formUse{label(id), label(name), new(atomic.Int32)}
	use.permission.Store(asked)
	*f = append(*f, use)
	return use, ToolStarted{ID: use.id, Name: use.name}
}

// ended removes the forms that have an answer, and returns the events that report it.
func (f *formUses) ended() (events []Event) {
	*f = slices.DeleteFunc(*f, func(use *formUse) bool {
		done := ToolCompleted{ID: use.id, Name: use.name}
		switch use.permission.Load() {
		case asked:
			return false
		case refused:
			done.Error = "permission denied"
		case notAsked:
			done.Error = "withdrawn"
		}
		events = append(events, done)
		return true
	})
	return events
}
