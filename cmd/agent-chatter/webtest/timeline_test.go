package webtest

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTimeline opens the timeline of a session with the keyboard, and a turn in it.
func TestTimeline(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.address(sessionPath, ""))
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	b.press("t")
	b.wait(`document.querySelectorAll(".chart a").length == 4`)
	b.picture("timeline")
	if got := value[string](b, `document.querySelector(".chart a:nth-of-type(1)").getAttribute("aria-label")`); got == "" {
		t.Error("a bar has no name")
	}
	texts := value[[]string](b, `[...document.querySelectorAll(".sums tbody tr")].map(row => row.innerText.trim().split(/\s+/).join(" "))`)
	if len(texts) != 4 || texts[1] != "Ada 1 1 2 21.3s 12.8k 420 0.0213 USD" || texts[2] != "Bo 1 (1 unfinished) 0 1 (1 failed) 4.0s 0 0" {
		t.Errorf("the tables: %q", texts)
	}
	b.run(chromedp.Focus(`.chart a[href$="#seq-10"]`))
	b.press(kb.Enter)
	b.wait(visible + `("#seq-10")`)
	if got := value[string](b, "location.pathname + location.hash"); got != sessionPath+"#seq-10" {
		t.Errorf("the address is %s", got)
	}
}

// TestTimelineGrows adds a turn to a session whose timeline is shown.
func TestTimelineGrows(t *testing.T) {
	home := t.TempDir()
	log := write(t, home, first, review...)
	s := serve(t, home)
	b := open(t, s.address(sessionPath+"/timeline", ""))
	b.wait(`document.querySelectorAll(".chart a").length == 4`)
	add(t, log, projection.TurnStarted{TurnID: "t9", MemberID: "bo"}, message(bo, "Done."),
		projection.TurnEnded{TurnID: "t9", MemberID: "bo", FinishReason: projection.Done, DurationMS: 2000})
	b.wait(`document.querySelectorAll(".chart a").length == 5`)
}

// TestComparison compares a session with a copy that went on in another way.
func TestComparison(t *testing.T) {
	home := t.TempDir()
	write(t, home, first, append(review[:len(review):len(review)], message(ada, "This way."))...).Close()
	write(t, home, second, append(review[:len(review):len(review)], message(bo, "That way."), message(ada, "Yes."))...).Close()
	s := serve(t, home)
	b := open(t, s.address("/compare?a=review/"+first+"&b=review/"+second, ""))
	b.wait(`document.querySelectorAll(".sides section").length == 2 && document.querySelectorAll(".sides article").length == 3`)
	b.picture("comparison")
	for i, want := range []string{"This way.", "That way."} {
		if got := value[[]string](b, `[...document.querySelectorAll(".sides section")].map(e => e.querySelector(".text").innerText)`)[i]; got != want {
			t.Errorf("side %d: %q", i, got)
		}
	}
	if got := value[string](b, `document.querySelector(".common").innerText`); got != "The first 3 messages are the same." {
		t.Errorf("%q", got)
	}
	beside := `(() => {
		const [a, b] = [...document.querySelectorAll(".sides section")].map(e => e.getBoundingClientRect());
		return a.top == b.top && a.right <= b.left + 1;
	})()`
	if !value[bool](b, beside) {
		t.Error("the sessions are not beside each other")
	}
	b.run(chromedp.EmulateViewport(400, 700))
	if value[bool](b, beside) || value[int](b, "document.documentElement.scrollWidth") > 400 {
		t.Error("the sessions are beside each other on a narrow screen, or it is too wide")
	}
}
