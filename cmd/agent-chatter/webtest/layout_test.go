package webtest

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// navigate opens an address in place of the page.
func navigate(address string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
}

// TestJump opens a session of a million messages at its end, and jumps.
func TestJump(t *testing.T) {
	messages := 1_000_000
	if testing.Short() && os.Getenv("CI") == "" {
		messages = 10_000
	}
	home, id := longHome(t, messages)
	s := serve(t, home)
	b := open(t, s.address("/s/review/"+id, ""))
	b.wait(fmt.Sprintf(`document.querySelector(".items").lastElementChild.dataset.end >= %d`, messages))
	for _, seq := range []int{messages / 2, 2, messages - 10, messages / 3} {
		b.do(fmt.Sprintf(`location.hash = "#seq-%d"`, seq))
		b.wait(fmt.Sprintf(visible+`("#seq-%d")`, seq))
		if got := value[int](b, `document.querySelectorAll(".items > *").length`); got > 600 {
			t.Errorf("%d items are in the page", got)
		}
	}
}

// TestNarrowScreens shows the pages 400 pixels wide: nothing is cut.
func TestNarrowScreens(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := newTab(t)
	b.run(chromedp.EmulateViewport(400, 700))
	for name, page := range map[string]struct{ path, ready string }{
		"list":    {"/", `document.querySelectorAll(".rows .row-link").length == 2`},
		"session": {sessionPath, `document.querySelectorAll("article.item").length == 5`},
	} {
		b.run(navigate(s.address(page.path, "")))
		b.wait(page.ready)
		if got := value[int](b, "document.documentElement.scrollWidth"); got > 400 {
			t.Errorf("%s is %d pixels wide", name, got)
		}
		const outside = `[...document.querySelectorAll("#view *")].filter(e => {
			const box = e.getBoundingClientRect();
			return box.width > 1 && e.checkVisibility() && !e.closest("pre, .wide, code") && (box.right > 401 || box.left < -1);
		}).map(e => e.outerHTML.slice(0, 200))`
		if got := value[[]string](b, outside); len(got) > 0 {
			t.Errorf("%s: outside of the screen: %q", name, got)
		}
		// Texts on one line have one baseline.
		const uneven = `[...document.querySelectorAll(".row-about")].flatMap(e => {
			const boxes = [...e.children].filter(c => c.checkVisibility()).map(c => {
				const text = document.createRange();
				text.selectNodeContents(c);
				return text.getBoundingClientRect();
			});
			return boxes.slice(1).map((box, i) => [boxes[i], box]).filter(([a, b]) =>
				b.left > a.left && Math.abs((a.top + a.bottom) - (b.top + b.bottom)) > 6).map(() => e.textContent);
		})`
		if got := value[[]string](b, uneven); len(got) > 0 {
			t.Errorf("%s: on one line, but not at one height: %q", name, got)
		}
		b.picture(name + "-narrow")
	}
}

// TestColorSchemes shows a session as the system prefers it.
func TestColorSchemes(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.address(sessionPath, ""))
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	shade := func() int {
		return value[int](b, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0)`)
	}
	b.scheme("light")
	if got := shade(); got < 700 {
		t.Errorf("the light background: %d", got)
	}
	b.scheme("dark")
	if got := shade(); got > 150 {
		t.Errorf("the dark background: %d", got)
	}
}
