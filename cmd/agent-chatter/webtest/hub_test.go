package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

// hubHomes returns the home of reviewHome, whose sessions are on a hub, and an empty one that uses the hub, too.
func hubHomes(t *testing.T) (there, here string) {
	t.Helper()
	url, stop, err := natstest.Start(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	there, here = reviewHome(t), t.TempDir()
	for _, home := range []string{there, here} {
		config := fmt.Sprintf(`{"hub": {"urls": [%q], "teams": ["*"]}}`, url)
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, there, "hub", "init")
	return there, here
}

// TestHub opens a session that is only on the hub: it appears without a reload, and is fetched.
func TestHub(t *testing.T) {
	there, here := hubHomes(t)
	b := open(t, serve(t, here).Address)
	b.wait(`document.querySelector(".list-empty").textContent.includes("There are no sessions yet")`)
	run(t, there, "hub", "push", second)
	b.listed(1)
	b.wait(`[...document.querySelectorAll(".row .badge")].some((badge) => badge.textContent == "on the hub")`)
	b.picture("hub")
	b.press("d")
	b.wait(`document.querySelector(".toast").textContent.includes("hub purge")`)
	b.press("G" + kb.Enter)
	b.wait(`document.querySelectorAll(".item").length > 0`)
	b.wait(`!document.querySelector(".notices").textContent.includes("Fetching")`)
	if _, err := os.Stat(filepath.Join(here, "sessions", "review", second+".jsonl")); err != nil {
		t.Error(err)
	}
	b.press(kb.Escape)
	b.listed(1)
	b.wait(`document.querySelectorAll(".row .badge").length == 0`)
}

// TestHubFails opens a session that was purged from the hub meanwhile.
func TestHubFails(t *testing.T) {
	there, here := hubHomes(t)
	run(t, there, "hub", "push", second)
	s := serve(t, here)
	b := open(t, s.Address)
	b.listed(1)
	run(t, there, "hub", "purge", second, "--yes")
	b.press("t")
	// The page says which of both the server found out first: that the fetch failed, or that the session is gone.
	b.wait(`/purged from the hub|No session is named/.test(document.querySelector(".timeline .notice").textContent)`)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = nil // the browser has logged the request that was refused
}
