package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe returns the source of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("AGENT_CHATTER_AGENTS")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "agent-chatter-agents")
	}
	source, err := os.ReadFile(filepath.Join(cache, "node_modules", "axe-core", "axe.min.js"))
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("axe is missing; type: .ci/agents")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// violations returns what axe finds in the page: the rule, what it says and the element.
func violations(b *tab, source string) []string {
	b.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](source))
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run().then(result => result.violations.flatMap(
		rule => rule.nodes.map(node => rule.id + ": " + node.failureSummary + " " + node.html.slice(0, 200))))`,
		chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return found
}

// accessible checks the page in both colour schemes.
func (b *tab) accessible(source, what string) {
	b.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, violation := range violations(b, source) {
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
