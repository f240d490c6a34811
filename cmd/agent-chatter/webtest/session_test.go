package webtest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const sessionPath = "/s/review/" + first

// TestOpen opens the list and a session. The token leaves the address.
func TestOpen(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
	if got := value[string](b, "location.href"); got != s.Origin+"/" {
		t.Errorf("the address is %s", got)
	}
	if got := value[string](b, "document.title + localStorage.length + document.cookie"); strings.Contains(got, s.Token) {
		t.Errorf("the token is in %s", got)
	}
	b.picture("list")
	b.run(chromedp.Click(`.rows a[href*="` + first + `"]`))
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	if got := value[string](b, "location.pathname"); got != sessionPath {
		t.Errorf("the session is at %s", got)
	}
	b.wait(`document.querySelector("h1").textContent.includes("The checkout rounds down")`)
	b.picture("session")
	b.run(chromedp.NavigateBack())
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
}

// TestNoToken opens the page without the token.
func TestNoToken(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.Origin+sessionPath)
	b.wait(`document.body.innerText.includes("agent-chatter serve")`)
	if value[bool](b, `document.body.innerText.includes("division")`) {
		t.Error("the session is shown without the token")
	}
}

// TestConversation checks what is shown of each part.
func TestConversation(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.address(sessionPath, ""))
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	for expression, want := range map[string]string{
		`document.querySelector("#seq-2 h3").textContent`:                                         "Eva",
		`document.querySelector("#seq-2 strong").textContent`:                                     "error",
		`[...document.querySelectorAll("#seq-2 li")].map(e => e.textContent).join()`:              "not a panic,not NaN",
		`[...document.querySelectorAll("#seq-10 .plan li")].length`:                               "3",
		`document.querySelector("#tool-6 summary").innerText.split(/\s+/).join(" ")`:              "Grep a / b ok 1.0s",
		`[...document.querySelectorAll("#tool-8 .diff .added")].length`:                           "3",
		`document.querySelector("#seq-10 table td:last-child").className`:                         "right",
		`document.querySelector("#seq-10 .figures").innerText`:                                    "21.3s · 12.8k tokens in · 420 out · 0.0213 USD",
		`document.querySelector("#tool-14 .output").textContent.split("\n")[0]`:                   "FAIL: TestDivZero",
		`document.querySelector(".item.unfinished .state").innerText.includes("cancelled")`:       "true",
		`document.querySelector("a[href='https://example.org/ieee']").rel.includes("noreferrer")`: "true",
	} {
		if got := fmt.Sprint(value[any](b, expression)); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
	colors := value[[]string](b, `[...document.querySelectorAll("article.item h3")].map(e => getComputedStyle(e).color)`)
	if colors[0] == colors[1] || colors[1] == colors[2] {
		t.Errorf("the colours of the members: %q", colors)
	}
}

// TestFoldATool opens and closes a tool call with the keyboard.
func TestFoldATool(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.address(sessionPath, ""))
	b.wait(`document.querySelector("#tool-6")`)
	for _, want := range []bool{true, false} {
		b.run(chromedp.Focus("#tool-6 summary"))
		b.press(kb.Enter)
		b.wait(fmt.Sprintf(`document.querySelector("#tool-6").open == %t`, want))
		if got := value[bool](b, `document.querySelector("#tool-6 .output").checkVisibility()`); got != want {
			t.Errorf("open: %t; the result is visible: %t", want, got)
		}
	}
}

// visible is a function that returns whether an element is on the screen.
const visible = `(selector => {
	const box = document.querySelector(selector)?.getBoundingClientRect();
	return box && box.bottom > 0 && box.top < innerHeight && box.height > 0;
})`

// TestDeepLink opens a session at an event, in a new tab and by a change of the address.
func TestDeepLink(t *testing.T) {
	home, id := longHome(t, 3000)
	s := serve(t, home)
	path := "/s/review/" + id
	b := open(t, s.address(path, "seq-1500"))
	b.wait(visible + `("#seq-1500")`)
	if got := value[string](b, "location.hash"); got != "#seq-1500" {
		t.Errorf("the address ends with %s", got)
	}
	b.do(`location.hash = "#seq-20"`)
	b.wait(visible + `("#seq-20")`)
	b.run(chromedp.NavigateBack())
	b.wait(visible + `("#seq-1500")`)
}

// TestFollow adds to a session while it is shown.
func TestFollow(t *testing.T) {
	home, id := longHome(t, 300)
	log, err := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{}).Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s := serve(t, home)
	b := open(t, s.address("/s/review/"+id, ""))
	b.wait(fmt.Sprintf(`document.querySelector("[data-end='%d']")`, log.Position().Seq))
	add(t, log, message(you, "the first new message"))
	last := fmt.Sprintf("#seq-%d", log.Position().Seq)
	b.wait(visible + `("` + last + `")`)

	add(t, log, projection.TurnStarted{TurnID: "t", MemberID: "ada"}, projection.TurnText{TurnID: "t", Text: "I am thinki"})
	b.wait(`document.querySelector(".items").innerText.includes("I am thinki")`)
	add(t, log, projection.TurnText{TurnID: "t", Text: "ng aloud"})
	b.wait(`document.querySelector(".items").innerText.includes("I am thinking aloud")`)
	add(t, log, message(ada, "I am thinking aloud."),
		projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: projection.Done, DurationMS: 3000})
	b.wait(`document.querySelector(".items").lastElementChild.innerText.includes("3.0s")`)
	if got := value[int](b, `document.querySelectorAll(".items .open").length`); got != 0 {
		t.Errorf("%d turns are open", got)
	}

	// Scrolled up, the page stays where it is.
	b.do(`document.querySelector(".scroller").scrollTop -= 600`)
	b.wait(`!` + visible + `(".items > :last-child")`)
	top := value[float64](b, `document.querySelector(".scroller").scrollTop`)
	add(t, log, message(you, "the last message"))
	b.wait(`document.querySelector(".items").textContent.includes("the last message") ||
		/new/i.test(document.querySelector(".conversation").innerText)`)
	if got := value[float64](b, `document.querySelector(".scroller").scrollTop`); got != top {
		t.Errorf("the page has moved from %v to %v", top, got)
	}
}

// TestFollowAChat resumes a chat while its page is open.
func TestFollowAChat(t *testing.T) {
	home := t.TempDir()
	run(t, home, "chat", "-m", "Shall we begin?")
	var id string
	for id = range titles(t, home) {
	}
	s := serve(t, home)
	b := open(t, s.address("/s/demo/"+id, ""))
	b.wait(`document.querySelector(".items").innerText.includes("Shall we begin?")`)
	run(t, home, "chat", "--resume", id, "-m", "How does it end?")
	b.wait(`document.querySelector(".items").innerText.includes("How does it end?")`)
	b.wait(visible + `(".items > :last-child")`)
	b.wait(`document.querySelector(".items > :last-child h3")?.textContent != document.querySelector(".items h3").textContent`)
}

// TestOrderWhileScrolling reads a session from its end to its beginning. Every event is shown once, in order.
func TestOrderWhileScrolling(t *testing.T) {
	home, id := longHome(t, 1000)
	s := serve(t, home)
	b := open(t, s.address("/s/review/"+id, ""))
	const ordered = `(() => {
		let last = 0;
		for (const item of document.querySelectorAll(".items > *")) {
			if (+item.dataset.seq <= last || last && +item.dataset.seq > last + 3) return false;
			last = +item.dataset.end;
		}
		return last > 0;
	})()`
	b.wait(ordered)
	for !value[bool](b, `Boolean(document.querySelector("[data-seq='2']"))`) {
		before := value[string](b, `document.querySelector(".items > *").dataset.seq`)
		b.do(`document.querySelector(".scroller").scrollTop = 0`)
		b.wait(`document.querySelector(".items > *").dataset.seq != "` + before + `"`)
		if !value[bool](b, ordered) {
			t.Fatalf("before %s: %v", before,
				value[[]string](b, `[...document.querySelectorAll(".items > *")].map(e => e.dataset.seq + "-" + e.dataset.end)`))
		}
	}
	if got := value[int](b, `document.querySelectorAll(".items > *").length`); got > 500 {
		t.Errorf("%d items are in the page", got)
	}
}
