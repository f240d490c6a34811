package webtest

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// streams counts the streams of tabs.
type streams struct {
	mu       sync.Mutex
	open     map[network.RequestID]int // the tab that opened it
	openedBy map[int]int               // by tab: how many
	changed  chan struct{}             // closed at the next change
}

// watch counts the streams of a tab, which has no page yet.
func (s *streams) watch(b *tab, number int) {
	b.Helper()
	b.run(call(network.Enable, network.EnableParams{}))
	if err := chromedp.Listen(b.ctx, func(event any) { s.hear(event, number) }); err != nil {
		b.Fatal(err)
	}
}

func (s *streams) hear(event any, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.Contains(e.Request.URL, "/api/stream") {
			s.open[e.RequestID] = number
			s.openedBy[number]++
		}
	case *network.EventLoadingFinished:
		delete(s.open, e.RequestID)
	case *network.EventLoadingFailed:
		delete(s.open, e.RequestID)
	}
}

// holders returns the tabs that have opened streams, and how many are open.
func (s *streams) holders() (tabs, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.openedBy), len(s.open)
}

// forget forgets the streams of a tab that is closed: the browser does not report their end.
func (s *streams) forget(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.open, func(_ network.RequestID, by int) bool { return by == number })
}

// await waits until so many tabs have opened streams, of which at most one is open. A busy browser reports the end of a
// stream after the begin of the next one, and closes a tab later than it says.
func (s *streams) await(b *tab, tabs int) {
	b.Helper()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		holders, open := s.holders()
		if holders == tabs && open <= 1 {
			return
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			b.Fatalf("%d tabs opened streams, of which %d are open; want %d tabs", holders, open, tabs)
		}
	}
}

// TestTabsShareAStream opens more tabs than a browser has connections to a host. One of them holds a stream for all;
// when it is closed, another one does.
func TestTabsShareAStream(t *testing.T) {
	home := t.TempDir()
	log := write(t, home, first, review...)
	s := serve(t, home)
	counts := &streams{open: map[network.RequestID]int{}, openedBy: map[int]int{}, changed: make(chan struct{})}
	var tabs []*tab
	for i := range 8 {
		b := newTab(t)
		counts.watch(b, i)
		b.run(chromedp.Navigate(s.address(sessionPath, "")))
		b.wait(`document.querySelectorAll("article.item").length == 5`)
		tabs = append(tabs, b)
	}
	arrive := func(text string) {
		t.Helper()
		add(t, log, message(ada, text))
		for _, b := range tabs {
			b.wait(fmt.Sprintf(`document.querySelector(".items").textContent.includes(%q)`, text))
		}
	}
	arrive("This is for all tabs.")
	counts.await(tabs[1], 1)
	_ = chromedp.Do(tabs[0].ctx, call(page.Close, cdp.Empty{}))
	tabs = tabs[1:]
	counts.forget(0)
	counts.await(tabs[0], 2)
	arrive("One tab is closed.")
	if holders, _ := counts.holders(); holders != 2 {
		t.Errorf("%d tabs opened streams, want the first one and its successor", holders)
	}
}
