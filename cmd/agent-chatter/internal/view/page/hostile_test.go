package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"golang.org/x/net/html"
)

// attacks are texts that would run a script or load something if they became markup.
var attacks = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<svg onload=alert(1)><use href="//evil.example/#x"/></svg>`,
	`<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>`,
	`<style>@import url(//evil.example)</style><link rel=stylesheet href=//evil.example>`,
	`<iframe srcdoc="<script>alert(1)</script>"></iframe>`, `<p style="background:url(//evil.example)">`,
	`<base href=//evil.example><meta http-equiv=refresh content="0;url=//evil.example"><form action=//evil.example>`,
	`[a](javascript:alert(1)) [b](JaVa&#115;cript:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](file:///etc/passwd)`,
	`[f](//evil.example) [g](https://example.com/" onclick="alert(1)) [h](https://example.com/'><script>)`,
	`![i](javascript:alert(1)) ![j](https://evil.example/x.png "t") <javascript:alert(1)> <https://example.com/"onclick=x>`,
	`" onclick="alert(1)" x="`, `' onmouseover='alert(1)`, `--><!-- ]]> </pre></code></details></article></textarea></title>`,
	"```\" onclick=\"alert(1)\n</code></pre><script>alert(1)</script>\n```", "    </code></pre><script>alert(1)</script>",
	"| <script>alert(1)</script> | `</code><img src=x onerror=alert(1)>` |\n|---|---|\n| ![x](//evil.example) | a |",
	"# <script>alert(1)</script>\n> <img src=x>\n- <svg/onload=alert(1)>\n1. </li></ol><script>", "a\x00b\x1b[31m\u202ec\u2066d\u2028e\u061c\ufeff",
	"[ref]\n\n[ref]: javascript:alert(1) 'x'", "{{.}} {{define \"x\"}}", "\xff\xfe<\xc0script>", apptest.Hostile,
	strings.Repeat("> ", 5000) + "<script>", strings.Repeat("[", 5000) + "<img>", strings.Repeat("*a_ ", 5000),
}

// everywhere returns a session in which a text is everything that an agent can choose.
func everywhere(text string) *session {
	s := begun(&projection.Parent{SessionID: text, Seq: 1})
	by := projection.Speaker{ID: text, Name: text, DisplayName: text, Type: text}
	s.add(projection.SessionImported{Source: text, Path: text}, projection.TaskSet{Task: &text},
		projection.SessionRenamed{Title: text})
	s.say(by, text)
	s.add(projection.TurnStarted{TurnID: text, MemberID: text})
	s.call(text, "1", text, map[string]string{"command": text}, text, "")
	s.call(text, "2", text, map[string]string{"file_path": text, "old_string": "a", "new_string": text}, text, text)
	s.add(projection.PermissionAnswered{TurnID: text, ToolID: "3", Name: text, By: projection.Decider(text)})
	s.call(text, "3", text, map[string]string{text: text}, "", text)
	s.add(projection.PlanUpdated{TurnID: text, Entries: []projection.PlanEntry{{Content: text, Status: projection.PlanStatus(text)}}},
		projection.TurnEnded{TurnID: text, MemberID: text, FinishReason: projection.FinishReason(text), Error: text,
			Partial: text, DurationMS: 1, Usage: &projection.Usage{Cost: &projection.Cost{Amount: 1, Currency: text}}},
		projection.QueueChanged{Changes: []projection.QueueChange{}, Waiting: []string{text}},
		projection.TurnStarted{TurnID: "open", MemberID: text}, projection.TurnText{TurnID: "open", Text: text},
		projection.ToolStarted{TurnID: "open", ToolID: text, Name: text, Input: json.RawMessage(`[]`)})
	return s
}

// allowed are the attributes that the elements of a page may have.
var allowed = map[string]string{
	"article": "class id data-seq data-end data-turn data-recorded aria-labelledby", "header": "", "h3": "id",
	"a":    "class href title rel target",
	"time": "datetime", "p": "class id data-of data-seq data-from data-to", "ul": "class aria-label", "ol": "start",
	"li": "class", "span": "class", "details": "class id open", "summary": "", "b": "", "code": "",
	"pre": "class tabindex data-language", "div": "class tabindex", "table": "", "tbody": "", "tr": "", "th": "class",
	"td": "class", "h4": "", "h5": "", "h6": "", "blockquote": "", "hr": "", "br": "", "em": "", "strong": "", "del": "",
}

// checkMarkup checks that HTML has only elements and attributes of a page, that all elements end within it, and that
// its text is safe.
func checkMarkup(t testing.TB, text string) {
	t.Helper()
	const before, after = "<!DOCTYPE html><title>x</title><main>", "<footer>"
	root, err := html.Parse(strings.NewReader(before + text + after))
	if err != nil {
		t.Fatal(err)
	}
	outside := 0
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode || n.Type == html.CommentNode:
			if r, found := apptest.Acting(strings.ReplaceAll(n.Data, "\t", "")); found || n.Type == html.CommentNode {
				t.Errorf("the text %.100q has %U", n.Data, r)
			}
		case n.Type != html.ElementNode:
		case slices.Contains([]string{"html", "head", "title", "body", "main", "footer"}, n.Data):
			if outside++; n.Data == "footer" && n.Parent.Data != "main" {
				t.Errorf("the page continues in <%s>", n.Parent.Data)
			}
		default:
			checkElement(t, n)
		}
	}
	if outside != 6 {
		t.Errorf("%d elements are not the page's", outside-6)
	}
}

func checkElement(t testing.TB, n *html.Node) {
	t.Helper()
	names, ok := allowed[n.Data]
	if !ok || n.Namespace != "" {
		t.Errorf("<%s> is in the page", n.Data)
	}
	for _, a := range n.Attr {
		safe := a.Key != "href" || strings.HasPrefix(a.Val, "#seq-") || strings.HasPrefix(a.Val, "https://") ||
			strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "mailto:")
		if !slices.Contains(strings.Fields(names), a.Key) || a.Namespace != "" || !safe {
			t.Errorf("<%s> has %s=%.100q", n.Data, a.Key, a.Val)
		}
		if r, found := apptest.Acting(a.Val); found {
			t.Errorf("%s of <%s> has %U", a.Key, n.Data, r)
		}
	}
}

func TestTextNeverBecomesMarkup(t *testing.T) {
	racetest.SkipSequential(t)
	for i, text := range attacks {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for _, limit := range []int{0, 16} {
				checkMarkup(t, everywhere(text).html(t, limit))
			}
		})
	}
}

func TestALongWord(t *testing.T) {
	racetest.SkipSequential(t)
	word := strings.Repeat("a", 10<<20)
	s := begun(nil)
	s.say(mia, word)
	if got := len(s.html(t, 64<<10)); got > 80<<10 {
		t.Errorf("a page of %d bytes", got)
	}
	if got := s.html(t, 0); !strings.Contains(got, word) {
		t.Error("it is cut without a limit")
	}
}

func FuzzMarkdownToHTML(f *testing.F) {
	for _, text := range attacks {
		f.Add(text)
	}
	f.Add(source)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			t.Skip("parsing the result takes too long")
		}
		var m markup
		m.message(text)
		checkMarkup(t, m.String())
		s := begun(nil)
		s.say(mia, text)
		checkMarkup(t, s.html(t, 0))
	})
}
