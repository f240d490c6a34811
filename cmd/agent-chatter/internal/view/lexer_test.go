package view

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
)

// marks name the styles in marked.
var marks = map[ansi.Style]string{
	comment: "c", quoted: "s", number: "n", keyword: "k", function: "f", key: "y", removed: "-", {Bold: true}: "b",
	prompt: "p",
}

// marked returns lines with each styled token as style<text>.
func marked(l Lexer, text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		for _, span := range l.Line(line) {
			if mark := marks[span.Style]; mark != "" {
				b.WriteString(mark + "<" + span.Text + ">")
			} else {
				b.WriteString(span.Text)
			}
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestTokensOfLanguages(t *testing.T) {
	for _, tt := range []struct{ language, text, want string }{
		{"go", "func f(a int) { return g(\"x\\\"y\", 0x1f) } // c", "k<func> f<f>(a k<int>) { k<return> f<g>(s<\"x\\\"y\">, n<0x1f>) } c<// c>"},
		{"Go", "/* a\nb */ x := `\n`+y", "c</* a>\nc<b */> x := s<`>\ns<`>+y"},
		{"python", "def f(): # c\n  '''a\n b''' + 'c'", "k<def> f<f>(): c<# c>\n  s<'''a>\ns< b'''> + s<'c'>"},
		{"ts", "let a: string = 'b'", "k<let> a: k<string> = s<'b'>"},
		{"rust", "fn g<'a>(x: &'a str) -> 'b' // c", "k<fn> g<'a>(x: &'a k<str>) -> s<'b'> c<// c>"},
		{"sh", "if [ $# -gt 0 ]; then # c\necho \"$a\"", "k<if> [ y<$># -gt n<0> ]; k<then> c<# c>\nk<echo> s<\"$a\">"},
		{"sql", "SELECT a from b -- c", "k<SELECT> a k<from> b c<-- c>"},
		{"json", `{"a": [1.5, true, "b"]}`, `{y<"a">: [n<1.5>, k<true>, s<"b">]}`},
		{"yaml", "- a-b: 'c' # d\n  url: x#y", "- y<a-b>: s<'c'> c<# d>\n  y<url>: x#y"},
		{"toml", "a.b = 3", "y<a.b> = n<3>"},
		{"html", `<a href="b">c &amp; d</a> <!-- e`, `k<<a> y<href>=s<"b">k<>>c &amp; dk<</a>k<>> c<<!-- e>`},
		{"css", "a { color: #fff; } /* b */", "a { color: y<#fff>; } c</* b */>"},
		{"diff", "--- a\n-b\n c", "b<--- a>\n-<-b>\n c"},
		{"patch", "+++ a\n+b\n@@ -1\n+", "b<+++ a>\ns<+b>\ny<@@ -1>\ns<+>"},
		{"html", "<a\nb='c'/>d <br>", "k<<a>\ny<b>=s<'c'>k</>>d k<<br>k<>>"},
		{"json", `{"a" : "b\"": 1_0}`, `{y<"a"> : y<"b\"">: n<1_0>}`},
		{"json", `{"a`, `{s<"a>`},
		{"python", "@a_b.c x9", "y<@a_b>.c x9"},
		{"sh", "${a_b}-c a#b", "y<${a_b}-c> a#b"},
		{"rust", `'\n' 'x`, `s<'\n'> 'x`},
		{"yaml", "a: b: c", "y<a>: b: c"},
		{"go", "in int f (x) f(y)", "in k<int> f (x) f<f>(y)"},
		{"console", "$ echo 'a' b # c\n1 if 'x", "p<$ >b<echo>b< >s<'a'>b< b >c<# c>\n1 if 'x"},
		{"Shell-Session", "a \\\n$ a \\\n  b 1\nif", "a \\\np<$ >b<a \\>\nb<  b >b<1>\nif"},
		{"shell", "$ if", "y<$> k<if>"},
		{"golang ", "func", "func"},
		{"", "func 1", "func 1"},
		{"nothing", "func 1", "func 1"},
	} {
		if got := marked(NewLexer(tt.language), tt.text); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.language, got, tt.want)
		}
	}
}

func TestTokensHaveAllOfTheText(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		l := NewLexer(strings.Fields(rapid.SampledFrom(languages[:]).Draw(t, "language").names)[0])
		for range 3 {
			words := rapid.SliceOf(rapid.SampledFrom([]string{
				"a", "1", " ", `"`, "'", "`", "\\", "/*", "*/", "//", "#", "$", "<", ">", "<!--", "é", "\xff", "=", ":", "[", "]]", "--",
			}))
			line := strings.Join(words.Draw(t, "words"), "")
			text := ""
			for _, span := range l.Line(line) {
				text += span.Text
			}
			if text != line {
				t.Fatalf("the tokens of %q are %q", line, text)
			}
		}
	})
}
