package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/chart"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"golang.org/x/net/html"
)

var (
	eva   = projection.Speaker{ID: "eva", Name: "eva", DisplayName: "Eva", Type: projection.TypeHuman}
	hugo  = projection.Speaker{ID: "hugo", Name: "hugo", DisplayName: "Hugo", Type: projection.TypeAI}
	start = time.Date(2026, time.November, 21, 23, 58, 0, 0, time.UTC)
)

// eventsOf returns the events of a session, 20 seconds apart.
func eventsOf(payloads ...projection.Payload) []journal.Event {
	team := projection.Team{ID: "calc", Name: "Calculator <&>"}
	for _, s := range []projection.Speaker{ada, hugo} {
		team.Members = append(team.Members, projection.Member{ID: s.ID, Name: s.Name, DisplayName: s.DisplayName, Type: s.Type})
	}
	payloads = append([]projection.Payload{projection.SessionCreated{Format: projection.Format, SessionID: apptest.AliceID, Team: team}},
		payloads...)
	var events []journal.Event
	for i, p := range payloads {
		at := start.Add(time.Duration(i) * 20 * time.Second)
		r := projection.Record(at, p)
		events = append(events, journal.Event{Seq: uint64(i + 1), Time: at, Type: r.Type, Data: r.Data})
	}
	return events
}

// written returns the document of events.
func written(t *testing.T, events []journal.Event, first uint64, left LeftOut) string {
	t.Helper()
	d := Document{ID: apptest.AliceID, Session: new(projection.State), First: first, LeftOut: left, Chart: new(chart.Chart)}
	var timeline projection.Timeline
	for _, e := range events {
		d.Session.Apply(e)
		timeline.Apply(e)
	}
	for _, row := range timeline.Rows {
		d.Chart.Add(row)
	}
	d.Stats = d.Session.Stats
	var b bytes.Buffer
	if err := write(&d, &b, events); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// write writes a document of events.
func write(d *Document, w io.Writer, events []journal.Event) error {
	var items bytes.Buffer
	body := NewBody(&items)
	body.Members = *NewMembers(d.Session.Team.Members)
	for i, err := range new(conversation.Conversation).Read(projection.Decoded(projectiontest.Sequence(events, nil))) {
		if err == nil && i.Last >= d.First {
			err = body.Add(i)
		}
		if err != nil {
			return err
		}
	}
	return d.Write(w, body, &items)
}

// talk is a session with everything that a document shows.
func talk() []journal.Event {
	task := "Build a calculator: a command line that adds and multiplies"
	return eventsOf(
		projection.SessionRenamed{Title: "The calculator & its <tests>"},
		projection.TaskSet{Task: &task},
		projection.NewMessage("m1", start, eva, "Write a **calculator**. See [the issue](https://example.com/1).", nil),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
		projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{
			{Content: "read the code", Status: projection.Completed}, {Content: "write it", Status: projection.InProgress},
			{Content: "test it", Status: projection.Pending},
		}},
		projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "Bash", Input: json.RawMessage(`{"command":"go test ./..."}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "x", Name: "Bash", Output: "ok  calc  0.2s\n"},
		projection.ToolStarted{TurnID: "t1", ToolID: "y", Name: "Edit", Input: json.RawMessage(
			`{"file_path":"calc.go","old_string":"return a","new_string":"return a + b"}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "y", Name: "Edit", Error: "no such file"},
		projection.NewMessage("m2", start, ada, "It is done:\n\n```go\nfunc Add(a, b int) int { return a + b }\n```\n\n"+
			"| op | test |\n|---|---|\n| add | yes |\n\n- [x] one\n- two", nil),
		projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 42000, Usage: &projection.Usage{
			Input: 1200, CachedRead: 30000, Output: 900, Cost: &projection.Cost{Amount: 0.0421, Currency: "USD"},
		}},
		projection.TurnStarted{TurnID: "t2", MemberID: "hugo"},
		projection.TurnText{TurnID: "t2", Text: "I began"},
		projection.TurnEnded{TurnID: "t2", MemberID: "hugo", FinishReason: projection.TimedOut, Error: "timeout", Partial: "I began"},
		projection.NewMessage("m3", start, eva, "Go on, the key is [REDACTED:github-token].", nil),
	)
}

func TestDocument(t *testing.T) {
	text := written(t, talk(), 1, LeftOut{
		Events: 40, Damaged: true, Torn: journal.Torn{Bytes: 5, Offset: 900}, Truncated: true, InMemory: true, Invalid: 2,
		FirstInvalid: 7, Newer: map[string]int{"x.was<b>": 1}, Secrets: map[string]int{"github-token": 2, "API_KEY": 1},
	})
	_, body, _ := strings.Cut(text, "</style>\n")
	body = regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(body, "<script/>")
	body = regexp.MustCompile(`(?s)<svg.*</svg>`).ReplaceAllString(body, "<svg/>")
	body = regexp.MustCompile(`(?s)<article.*? id="(.*?)".*?</article>`).ReplaceAllString(body, "<article $1/>")
	apptest.Golden(t, "testdata/document.golden", body)
	whole := written(t, talk(), 1, LeftOut{})
	if !strings.Contains(whole, "<p>Nothing was left out, and no secrets were replaced.</p>") {
		t.Error("it does not say that it is complete")
	}
}

// A document of a fork says so, with the time when it was made. The events have those of the original. An id that is
// derived from the original has no such time.
func TestFork(t *testing.T) {
	made := time.Date(2026, time.November, 28, 3, 21, 5, 0, time.Local)
	for id, want := range map[string]struct{ text, clock string }{
		apptest.AliceID: {"Copied from " + apptest.BobID + ", up to event 7.", start.Local().Format(">15:04:05<")},
		ulid.MustNew(ulid.Timestamp(made), ulid.DefaultEntropy()).String(): {
			"Copied from " + apptest.BobID + ", up to event 7, on 2026-11-28.", ">03:21:05<",
		},
	} {
		events := eventsOf(projection.NewMessage("m1", start, eva, "Hello", nil))
		r := projection.Record(start, projection.SessionCreated{
			Format: projection.Format, SessionID: id, Parent: &projection.Parent{SessionID: apptest.BobID, Seq: 7},
		})
		events[0].Data = r.Data
		text := written(t, events, 1, LeftOut{})
		if strings.Count(text, want.text) != 1 || !strings.Contains(text, want.clock) {
			t.Errorf("%s: %q or %q is missing", id, want.text, want.clock)
		}
	}
}

// A part begins with the turn that its first event belongs to.
func TestPart(t *testing.T) {
	text := written(t, talk(), 12, LeftOut{})
	var got []string
	for _, id := range regexp.MustCompile(`<article[^>]* id="(.*?)"`).FindAllStringSubmatch(text, -1) {
		got = append(got, id[1])
	}
	if diff := cmp.Diff([]string{"seq-11", "seq-13", "seq-16"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The policy allows the style sheet and the script of the document, and nothing else.
func TestPolicy(t *testing.T) {
	root, err := html.Parse(strings.NewReader(written(t, talk(), 1, LeftOut{})))
	if err != nil {
		t.Fatal(err)
	}
	var policies []string
	hashes := map[string][]string{}
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "meta" && attribute(n, "http-equiv") != "":
			policies = append(policies, attribute(n, "http-equiv")+": "+attribute(n, "content"))
		case n.Data == "style", n.Data == "script":
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			hashes[n.Data] = append(hashes[n.Data], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
	}
	want := fmt.Sprintf("Content-Security-Policy: default-src 'none'; style-src %s; script-src %s",
		hashes["style"][0], hashes["script"][0])
	if diff := cmp.Diff([]string{want}, policies); diff != "" || len(hashes["style"])+len(hashes["script"]) != 2 {
		t.Errorf("%v: -want +got:\n%s", hashes, diff)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// hostileTexts would run or request something if they became markup.
var hostileTexts = []string{
	`<script>alert(1)</script>`, `</script><script>alert(2)</script>`, `</style><style>body{display:none}</style>`,
	`<img src=x onerror=alert(3)>`, `<svg onload=alert(4)><use href="https://evil.example/x"/></svg>`,
	`<math><mtext><table><mglyph><style><img src=x onerror=alert(5)></style></mglyph></table></mtext></math>`,
	`[click](javascript:alert(6)) [data](data:text/html,x) [v](vbscript:x) <javascript:alert(7)>`,
	`![picture](https://evil.example/pixel.png) ![x](javascript:y)`, `<iframe src="https://evil.example"></iframe>`,
	`<a href="https://evil.example" onclick="alert(8)" style="position:fixed">x</a>`, `]]> <![CDATA[ <!-- --> --!> <!doctype html>`,
	"```\"><script>alert(9)</script>\n</code></pre><script>alert(10)</script>\n```", "`</code><script>`",
	"[x](https://a.example/\"onmouseover=alert(11)//)", "\u202egnp.exe\u2066 \u200f\u0000\x1b]8;;https://evil.example\x07x",
	"| <b> | </table> |\n|---|---|\n| <form action=https://evil.example> | <base href=//evil.example> |",
	`</details></main><meta http-equiv="refresh" content="0;url=https://evil.example"><link rel=stylesheet href=//evil.example>`,
	`{{.}} {{template "head"}} ${x}`, `[REDACTED:<script>]`,
}

// hostileSession has the texts wherever a session has text.
func hostileSession() []journal.Event {
	all := strings.Join(hostileTexts, "\n\n")
	input, _ := json.Marshal(map[string]string{"command": all, "file_path": all, "old_string": all, "new_string": all + "x"})
	payloads := []projection.Payload{projection.SessionRenamed{Title: all}, projection.TaskSet{Task: &all}}
	for i, text := range append(hostileTexts, all) {
		id := fmt.Sprintf("%d%s", i, text)
		by := projection.Speaker{ID: id, Name: text, DisplayName: text, Type: projection.TypeAI}
		payloads = append(payloads,
			projection.NewMessage(id, start, projection.Speaker{ID: text, Name: text, DisplayName: text, Type: projection.TypeHuman}, text, nil),
			projection.TurnStarted{TurnID: id, MemberID: id, AgentType: text, Model: text},
			projection.PlanUpdated{TurnID: id, Entries: []projection.PlanEntry{{Content: text, Status: projection.PlanStatus(text)}}, More: 1},
			projection.ToolStarted{TurnID: id, ToolID: text, Name: text, Input: input},
			projection.PermissionAnswered{TurnID: id, ToolID: text, Name: text, Allowed: true, By: projection.Decider(text)},
			projection.ToolCompleted{TurnID: id, ToolID: text, Name: text, Output: text},
			projection.ToolStarted{TurnID: id, ToolID: text + "2", Name: "Edit", Input: input},
			projection.ToolCompleted{TurnID: id, ToolID: text + "2", Error: text},
			projection.NewMessage(id, start, by, "# "+text+"\n\n> "+text+"\n\n1. "+text, nil),
			projection.TurnEnded{TurnID: id, MemberID: id, FinishReason: projection.Failed, Error: text,
				Usage: &projection.Usage{Input: 5, Cost: &projection.Cost{Amount: 1, Currency: text}}},
			projection.QueueChanged{Waiting: []string{text}},
		)
	}
	return eventsOf(append(payloads, projection.SessionImported{Source: all, Path: all})...)
}

// allowedInDocument are the elements of a document and their attributes.
var allowedInDocument = map[string]string{
	"html": "lang", "head": "", "meta": "charset content http-equiv name", "title": "", "style": "", "body": "", "script": "",
	"header": "class", "main": "", "section": "aria-label aria-labelledby class", "h1": "", "h2": "class id", "h3": "id", "h4": "",
	"h5": "", "h6": "", "p": "class id", "ul": "aria-label class", "ol": "start", "li": "class", "dl": "class", "div": "aria-label class role hidden tabindex",
	"dt": "", "dd": "", "b": "", "span": "class id role", "code": "", "pre": "class data-language tabindex", "br": "", "hr": "",
	"input":   "aria-keyshortcuts aria-label autocomplete id placeholder spellcheck type",
	"button":  "aria-label aria-pressed disabled id title type",
	"article": "aria-labelledby class data-end data-seq id", "a": "aria-label class href rel target title", "time": "datetime",
	"svg": "aria-hidden aria-label class height role viewbox width", "rect": "class height rx width x y", "g": "class",
	"line": "class x1 x2 y1 y2", "circle": "class cx cy r", "text": "class dominant-baseline text-anchor x y", "thead": "",
	"details": "class id open", "summary": "", "em": "", "strong": "", "del": "", "blockquote": "", "table": "class", "tbody": "",
	"tr": "class", "th": "class scope", "td": "class",
}

var link = regexp.MustCompile(`^(https?://|mailto:|#seq-\d+$)`)

func TestHostileSession(t *testing.T) {
	racetest.SkipSequential(t)
	events, newer := hostileSession(), map[string]int{}
	for _, text := range hostileTexts {
		newer[text]++
	}
	text := written(t, events, 1, LeftOut{Newer: newer})
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		numbers[n.Data]++
		attributes, ok := allowedInDocument[n.Data]
		if !ok || n.Namespace != "" && n.Namespace != "svg" {
			t.Errorf("an element: %s", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(strings.Fields(attributes), strings.ToLower(a.Key)) {
				t.Errorf("an attribute of %s: %s=%q", n.Data, a.Key, a.Val)
			}
			if a.Key == "href" && !link.MatchString(a.Val) {
				t.Errorf("a link: %q", a.Val)
			}
		}
	}
	for name, want := range map[string]int{"style": 1, "script": 1, "meta": 6, "main": 1, "input": 1} {
		if numbers[name] != want {
			t.Errorf("%d elements %s, want %d", numbers[name], name, want)
		}
	}
	if i := strings.IndexFunc(text, isUnsafe); i >= 0 {
		t.Errorf("a control character: %q", text[max(0, i-20):min(len(text), i+20)])
	}
	if numbers["article"] < 2*len(hostileTexts) {
		t.Errorf("%d items", numbers["article"])
	}
}

// isUnsafe reports whether a character controls a terminal or the direction of text.
func isUnsafe(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func TestLongWord(t *testing.T) {
	racetest.SkipSequential(t)
	word := strings.Repeat("w", 10<<20)
	text := written(t, eventsOf(projection.NewMessage("m", start, eva, word, nil)), 1, LeftOut{})
	if !strings.Contains(text, "<p>"+word+"</p>") {
		t.Error("the word is not whole")
	}
}

// A long document has chapters, of which the first is unfolded.
func TestChapters(t *testing.T) {
	racetest.SkipSequential(t)
	for n, want := range map[int]int{chapterAfter: 0, chapterAfter + 1: 4} {
		var payloads []projection.Payload
		for i := range n {
			payloads = append(payloads, projection.NewMessage(fmt.Sprint(i), start, eva, "text", nil))
		}
		text := written(t, eventsOf(payloads...), 1, LeftOut{})
		if got := strings.Count(text, `<details class="chapter"`); got != want || strings.Count(text, "</details>") != want+1 {
			t.Errorf("%d messages: %d chapters, want %d", n, got, want)
		}
		if got := strings.Count(text, `<details class="chapter" open>`); got != min(want, 1) {
			t.Errorf("%d messages: %d chapters are unfolded", n, got)
		}
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		inMain := 0
		for n := range root.Descendants() {
			if n.Data == "article" && (n.Parent.Data == "main") == (want == 0) {
				inMain++
			}
		}
		if inMain != n {
			t.Errorf("%d of %d items are where they belong", inMain, n)
		}
	}
}

var errBroken = errors.New("broken")

// A failing writer fails after n bytes.
type failing struct{ n int }

func (w *failing) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestErrors(t *testing.T) {
	d := Document{Session: new(projection.State), First: 1}
	var whole bytes.Buffer
	if err := write(&d, &whole, talk()); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < whole.Len(); n += 101 {
		if err := write(&d, &failing{n}, talk()); !errors.Is(err, errBroken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if err := write(&d, &failing{whole.Len() - 1}, talk()); !errors.Is(err, errBroken) {
		t.Errorf("at the last byte: %v", err)
	}
	if err := NewBody(&failing{}).Add(&conversation.Item{Kind: projection.RowTask}); !errors.Is(err, errBroken) {
		t.Errorf("of an item: %v", err)
	}
}
