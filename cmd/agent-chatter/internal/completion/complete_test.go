package completion

import (
	"cmp"
	"io"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/usage"
	"github.com/alecthomas/kong"
)

// grammar has a command and a flag of each kind.
type grammar struct {
	Home  string
	Quiet bool `short:"q"`
	Chat  struct {
		Resume usage.OptionalID `short:"r"`
		Format string           `enum:"md,html" default:"md" short:"f"`
		Model  string
		Path   string
		Trace  bool `hidden:""`
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
		Show struct {
			ID string `arg:""`
		} `cmd:""`
		Secret struct{} `cmd:"" hidden:""`
		Both   struct {
			Resume usage.OptionalID
			Path   string `arg:"" optional:""`
		} `cmd:"" hidden:""`
		Run struct {
			Command []string `arg:"" passthrough:""`
		} `cmd:"" hidden:""`
	} `cmd:""`
	Files struct {
		Add struct {
			Path []string `arg:"" optional:""`
		} `cmd:"" default:"withargs"`
	} `cmd:"" hidden:""`
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct{ words, want string }{
		{"", "chat sessions"},
		{"s", "sessions"},
		{"x", ""},
		{"sessions ", "list search guide show"},
		{"sessions se", "search"},
		{"sessions show ", ""}, // there is no session
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
		{"sessions --limit 3 ", "list search guide show"},
		{"sessions -n 3 g", "guide"},
		{"sessions x gui", ""},
		{"sessions -- guide t", ""},
		{"chat --model -f ", ""},
		{"sessions both ", ":files"},
		{"sessions both --resume x", ":files"},
		{"sessions run ls --h", ":files"},
		{"files a ", ":files"},
	} {
		if got := complete(t, t.TempDir(), "fish", strings.Split(tt.words, " ")...); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.words, got, tt.want)
		}
	}
}

// complete returns the completions of the last word, without their descriptions.
func complete(t *testing.T, home, shell string, words ...string) string {
	t.Helper()
	k, err := kong.New(&grammar{}, kong.Name("agent-chatter"))
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	a, err := app.New(app.IO{Stdout: &shown, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Complete{Shell: shell, Words: words}).Run(a, k); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(shown.String()) {
		text, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		got = append(got, text)
	}
	return strings.Join(got, " ")
}

func TestCompleteWithoutWords(t *testing.T) {
	if got := complete(t, t.TempDir(), "zsh"); got != "chat sessions" {
		t.Errorf("got %q", got)
	}
}

func TestCompleteForBash(t *testing.T) {
	for shell, want := range map[string]string{"bash": "html", "fish": ""} {
		if got := complete(t, t.TempDir(), shell, "chat", "--format", "=", "h"); got != want {
			t.Errorf("%s: got %q, want %q", shell, got, want)
		}
	}
}

func TestCompleteSessions(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	short := apptest.AliceID[len(apptest.AliceID)-4:]
	for word, want := range map[string]string{
		"": "latest " + short, "la": "latest", short: short, strings.ToLower(short[:2]): short, "01j": apptest.AliceID,
		"ON": "one", "one": "one", "ones": "", "x": "",
	} {
		if got := complete(t, home, "fish", "sessions", "show", word); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
		if got := complete(t, t.TempDir(), "fish", "--home", home, "sessions", "show", word); got != want {
			t.Errorf("%q in the home of a flag: got %q, want %q", word, got, want)
		}
		argument := cmp.Or(want, ":files")
		if got := complete(t, home, "fish", "sessions", "both", "--resume", word); got != argument {
			t.Errorf("%q after a flag or as an argument: got %q, want %q", word, got, argument)
		}
		if got := complete(t, t.TempDir(), "fish", "--home="+home, "chat", "--resume", word); got != want {
			t.Errorf("%q after --resume: got %q, want %q", word, got, want)
		}
	}
}
