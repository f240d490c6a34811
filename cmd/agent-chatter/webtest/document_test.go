package webtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// document exports the first session of a home and returns the address of the file.
func document(t testing.TB, home string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.html")
	run(t, home, append([]string{"sessions", "export", first, "-o", path}, args...)...)
	return "file://" + path
}

const count = `document.querySelector("#count").textContent`

// search searches for a text.
func (b *tab) search(text string) {
	b.Helper()
	b.press("/")
	b.wait(`document.activeElement.id == "query"`)
	b.do(`document.activeElement.value = ""`)
	b.press(text)
}

// TestDocumentSearch searches in an exported file, with the keyboard.
func TestDocumentSearch(t *testing.T) {
	b := open(t, document(t, reviewHome(t)))
	b.wait(`!document.querySelector(".tools").hidden`)
	b.picture("document")
	b.search("DIV")
	b.wait(count + ` == "1 of 5"`)
	if !value[bool](b, `CSS.highlights.get("found").size == 5 && CSS.highlights.get("current").size == 1`) {
		t.Error("the matches are not highlighted")
	}
	b.press(kb.Enter)
	b.wait(count + ` == "2 of 5"`)
	b.do(`document.activeElement.blur()`)
	b.press("N")
	b.wait(count + ` == "1 of 5"`)
	b.press("N")
	b.wait(count + ` == "5 of 5"`)
	if !value[bool](b, `[...CSS.highlights.get("current")][0].startContainer.parentElement.closest("details").open`) {
		t.Error("the tool call with the match is folded")
	}
	b.press("n")
	b.wait(count + ` == "1 of 5"`)
	// A match extends over the colours of code and over line breaks.
	b.search("in the return")
	b.wait(count + ` == "no match"`)
	b.press(kb.Escape)
	b.wait(count + ` == "" && document.activeElement == document.body`)
	b.search("0, ErrZero // as in")
	b.wait(count + ` == "1 of 1"`)
	b.picture("document-search")
}

// TestDocument folds tool calls, switches the colours and follows a link to an event within a turn.
func TestDocument(t *testing.T) {
	b := open(t, document(t, reviewHome(t)))
	b.wait(`!document.querySelector(".tools").hidden`)
	b.press("t")
	b.wait(`document.querySelectorAll("details.tool[open]").length == 3`)
	b.press("t")
	b.wait(`document.querySelectorAll("details.tool[open]").length == 0`)
	const background = `getComputedStyle(document.body).backgroundColor`
	light := value[string](b, background)
	b.press("d")
	b.wait(background + ` != "` + light + `"`)
	b.press("d")
	b.wait(background + ` == "` + light + `"`)
	b.scheme("dark")
	b.do(`delete document.documentElement.dataset.theme`)
	b.wait(background + ` != "` + light + `"`)
	b.picture("document-dark")
	b.do(`location.hash = "seq-7"`)
	b.wait(`document.querySelector("#seq-10").classList.contains("target")`)
	b.run(chromedp.EmulateViewport(400, 800))
	b.wait(`innerWidth == 400`)
	if got := value[float64](b, `document.documentElement.scrollWidth`); got > 400 {
		t.Errorf("the page is %v pixels wide", got)
	}
	b.picture("document-narrow")
}

// TestDocumentWithoutScripts reads and prints an exported file without its script.
func TestDocumentWithoutScripts(t *testing.T) {
	address := document(t, reviewHome(t))
	b := newTab(t)
	b.run(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(address))
	for expression, want := range map[string]string{
		`getComputedStyle(document.querySelector(".tools")).display`:            "none",
		`document.querySelectorAll("article.item").length`:                      "5",
		`document.querySelector("#tool-14 .output").textContent.split("\n")[0]`: "FAIL: TestDivZero",
		`document.querySelector("#left-out").textContent`:                       "Complete",
		`document.querySelector("h1").textContent`:                              "The checkout rounds down",
	} {
		if got := fmt.Sprint(value[any](b, expression)); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
	b.run(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	if !value[bool](b, `document.querySelector("#tool-14 .output").getBoundingClientRect().height > 10`) {
		t.Error("a folded tool call is not printed")
	}
	b.picture("document-print")
	b.run(call(page.PrintToPDF, page.PrintToPDFParams{}))
}

// TestDocumentAccessibility checks an exported file with axe.
func TestDocumentAccessibility(t *testing.T) {
	source := axe(t)
	b := open(t, document(t, reviewHome(t)))
	b.accessible(source, "document")
	b.do(`document.querySelectorAll("details").forEach(tool => tool.open = true)`)
	b.accessible(source, "document-tools")
}

// TestHostileDocument opens the file of a session of attacks. Nothing runs, nothing is requested, and no policy had to
// prevent it: a violation is an error of the page.
func TestHostileDocument(t *testing.T) {
	address, _ := newTrap(t)
	file := strings.TrimPrefix(document(t, hostileHome(t, address)), "file://")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.ServeFile(w, r, file)
		} else if r.URL.Path != "/favicon.ico" { // which the browser requests of every page
			t.Errorf("the page requested %s", r.URL)
		}
	}))
	t.Cleanup(server.Close)
	b := open(t, server.URL)
	b.wait(`!document.querySelector(".tools").hidden`)
	b.press("t")
	b.search("alert(2")
	b.wait(count + `.startsWith("1 of ")`)
	const forbidden = `script, style, link, meta, base, iframe, object, embed, img, svg, math, form, [style], [onerror], ` +
		`[onload], [onclick], [onfocus], [onmouseover], ` +
		`a:not([href^='#']):not([href^='http://']):not([href^='https://']):not([href^='mailto:'])`
	if got := value[[]string](b, `[...document.querySelectorAll("article :is(`+forbidden+`)")].map(e => e.outerHTML.slice(0, 300))`); len(got) > 0 {
		t.Errorf("elements of the attacks: %q", got)
	}
	if got := value[float64](b, `document.documentElement.scrollWidth - innerWidth`); got > 0 {
		t.Errorf("the page is %v pixels too wide", got)
	}
	b.picture("document-hostile")
}
