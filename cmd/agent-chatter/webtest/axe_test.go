package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axe returns the source of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(programtest.NodeModule(t, "axe-core"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// violations returns what axe finds in the page, by some of its rules or by all: the rule, what it says and the element.
func violations(b *tab, source string, rules ...string) []string {
	b.Helper()
	if !value[bool](b, `"axe" in window`) {
		b.run(chromedp.Evaluate[chromedp.Void](source))
	}
	options := "{}"
	if len(rules) > 0 {
		options = fmt.Sprintf(`{ runOnly: %q.split(" ") }`, strings.Join(rules, " "))
	}
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run(`+options+`).then(result => result.violations.flatMap(
		rule => rule.nodes.map(node => rule.id + ": " + node.failureSummary + " " + node.html.slice(0, 200))))`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return found
}

// schemes are the colours of the page that are checked.
var schemes = []string{"light", "dark", "light" + moreContrast, "dark" + moreContrast}

// rulesOf returns the rules for a scheme: all for the first one, for the others those about colours.
func rulesOf(scheme int) []string {
	if scheme == 0 {
		return nil
	}
	return []string{"color-contrast", "link-in-text-block"}
}

// accessible checks the page in all colour schemes.
func (b *tab) accessible(source, what string) {
	b.Helper()
	for i, scheme := range schemes {
		b.scheme(scheme)
		for _, violation := range violations(b, source, rulesOf(i)...) {
			b.Errorf("%s, %s: %s", what, scheme, violation)
		}
		b.picture(fmt.Sprintf("%s-%s", what, scheme))
	}
}

// TestAccessibility checks the pages with axe, which also knows the contrast of colours.
func TestAccessibility(t *testing.T) {
	source := axe(t)
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
	b.accessible(source, "list")
	b.run(chromedp.Navigate(s.address(sessionPath, "")))
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	b.accessible(source, "session")
	b.do(`document.querySelectorAll("details").forEach(tool => tool.open = true)`)
	b.accessible(source, "tools")
	b.run(navigate(s.address(sessionPath+"/timeline", "")))
	b.wait(`document.querySelectorAll(".chart a").length == 4`)
	b.accessible(source, "timeline")
	b.run(navigate(s.address("/compare?a=review/"+first+"&b=review/"+second, "")))
	b.wait(`document.querySelectorAll(".sides article").length == 7`)
	b.accessible(source, "comparison")
}

// TestAccessibilityOfActions checks what opens above the list, and what it shows besides sessions.
func TestAccessibilityOfActions(t *testing.T) {
	source := axe(t)
	s := serve(t, reviewHome(t))
	b := open(t, s.Address)
	b.listed(2)
	b.choose(first)
	for _, state := range []struct{ name, keys, ready string }{
		{"rename", "r", `document.querySelector("dialog[open] input")`},
		{"delete", "d", `document.querySelector("dialog[open] .cancel")`},
		{"export", "e", `document.querySelector("dialog[open] fieldset")`},
		{"keys", "?", `document.querySelector("dialog.keys[open]")`},
	} {
		b.press(state.keys)
		b.wait(state.ready)
		b.accessible(source, state.name)
		b.press(kb.Escape)
		b.wait(`!document.querySelector("dialog")`)
	}
	b.run(chromedp.Focus(".row.selected .row-more"))
	b.press(kb.Enter)
	b.wait(`document.querySelector(".menu")`)
	b.accessible(source, "menu")
	b.press(kb.Escape)
	b.wait(`!document.querySelector(".menu")`)
	b.press("p")
	b.wait(`document.querySelector(".badge.pinned") && document.querySelector(".toast")`)
	b.accessible(source, "pinned")
	b.press("/division")
	b.wait(`document.querySelector(".results").ariaBusy == "false" && document.querySelectorAll("a.hit").length == 1`)
	b.accessible(source, "search")
	b.press(kb.Escape + "5")
	b.wait(`document.querySelector(".list-empty h2")?.checkVisibility()`)
	b.accessible(source, "empty-trash")
}
