package manpages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/alecthomas/kong"
)

// brew has each kind of command, flag and argument.
type brew struct {
	Home  string `help:"Directory of the pots." default:"~/.pots" placeholder:"DIR"`
	JSON  bool   `name:"json" help:"Print JSON lines."`
	Trace bool   `hidden:""`
	Pour  pour   `cmd:"" help:"Pour a cup."`
	Pots  struct {
		List struct {
			Output string `help:"Format: ${enum}." enum:"text,json" default:"text"`
		} `cmd:"" default:"withargs" help:"List the pots."`
		Wash struct {
			Pot []string `arg:"" help:"The pots."`
		} `cmd:"" help:"Wash pots."`
		Break struct{} `cmd:"" hidden:""`
	} `cmd:"" help:"List and wash pots."`
}

type pour struct {
	Strong bool   `short:"s" help:"Pour it strong."`
	Cup    string `arg:"" optional:"" help:"The cup (default: the 'blue' one)."`
}

// Help shows examples first.
func (pour) Help() string {
	return "Examples:\n  brew pour\n  brew pour -s 'the red\\blue one'"
}

const leaves = `# Leaves

<b>Which</b> leaves are *in* the pot, **boiled** for ` + "`3m`" + `, is in [pots](pots.md), see
[the standard](https://example.org/iso-3103), [it](pots.md#black) or [a file](../../pot.go).

'Quoted' lines and
.dots begin no macro: \fB, ` + "`\\n`, ``a`b``" + `, ~/.pots, ^.

![A pot](pot.png)

## A list

- green
- black:

  ` + "```sh\n  brew pour\t-s\n  .TH\n  ```" + `

  and so on

1. one
2. two

### A table

| cup | size |
|---|---|
| red | 1 |
| | 2 |

| cup | size | colour |
|---|---|---|
| ` + "`-s`" + ` | 1 | red |
| m | 2 |

> A quote
`

func manual(t *testing.T) Manual {
	t.Helper()
	k, err := kong.New(new(brew), kong.Name("brew"), kong.Description("Brew tea."))
	if err != nil {
		t.Fatal(err)
	}
	return Manual{
		Commands: k.Model.Node,
		Topics: []Topic{
			{"leaves", "Which leaves there are.", leaves},
			{"pots", "Which pots there are.", "# Pots\n\n## Black\n\nIt is black."},
		},
		Build: app.Build{Version: "1.2.0", Date: "2026-11-29T21:23:00Z"},
	}
}

func TestPages(t *testing.T) {
	var all strings.Builder
	_ = manual(t).each(func(name, section, page string) error {
		all.WriteString("==> " + name + "." + section + "\n" + page)
		return nil
	})
	apptest.Golden(t, filepath.Join("testdata", "pages.golden"), all.String())
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	pages, err := manual(t).Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	written, err := filepath.Glob(filepath.Join(dir, "man[17]", "brew*.[17]"))
	if err != nil || len(written) != pages || pages != 7 {
		t.Errorf("%d pages, files %q, %v", pages, written, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := manual(t).Write(filepath.Join(dir, "file")); err == nil {
		t.Error("pages are written below a file")
	}
}

// The program man shows what was written, and warns of nothing.
func TestManShowsPages(t *testing.T) {
	man := programtest.Path(t, "man")
	dir := t.TempDir()
	if _, err := manual(t).Write(dir); err != nil {
		t.Fatal(err)
	}
	for page, wants := range map[string][]string{
		"man1/brew-pour.1": {"brew-pour - Pour a cup", "brew pour -s 'the red\\blue one'", "-s, --strong", "the 'blue' one"},
		"man7/brew-leaves.7": {
			"in the pot, boiled for 3m, is in brew-pots(7)", "'Quoted' lines and .dots begin no macro: \\fB, \\n, a`b, ~/.pots, ^.",
			"brew pour    -s\n", ".TH\n", "size: 1\n", "https://example.org/iso-3103",
		},
	} {
		cmd := exec.Command(man, "--warnings", "-l", filepath.Join(dir, page))
		cmd.Env = append(os.Environ(), "MANWIDTH=120", "MAN_KEEP_FORMATTING=", "LC_ALL=C.UTF-8")
		var warnings strings.Builder
		cmd.Stderr = &warnings
		shown, err := cmd.Output()
		if err != nil || warnings.String() != "" {
			t.Errorf("%s: %v: %s", page, err, warnings.String())
		}
		for _, want := range wants {
			if !strings.Contains(string(shown), want) {
				t.Errorf("%s lacks %q:\n%s", page, want, shown)
			}
		}
	}
}
