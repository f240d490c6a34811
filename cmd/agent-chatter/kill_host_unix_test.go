//go:build unix

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// killHost kills a process that hosts a conversation of a page. The page sends what was not recorded once more, as the
// same input: each message that was acknowledged is in the journal once.
func killHost(t *testing.T, newKiller func(*testing.T, uint64) *killer) {
	t.Parallel()
	k := newKiller(t, 8)
	p := &killedPage{killer: k, webPage: &webPage{t: t}, sent: map[string]bool{}}
	for range *kills {
		p.open()
		var sending sync.WaitGroup
		sending.Go(p.sendUntilRefused)
		time.Sleep(time.Duration(k.random.IntN(600)) * time.Millisecond)
		p.kill()
		sending.Wait()
	}
	p.open()
	p.awaitSent()
	p.end()
	found := map[string]int{}
	path := filepath.Join(k.home(), "sessions", filepath.FromSlash(p.key)+".jsonl")
	for _, e := range journalLines(t, path) {
		if e.Type == "input.received" {
			found[e.Data.InputID]++
		}
	}
	for i := range p.next {
		if id := fmt.Sprintf("page/%d", i); found[id] > 1 || p.acknowledged > i && found[id] != 1 {
			t.Errorf("%s is in the journal %d times", id, found[id])
		}
	}
	k.run("verify")
	t.Logf("%d messages, %d kills", p.next, *kills)
}

// A killedPage is the page of a host that is killed. It keeps what it has entered until that was sent.
type killedPage struct {
	*killer
	*webPage

	next         int // the number of the next message
	acknowledged int // those before are
	sent         map[string]bool
}

// open starts a host, begins or continues the conversation, and enters once more what was not sent.
func (p *killedPage) open() {
	p.webPage.t.Helper()
	p.webPage.open(p.command("serve", "--chat", "--output", "json"))
	if p.key == "" {
		var begun struct{ Key string }
		body := p.message(0)
		body["team"], body["directory"] = "demo", p.dir
		if err := p.post("conversations", body, &begun); err != nil {
			p.webPage.t.Fatal(err)
		}
		p.key, p.next, p.acknowledged = begun.Key, 1, 1
	} else if err := p.post("sessions/"+p.key+"/continue", map[string]any{}, nil); err != nil {
		p.webPage.t.Fatal(err)
	}
	p.lookUntil(func() bool { return true })
	for i := range p.next {
		if !p.sent[fmt.Sprintf("page/%d", i)] {
			if err := p.post("sessions/"+p.key+"/say", p.message(i), nil); err != nil {
				p.webPage.t.Fatal(err)
			}
		}
	}
	p.acknowledged = p.next
}

// message returns a message: one in ten begins a turn.
func (p *killedPage) message(i int) map[string]any {
	next := "you"
	if i%10 == 9 {
		next = "critic"
	}
	return map[string]any{"id": fmt.Sprint(i), "text": fmt.Sprintf("message %d [NEXT: %s]", i, next)}
}

// sendUntilRefused enters messages until the host is gone.
func (p *killedPage) sendUntilRefused() {
	for {
		i := p.next
		p.next++
		err := p.post("sessions/"+p.key+"/say", p.message(i), nil)
		if refused, ok := err.(statusError); ok && (refused == http.StatusTooManyRequests || refused == http.StatusConflict) {
			p.next--
			return // it takes no more now
		}
		if err != nil {
			return
		}
		p.acknowledged = p.next
	}
}

// lookUntil notes what was sent until done.
func (p *killedPage) lookUntil(done func() bool) {
	p.webPage.t.Helper()
	p.look(func(s liveState) bool {
		for _, id := range s.Sent {
			p.sent[id] = true
		}
		return done()
	})
}

// awaitSent waits until all that was entered is sent.
func (p *killedPage) awaitSent() {
	p.webPage.t.Helper()
	p.lookUntil(func() bool {
		for i := range p.next {
			if !p.sent[fmt.Sprintf("page/%d", i)] {
				return false
			}
		}
		return true
	})
}
