package clientconfig

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"
)

// plain is the usual Command, and hostile one whose strings need quoting in every format.
var (
	plain   = Command{"/usr/local/bin/agent-chatter", []string{"acp"}}
	hostile = Command{
		`C:\Program Files\it's "mine"\${HOME}\agent-chatter`,
		[]string{"--home", "/a b/$HOME\n\x01\t'\u202e\U000e0001/ü😀]]", "mcp", `\`, "#{x} %s", ""},
	}
)

// setups are all of them, by name.
func setups(c Command) map[string]Setup {
	all := map[string]Setup{}
	for _, editor := range []string{"zed", "jetbrains", "neovim", "emacs"} {
		all["acp-"+editor] = ACP(editor, c)
	}
	for _, agent := range []string{"claude", "codex", "gemini", "zed"} {
		all["mcp-"+agent] = MCP(agent, c, true)
		all["mcp-"+agent+"-without-a-shell"] = MCP(agent, c, false)
	}
	return all
}

func TestSetups(t *testing.T) {
	for _, c := range []struct {
		name    string
		command Command
	}{{"plain", plain}, {"hostile", hostile}} {
		for name, s := range setups(c.command) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				apptest.Golden(t, filepath.Join("testdata", c.name, name+".golden"), s.Text+"\n"+s.Where+"\n")
			})
		}
	}
}

// TestSetupsAreJSON reads the JSON back. Claude Code and Gemini CLI replace variables in it.
func TestSetupsAreJSON(t *testing.T) {
	for name, s := range setups(hostile) {
		if !strings.HasPrefix(s.Text, "{") {
			continue
		}
		var sections map[string]map[string]struct {
			Command string
			Args    []string
		}
		if err := json.Unmarshal([]byte(s.Text), &sections); err != nil {
			t.Errorf("%s: %v in %s", name, err, s.Text)
		}
		entries := 0
		for _, section := range sections {
			for _, e := range section {
				entries++
				got := Command{e.Command, e.Args}
				if strings.Contains(name, "claude") || strings.Contains(name, "gemini") {
					got = expandedIn(got)
				}
				if got.Path != hostile.Path || !slices.Equal(got.Args, hostile.Args) {
					t.Errorf("%s: %q, want %q", name, got, hostile)
				}
			}
		}
		if entries != 1 {
			t.Errorf("%s has %d entries", name, entries)
		}
	}
}

// expandedIn replaces what unexpanded has written as Claude Code and Gemini CLI do.
func expandedIn(c Command) Command {
	expand := func(s string) string { return strings.ReplaceAll(s, "${AGENT_CHATTER_DOLLAR:-$}", "$") }
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = expand(arg)
	}
	return Command{expand(c.Path), args}
}

// TestLiteralsAreReadBack reads them with the rules of Go, which are those of TOML and Emacs Lisp as far as a literal
// uses them, and with the rules of Lua.
func TestLiteralsAreReadBack(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var fromJSON string
		if err := json.Unmarshal([]byte(inJSON(s)), &fromJSON); err != nil || fromJSON != s {
			t.Errorf("JSON %s: %q, %v", inJSON(s), fromJSON, err)
		}
		for name, literal := range map[string]string{"TOML": inTOML(s), "Lisp": inLisp(s)} {
			if got, err := strconv.Unquote(literal); err != nil || got != s {
				t.Errorf("%s %s: %q, %v", name, literal, got, err)
			}
		}
		if got := unquoteLua(inLua(s)); got != s {
			t.Errorf("Lua %s: %q", inLua(s), got)
		}
	})
}

// unquoteLua returns the value of a literal with the escapes \\, \", \n and \DDD.
func unquoteLua(literal string) string {
	var b strings.Builder
	rest := literal[1 : len(literal)-1]
	for rest != "" {
		if rest[0] != '\\' {
			b.WriteByte(rest[0])
			rest = rest[1:]
			continue
		}
		if code, err := strconv.Atoi(rest[1:min(4, len(rest))]); err == nil {
			b.WriteByte(byte(code))
			rest = rest[4:]
			continue
		}
		b.WriteByte(map[byte]byte{'\\': '\\', '"': '"', 'n': '\n'}[rest[1]])
		rest = rest[2:]
	}
	return b.String()
}

func TestUnexpanded(t *testing.T) {
	for s, want := range map[string]string{
		"/usr/bin/x":  "/usr/bin/x",
		"$":           "$",
		"a$ $/b":      "a$ $/b",
		"$HOME/x":     "${AGENT_CHATTER_DOLLAR:-$}HOME/x",
		"${HOME}$1$$": "${AGENT_CHATTER_DOLLAR:-$}{HOME}${AGENT_CHATTER_DOLLAR:-$}1$$",
	} {
		if got := unexpanded(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}
