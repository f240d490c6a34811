package main

import (
	"io"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// unforeseen are the values that nobody can foresee.
var unforeseen = []string{
	"message", "max-rounds", "from", "to", "at", "speed", "n", "keep", "archive-after", "delete-after", "older-than", "limit",
	"text", "speaker", "since", "title", "display-name", "timeout", "with-model", "words", "rounds", "model",
}

func TestEveryValueOfACommandCompletesOrIsFree(t *testing.T) {
	var c cli
	parser, err := kong.New(&c, kong.Vars{"version": version}, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range append(parser.Model.Leaves(false), parser.Model.Node) {
		values := slices.Clone(node.Positional)
		for _, f := range node.Flags {
			values = append(values, f.Value)
		}
		for _, v := range values {
			_, known := completed[nameOf(v)]
			if !known && !v.IsBool() && v.Enum == "" && !slices.Contains(unforeseen, v.Name) {
				t.Errorf("%s: nobody said what completes %q", node.FullPath(), v.Name)
			}
		}
	}
}

func TestWordsThatBashTookApartAreOneAgain(t *testing.T) {
	for _, test := range []struct {
		parts  []string
		words  []string
		behind string
	}{
		{nil, nil, ""},
		{[]string{""}, []string{""}, ""},
		{[]string{"chat", "--resume", ""}, []string{"chat", "--resume", ""}, ""},
		{[]string{"chat", "--resume", "="}, []string{"chat", "--resume="}, "--resume="},
		{[]string{"chat", "--resume", "=", "7Q"}, []string{"chat", "--resume=7Q"}, "--resume="},
		{[]string{"replay", "--at", "turn", ":", "2", "7Q"}, []string{"replay", "--at", "turn:2", "7Q"}, ""},
		{[]string{"replay", "Fix", ":", `\ the\ lo`}, []string{"replay", "Fix: the lo"}, "Fix:"},
		{[]string{"replay", `"Fix: the lo`}, []string{"replay", "Fix: the lo"}, ""},
		{[]string{"replay", `'it is \ `}, []string{"replay", `it is \ `}, ""},
		{[]string{"replay", `a"b c"d\"`}, []string{"replay", `ab cd"`}, ""},
	} {
		words, behind := bashWords(test.parts)
		if diff := cmp.Diff(test.words, words); diff != "" || behind != test.behind {
			t.Errorf("%q (-want +got):\n%s\nbehind %q, want %q", test.parts, diff, behind, test.behind)
		}
	}
}
