package webtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// listed waits until the list has so many sessions.
func (b *tab) listed(sessions int) {
	b.Helper()
	b.wait(fmt.Sprintf(`document.querySelectorAll(".rows .row-link").length == %d`, sessions))
}

// titles returns the titles that the command line lists.
func titles(t testing.TB, home string) map[string]string {
	t.Helper()
	of := map[string]string{}
	for line := range strings.Lines(run(t, home, "sessions", "--output", "json")) {
		var s struct{ ID, Title string }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		of[s.ID] = s.Title
	}
	return of
}

// choose selects the row of a session.
func (b *tab) choose(id string) {
	b.Helper()
	b.run(chromedp.Focus(`.rows a[href*="` + id + `"]`))
	b.wait(`document.querySelector(".row.selected a").href.includes("` + id + `")`)
}

// TestSearch searches titles and messages as the user types, and opens a message that was found.
func TestSearch(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.listed(2)
	b.press("/")
	b.wait(`document.activeElement.type == "search"`)
	b.press("checkout")
	b.wait(`document.querySelector(".results .row-link mark")?.textContent == "checkout"`)
	b.press(kb.Escape + "/division")
	b.wait(`document.querySelector(".results").ariaBusy == "false" && document.querySelectorAll("a.hit").length == 1`)
	if value[bool](b, `document.querySelector(".rows").checkVisibility()`) {
		t.Error("the list is visible beside the results")
	}
	b.picture("search")
	if got := value[string](b, `document.querySelector("a.hit mark").textContent`); got != "division" {
		t.Errorf("%q is highlighted", got)
	}
	if got := value[string](b, `document.querySelector("a.hit .hit-speaker").textContent`); got != "Eva" {
		t.Errorf("the speaker is %q", got)
	}
	b.press(kb.Enter)
	b.press("n")
	b.wait(`document.activeElement.matches("a.hit")`)
	b.press(kb.Enter)
	b.wait(visible + `("#seq-2")`)
	if got := value[string](b, "location.pathname + location.hash"); got != sessionPath+"#seq-2" {
		t.Errorf("the message is at %s", got)
	}
	b.run(chromedp.NavigateBack())
	b.wait(`document.activeElement.matches("a.hit")`)
	b.press(kb.Escape)
	b.listed(2)
}

// TestRename renames a session in the list, as the command line shows it then.
func TestRename(t *testing.T) {
	home := reviewHome(t)
	s := serve(t, home)
	b := open(t, s.Address)
	b.listed(2)
	b.choose(first)
	b.press("r")
	b.wait(`document.activeElement.name == "title"`)
	b.press("Prices are rounded up" + kb.Enter)
	b.wait(`document.querySelector(".rows").innerText.includes("Prices are rounded up")`)
	b.wait(`!document.querySelector("dialog")`)
	b.wait(`document.activeElement.matches('.row.selected a[href*="` + first + `"]')`)
	if got := titles(t, home)[first]; got != "Prices are rounded up" {
		t.Errorf("the title is %q", got)
	}
	b.press("r")
	b.wait(`document.activeElement.name == "title"`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector("dialog")`)
	b.press("u")
	b.wait(`document.querySelector(".rows").innerText.includes("The checkout rounds down")`)
}

// TestFork forks a session in the list and opens the fork.
func TestFork(t *testing.T) {
	home := reviewHome(t)
	s := serve(t, home)
	b := open(t, s.Address)
	b.listed(2)
	b.choose(first)
	b.press("f")
	b.listed(3)
	b.wait(`document.querySelector(".toast a")`)
	b.picture("forked")
	if got := len(titles(t, home)); got != 3 {
		t.Errorf("the command line lists %d sessions", got)
	}
	b.run(chromedp.Click(`.toast a`))
	b.wait(`location.pathname.startsWith("/s/review/") && !location.pathname.includes("` + first + `")`)
	b.wait(`document.querySelectorAll("article.item").length >= 5`)
}

// TestDelete moves a session to the trash, which asks first, and takes it back.
func TestDelete(t *testing.T) {
	home := reviewHome(t)
	s := serve(t, home)
	b := open(t, s.Address)
	b.listed(2)
	b.choose(second)
	b.press("d")
	b.wait(`document.querySelector("dialog[open]")`)
	b.picture("delete")
	if got := value[string](b, `document.activeElement.textContent`); got != "Cancel" {
		t.Errorf("%q has the focus", got)
	}
	b.press(kb.Enter)
	b.wait(`!document.querySelector("dialog")`)
	if got := titles(t, home); len(got) != 2 {
		t.Errorf("cancelled, %d sessions are left", len(got))
	}
	b.press("d")
	b.wait(`document.querySelector("dialog[open]")`)
	b.press("y")
	b.listed(1)
	if _, found := titles(t, home)[second]; found {
		t.Error("the session is not deleted")
	}
	b.press("5")
	b.wait(`document.querySelector(".rows .row-age").textContent.startsWith("deleted")`)
	b.press("u")
	b.press("1")
	b.listed(2)
	if got := titles(t, home); len(got) != 2 {
		t.Errorf("taken back, %d sessions are there", len(got))
	}
}

// TestMenu opens the menu of a session with the keyboard, and closes it. The focus returns.
func TestMenu(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.listed(2)
	b.choose(first)
	b.run(chromedp.Focus(".row.selected .row-more"))
	b.press(kb.Enter)
	b.wait(`document.activeElement.role == "menuitem"`)
	b.picture("menu")
	inside := `(() => {
		const box = document.querySelector(".menu").getBoundingClientRect();
		return box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
	})()`
	if !value[bool](b, inside) {
		t.Error("the menu is not within the window")
	}
	b.press(kb.ArrowDown)
	b.wait(`document.activeElement.textContent.startsWith("Pin")`)
	b.press(kb.Enter)
	b.wait(`document.querySelector(".badge.pinned")`)
	b.choose(first)
	b.run(chromedp.Focus(".row.selected .row-more"))
	b.press(kb.Enter)
	b.wait(`document.activeElement.role == "menuitem"`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector(".menu")`)
	b.wait(`document.activeElement.matches(".row-more")`)
}

// TestKeyboard goes from the list to a session, to its timeline, and back, with keys alone.
func TestKeyboard(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.listed(2)
	b.press("g")
	b.wait(`document.activeElement.matches(".row.selected .row-link")`)
	if got := value[string](b, `getComputedStyle(document.activeElement, "::after").outlineStyle`); got != "solid" {
		t.Errorf("the outline of the focus is %s", got)
	}
	for !value[bool](b, `document.activeElement.href.includes("`+first+`")`) {
		before := value[string](b, `document.activeElement.href`)
		b.press("j")
		b.wait(`document.activeElement.href != "` + before + `"`)
	}
	b.press(kb.Enter)
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	b.press("g")
	b.press("j")
	b.wait(`document.activeElement.closest(".item")`)
	b.press("?")
	b.wait(`document.querySelector("dialog.keys[open]")`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector("dialog")`)
	b.press("t")
	b.wait(`document.querySelectorAll(".chart a").length == 4`)
	b.press(kb.Escape)
	b.wait(`location.pathname == "` + sessionPath + `" && document.querySelectorAll("article.item").length == 5`)
	b.press(kb.Escape)
	b.listed(2)
	b.wait(`document.activeElement.matches('.row.selected a[href*="` + first + `"]')`)
}

// TestListIsLate holds back the list until a search has ended. The list stays hidden.
func TestListIsLate(t *testing.T) {
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.listed(2)
	b.do(`const send = fetch;
		fetch = async (path, options) => {
			const answer = await send(path, options);
			if (!path.startsWith("/api/sessions?") || path.includes("text=")) return answer;
			const list = await answer.json();
			await new Promise(release => window.release = release);
			return { ok: true, json: async () => list };
		}`)
	b.press("s")
	b.wait(`window.release`)
	b.press("/division")
	b.wait(`document.querySelector(".results").ariaBusy == "false" && document.querySelectorAll("a.hit").length == 1`)
	b.do(`release()`)
	b.run(chromedp.Evaluate[chromedp.Void](`new Promise(resolve => setTimeout(resolve))`, chromedp.EvalAwaitPromise))
	if value[bool](b, `document.querySelector(".rows").checkVisibility()`) {
		t.Error("the list is visible beside the results")
	}
}
