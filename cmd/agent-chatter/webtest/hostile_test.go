package webtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
)

// attacks returns texts that would run a script or request something of an address, if they became markup.
func attacks(address string) []string {
	texts := []string{
		`<script>alert(1)</script><script src="ADDRESS/script"></script>`,
		`<img src="ADDRESS/image" onerror="alert(2)"><img src=x onerror=alert(3)>`,
		`![an image](ADDRESS/markdown-image) ![x](javascript:alert(4))`,
		`[a link](javascript:alert(5)) [b](JaVaScRiPt:alert(6)) [c](data:text/html,<script>alert(7)</script>) [d](vbscript:x)`,
		`<javascript:alert(8)> <a href="javascript:alert(9)">x</a>`,
		`<svg onload="alert(10)"><script href="ADDRESS/svg"/><use href="ADDRESS/use#x"/></svg>`,
		`<math><maction actiontype="statusline" xlink:href="javascript:alert(11)">x</maction></math>`,
		`<style>@import "ADDRESS/import"; body { background: url(ADDRESS/css) }</style><link rel=stylesheet href=ADDRESS/link>`,
		`<p style="background:url(ADDRESS/style)" onmouseover="alert(12)">x</p>`,
		`<iframe src="ADDRESS/frame" srcdoc="<script>parent.alert(13)</script>"></iframe><object data="ADDRESS/object">`,
		`<form action="ADDRESS/form"><input autofocus onfocus=alert(14)></form><base href="ADDRESS/">`,
		`<meta http-equiv="refresh" content="0;url=ADDRESS/refresh"><body onload=alert(15)>`,
		`</textarea></title></style></script></template><script>alert(16)</script><!-- --!> ]]>`,
		"```html\n</code></pre><script>alert(17)</script>\n```", "`</code><script>alert(18)</script>`",
		"| <script>alert(19)</script> |\n|---|\n| ![x](ADDRESS/cell) |",
		"\u202ethe other way\u202c \u2066isolated\u2069 \u200bzero \x1b]8;;ADDRESS/osc\x07link\x1b]8;;\x07 \x00",
		`{{.}} ${alert(20)} {{constructor.constructor('alert(21)')()}}`,
		"[ref]\n\n[ref]: javascript:alert(22) \"onclick=alert(23)\"", `" onclick="alert(24)" x="`, `' onclick='alert(25)`,
	}
	for i, text := range texts {
		texts[i] = strings.ReplaceAll(text, "ADDRESS", address)
	}
	return texts
}

// hostileHome returns a home with a session in which every text is an attack, and a word of 10 MB.
func hostileHome(t *testing.T, address string) string {
	t.Helper()
	home := t.TempDir()
	texts := attacks(address)
	all := strings.Join(texts, "\n\n")
	input := func(text string) json.RawMessage {
		data, err := json.Marshal(map[string]string{"command": text, "old_string": text, "new_string": text + "\n" + text})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var payloads []projection.Payload
	for i, text := range texts {
		turn := fmt.Sprint("t", i)
		by := projection.Speaker{ID: text, Name: text, DisplayName: text, Type: projection.TypeAI}
		payloads = append(payloads, message(by, text),
			projection.TurnStarted{TurnID: turn, MemberID: "ada"}, projection.TurnText{TurnID: turn, Text: text},
			projection.ToolStarted{TurnID: turn, ToolID: text, Name: text, Input: input(text)},
			projection.ToolCompleted{TurnID: turn, ToolID: text, Output: text},
			projection.ToolStarted{TurnID: turn, ToolID: "2", Name: text, Input: json.RawMessage(`{}`)},
			projection.ToolCompleted{TurnID: turn, ToolID: "2", Error: text},
			projection.PlanUpdated{TurnID: turn, Entries: []projection.PlanEntry{{Content: text, Status: projection.PlanStatus(text)}}},
			projection.TurnEnded{TurnID: turn, MemberID: "ada", FinishReason: projection.FinishReason(text), Error: text,
				Partial: text},
			projection.TaskSet{Task: &text}, projection.SessionRenamed{Title: text},
			projection.QueueChanged{Changes: []projection.QueueChange{}, Waiting: []string{text}})
	}
	payloads = append(payloads, message(you, strings.Repeat("a", 10<<20)), message(you, all))
	write(t, home, first, payloads...).Close()
	return home
}

// A trap counts the requests that an attack causes.
func newTrap(t *testing.T) (address string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		t.Errorf("the page requested %s", r.URL)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// reporting returns the address of a proxy in front of a server that makes the browser report violations of the content
// security policy, and fails the test for each one.
func reporting(t *testing.T, s *server) *server {
	t.Helper()
	target, err := url.Parse(s.Origin)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // and the host
			r.Out.Header.Del("Origin")
		},
		ModifyResponse: func(r *http.Response) error {
			policy := r.Header.Get("Content-Security-Policy")
			if policy == "" {
				return fmt.Errorf("%s has no policy", r.Request.URL)
			}
			r.Header.Set("Content-Security-Policy", policy+"; report-uri /violation")
			return nil
		},
		FlushInterval: -1,
	}
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	mux.HandleFunc("/violation", func(_ http.ResponseWriter, r *http.Request) {
		report := json.NewDecoder(r.Body)
		var text any
		_ = report.Decode(&text)
		t.Errorf("a violation of the policy: %v", text)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &http.Server{Handler: mux}
	go func() { _ = front.Serve(listener) }()
	t.Cleanup(func() { front.Close() })
	return &server{Origin: "http://" + listener.Addr().String(), Token: s.Token}
}

// TestHostileSession shows a session of attacks. Nothing runs, nothing is requested, and no policy had to prevent it.
func TestHostileSession(t *testing.T) {
	address, _ := newTrap(t)
	s := reporting(t, serve(t, hostileHome(t, address)))
	b := open(t, s.address("/", ""))
	b.wait(`document.querySelectorAll(".rows .row-link").length == 1`)
	b.run(navigate(s.address(sessionPath, "seq-2")))
	b.wait(visible + `("#seq-2")`)
	const last = `document.querySelector(".items").lastElementChild.textContent.includes("alert(20)")`
	for !value[bool](b, last) {
		b.do(`document.querySelectorAll("details").forEach(tool => tool.open = true);
			document.querySelector(".scroller").scrollTop = document.querySelector(".scroller").scrollHeight`)
		b.wait(`document.querySelector(".items").getAttribute("aria-busy") != "true"`)
	}
	const forbidden = `script, style, link, meta, base, iframe, object, embed, img, svg:not(button > svg), math, form, [style], [onerror], ` +
		`[onload], [onclick], [onfocus], [onmouseover], ` +
		`a:not([href^='#']):not([href^='http://']):not([href^='https://']):not([href^='mailto:'])`
	if got := value[[]string](b, `[...document.querySelectorAll(".items :is(`+forbidden+`)")].map(e => e.outerHTML.slice(0, 300))`); len(got) > 0 {
		t.Errorf("elements of the attacks: %q", got)
	}
	if got := value[float64](b, `document.documentElement.scrollWidth - innerWidth`); got > 0 {
		t.Errorf("the page is %v pixels too wide", got)
	}
	b.picture("hostile")
}
