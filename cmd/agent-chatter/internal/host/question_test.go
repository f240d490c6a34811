package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func TestParseAnswer(t *testing.T) {
	options := []agent.Option{{Label: "oak"}, {Label: "pine"}, {Label: "3"}}
	one, several := agent.Question{Options: options}, agent.Question{Options: options, Several: true}
	free := agent.Question{Options: options, Free: true}
	own, number := agent.Question{Free: true}, agent.Question{Free: true, Number: true}
	for _, tt := range []struct {
		q    agent.Question
		line string
		want []string
		ok   bool
	}{
		{one, " 2 ", []string{"pine"}, true},
		{one, "pine", []string{"pine"}, true},
		{one, "3", []string{"3"}, true},
		{one, "4", nil, false},
		{one, "0", nil, false},
		{one, "1, 2", nil, false},
		{one, "elm", nil, false},
		{one, "", nil, false},
		{several, "1,2", []string{"oak", "pine"}, true},
		{several, "2", []string{"pine"}, true},
		{several, "2, 2", nil, false},
		{several, "1,,2", nil, false},
		{several, "1, 9", nil, false},
		{free, "an elm, or 2", []string{"an elm, or 2"}, true},
		{free, "9", nil, false}, // it is mistyped
		{free, strings.Repeat("x", agent.MaxAnswer+1), nil, false},
		{own, "12", []string{"12"}, true},
		{own, "  ", nil, false},
		{own, "/etc", []string{"/etc"}, true},
		{number, "-1.5e3", []string{"-1.5e3"}, true},
		{number, "many", nil, false},
	} {
		got, ok := ParseAnswer(tt.q, tt.line)
		if ok != tt.ok || ok && !slices.Equal(got, tt.want) {
			t.Errorf("%+v, %.20q: %q, %v", tt.q, tt.line, got, ok)
		}
	}
}
