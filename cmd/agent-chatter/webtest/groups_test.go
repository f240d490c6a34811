package webtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/agent-chatter/agent-chatter/projection"
)

// TestGroups shows the list in groups by directory, which the address keeps. Every heading is above its own sessions,
// wherever one scrolls.
func TestGroups(t *testing.T) {
	home := t.TempDir()
	for n := range 300 {
		id := fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB%07d", n)
		of := created(id).(projection.SessionCreated)
		of.CWD = fmt.Sprintf("/home/eva/project-%d", n*n%7)
		writeIn(t, home, id, of, message(you, fmt.Sprintf("Session %d", n))).Close()
	}
	s := serve(t, home)
	b := open(t, s.Address)
	b.wait(`document.querySelectorAll(".rows .row-link").length > 5`)
	b.press("o")
	b.wait(`document.querySelectorAll(".group-head").length > 0 && location.search == "?group=directory"`)
	b.picture("groups")
	if got := value[string](b, `document.querySelector(".rows").innerText`); strings.Count(got, "/home/eva/project-4") != 1 {
		t.Errorf("a directory is named more than once: %s", got)
	}
	const wrong = `(() => {
		const rows = [...document.querySelectorAll(".rows > li")].sort((a, b) => a.offsetTop - b.offsetTop);
		const after = rows.slice(1).filter((row, i) => row.offsetTop !== rows[i].offsetTop + rows[i].offsetHeight);
		return after.map(row => row.innerText).concat(rows[0].matches(".row") && rows[0].offsetTop === 0 ? ["no heading"] : []);
	})()`
	for at := range 9 {
		b.do(fmt.Sprintf(`document.querySelector(".rows-scroller").scrollTop = document.querySelector(".rows-scroller").scrollHeight * %d / 8`, at))
		b.wait(`document.querySelectorAll(".row").length > 10 && !document.querySelector(".row.unread")`)
		b.wait(`(() => {
			const scroller = document.querySelector(".rows-scroller").getBoundingClientRect();
			const bottom = Math.max(...[...document.querySelectorAll(".rows > li")].map(e => e.getBoundingClientRect().bottom));
			return bottom >= scroller.bottom - 20;
		})()`)
		if got := value[[]string](b, wrong); len(got) > 0 {
			t.Errorf("at %d/8: %q", at, got)
		}
	}
	b.press("G")
	b.wait(`document.activeElement.closest(".row")?.ariaPosInSet == "300"`)
	b.press("k")
	b.wait(`document.activeElement.closest(".row")?.ariaPosInSet == "299"`)
	b.press("g")
	b.wait(`document.activeElement.closest(".row")?.ariaPosInSet == "1" && document.querySelector(".rows-scroller").scrollTop == 0`)

	b.run(chromedp.Reload())
	b.wait(`document.querySelectorAll(".group-head").length > 0`)
	b.run(chromedp.Click(`.order button`))
	b.wait(`document.querySelectorAll(".group-head").length == 0 && location.search == ""`)
}
