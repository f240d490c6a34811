package completion

import (
	"io"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat"
	"github.com/alecthomas/kong"
)

// grammar has a command and a flag of each kind.
type grammar struct {
	Home  string
	Quiet bool `short:"q"`
	Chat  struct {
		Resume chat.OptionalID `short:"r"`
		Format string          `enum:"md,html" default:"md" short:"f"`
		Model  string
		Path   string
	} `cmd:""`
	Sessions struct {
		List struct {
			Limit int `short:"n"`
		} `cmd:"" aliases:"ls" default:"withargs"`
		Search struct {
			Words string   `arg:""`
			Path  []string `arg:"" optional:""`
		} `cmd:""`
		Guide struct {
			Kind string `arg:"" enum:"one,two"`
		} `cmd:""`
		Secret struct{} `cmd:"" hidden:""`
	} `cmd:""`
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct{ words, want string }{
		{"", "chat sessions"},
		{"s", "sessions"},
		{"x", ""},
		{"sessions ", "list search guide"},
		{"sessions se", "search"},
		{"chat --", "--help --home --quiet --resume --format --model --path"},
		{"sessions --l", "--limit"},
		{"sessions list --l", "--limit"},
		{"sessions ls --l", "--limit"},
		{"chat --format ", "md html"},
		{"chat --format h", "html"},
		{"chat --format=", "--format=md --format=html"},
		{"chat --format=h", "--format=html"},
		{"chat --quiet=", ""},
		{"chat --nothing=", ""},
		{"chat -f ", "md html"},
		{"chat -qf ", "md html"},
		{"chat -qfmd ", ""},
		{"chat -fq ", ""},
		{"chat -x --format ", "md html"},
		{"chat -q --fo", "--format"},
		{"chat --format md --fo", "--format"},
		{"chat --format --fo", ""}, // a value, though none that is valid
		{"chat --resume --fo", "--format"},
		{"chat --resume --format ", "md html"},
		{"chat --resume ID --fo", "--format"},
		{"chat --resume ", ""},
		{"chat --path ", ":files"},
		{"chat --path=", ":files"},
		{"chat --model ", ""},
		{"chat -- --fo", ""},
		{"-- ", ""},
		{"sessions guide ", "one two"},
		{"sessions guide t", "two"},
		{"sessions guide -- t", "two"},
		{"sessions guide one ", ""},
		{"sessions search a ", ":files"},
		{"sessions search a b ", ":files"},
		{"sessions search - ", ":files"},
		{"sessions --limit 3 ", "list search guide"},
		{"sessions -n 3 g", "guide"},
		{"sessions x gui", ""},
	} {
		k, err := kong.New(&grammar{}, kong.Name("agent-chatter"))
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		a, err := app.New(app.IO{Stdout: &shown, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&Complete{Shell: "fish", Words: strings.Split(tt.words, " ")}).Run(a, k); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(shown.String()) {
			text, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, text)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.words, got, tt.want)
		}
	}
}
