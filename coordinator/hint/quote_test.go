package hint_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// words are arguments and what Quote makes of them.
var words = []struct{ word, quoted string }{
	{"", `''`},
	{"codex", `codex`},
	{"/usr/local/bin/codex-0.1", `/usr/local/bin/codex-0.1`},
	{"--team=core", `--team=core`},
	{"a,b:c@d%e+f_", `a,b:c@d%e+f_`},
	{"-rf", `-rf`},
	{"--", `--`},
	{"=ls", `'=ls'`},
	{"two words", `'two words'`},
	{" ", `' '`},
	{"it's", `'it'\''s'`},
	{"'", `''\'''`},
	{`say "no"`, `'say "no"'`},
	{"nope$(touch pwned)", `'nope$(touch pwned)'`},
	{"`touch pwned`", "'`touch pwned`'"},
	{"'; touch pwned; '", `''\''; touch pwned; '\'''`},
	{"$HOME ${HOME} $'x'", `'$HOME ${HOME} $'\''x'\'''`},
	{"~", `'~'`},
	{"~root/x", `'~root/x'`},
	{"*.go ?[a-z]{1,2}", `'*.go ?[a-z]{1,2}'`},
	{"a&b|c;d<e>f(g)#h", `'a&b|c;d<e>f(g)#h'`},
	{"wow!!", `'wow!!'`},
	{`back\slash\`, `'back\slash\'`},
	{"größe 世界", `'größe 世界'`},
	{"two\nlines", `$'two\nlines'`},
	{"\n", `$'\n'`},
	{"$(touch pwned)\n", `$'$(touch pwned)\n'`},
	{"tab\there", `$'tab\there'`},
	{"\x1b[2Jit's `x` \\n!", `$'\033[2Jit\047s ` + "`x`" + ` \\n\041'`},
	{"\r\a\x7f\xc2\x9b", `$'\015\007\177\302\233'`},
	{"\xff\xfeé", `$'\377\376é'`},
	{"right\u202eleft", `$'right\342\200\256left'`},
	{"no\u00a0break", `$'no\302\240break'`},
	{"\x0712", `$'\00712'`},
}

func TestQuote(t *testing.T) {
	for _, test := range words {
		if got := hint.Quote(test.word); got != test.quoted {
			t.Errorf("Quote(%q) = %s, want %s", test.word, got, test.quoted)
		}
	}
	if got := hint.Quote("a\x00b"); got != "'a\uFFFDb'" {
		t.Errorf("a NUL became %s", got)
	}
}

func TestShellReadsQuotedWordsBack(t *testing.T) {
	for _, shell := range []string{"sh", "bash", "zsh", "ksh", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		run := []string{path, "-c"}
		if shell == "busybox" {
			run = []string{path, "sh", "-c"}
		}
		t.Run(shell, func(t *testing.T) {
			escapes := reads(t, run, "printf %s "+hint.Quote("\a")) == "\a"
			for _, test := range words {
				if strings.HasPrefix(test.quoted, "$'") && !escapes {
					continue
				}
				want := test.word + "\x00second\x00"
				if got := reads(t, run, `printf '%s\0' `+hint.Join([]string{test.word, "second"})); got != want {
					t.Errorf("%s is read as %q, want %q", test.quoted, got, want)
				}
			}
		})
	}
}

// reads runs a script in an empty directory, which has to stay empty, and returns what it prints.
func reads(t *testing.T, shell []string, script string) string {
	t.Helper()
	cmd := exec.Command(shell[0], append(slices.Clone(shell[1:]), script)...)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v", script, err)
	}
	if left, _ := filepath.Glob(filepath.Join(cmd.Dir, "*")); len(left) > 0 {
		t.Errorf("%s made %q", script, left)
	}
	return string(out)
}

func TestJoinKeepsFirstWordACommand(t *testing.T) {
	for _, test := range []struct {
		argv []string
		want string
	}{
		{nil, ""},
		{[]string{"chmod", "+x", "--", "-my agent"}, `chmod +x -- '-my agent'`},
		{[]string{"A=b", "c=d"}, `'A=b' c=d`},
		{[]string{"A=b", "ls"}, `'A=b' ls`},
		{[]string{"ls", "A=b", "if"}, `ls A=b if`},
		{[]string{"if", "if"}, `'if' if`},
		{[]string{"if", "x"}, `'if' x`},
		{[]string{"time"}, `'time'`},
		{[]string{"nope$(touch pwned)"}, `'nope$(touch pwned)'`},
	} {
		if got := hint.Join(test.argv); got != test.want {
			t.Errorf("Join(%q) = %s, want %s", test.argv, got, test.want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, test := range words {
		f.Add(test.word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		quoted := hint.Quote(word)
		if !utf8.ValidString(quoted) || strings.ContainsFunc(quoted, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Quote(%q) = %q is not printable", word, quoted)
		}
		if back, ok := unquote(quoted); !ok || back != strings.ReplaceAll(word, "\x00", "\uFFFD") {
			t.Errorf("Quote(%q) = %s is read as %q, %v", word, quoted, back, ok)
		}
	})
}

// unquote reads one word as a shell does; ok is false where a shell would do more than that.
func unquote(quoted string) (word string, ok bool) {
	var b strings.Builder
	for len(quoted) > 0 {
		switch {
		case strings.HasPrefix(quoted, "$'"):
			n := 0
			for quoted = quoted[2:]; quoted[0] != '\''; quoted = quoted[n:] {
				n = 1
				if quoted[0] != '\\' {
					b.WriteByte(quoted[0])
					continue
				}
				n = 2
				switch quoted[1] {
				case 'n':
					b.WriteByte('\n')
				case 't':
					b.WriteByte('\t')
				case '\\':
					b.WriteByte('\\')
				default:
					n = 4
					b.WriteByte((quoted[1]-'0')<<6 | (quoted[2]-'0')<<3 | (quoted[3] - '0'))
				}
			}
			quoted = quoted[1:]
		case quoted[0] == '\'':
			text, rest, closed := strings.Cut(quoted[1:], "'")
			if !closed {
				return "", false
			}
			b.WriteString(text)
			quoted = rest
		case strings.HasPrefix(quoted, `\'`):
			b.WriteByte('\'')
			quoted = quoted[2:]
		case strings.ContainsAny(quoted[:1], " \t\n\"\\$`!*?&;|<>()[]{}#~^"):
			return "", false
		default:
			b.WriteByte(quoted[0])
			quoted = quoted[1:]
		}
	}
	return b.String(), true
}
