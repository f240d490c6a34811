//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// killHost kills a process that hosts a conversation of a page. The page sends what was not recorded once more, as the
// same input: each message that was acknowledged is in the journal once.
func killHost(t *testing.T, newKiller func(*testing.T, uint64) *killer) {
	t.Parallel()
	k := newKiller(t, 8)
	p := &killedPage{killer: k, sent: map[string]bool{}}
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
	process *exec.Cmd
	origin  string
	token   string
	key     string // of the session

	next         int // the number of the next message
	acknowledged int // those before are
	sent         map[string]bool
}

// open starts a host, begins or continues the conversation, and enters once more what was not sent.
func (p *killedPage) open() {
	p.t.Helper()
	p.process = p.command("serve", "--chat", "--output", "json")
	out, err := p.process.StdoutPipe()
	if err == nil {
		err = p.process.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.process.Process.Kill() })
	var announced struct{ Origin, Token string }
	if err := json.NewDecoder(out).Decode(&announced); err != nil {
		p.t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	p.origin, p.token = announced.Origin, announced.Token
	if p.key == "" {
		var begun struct{ Key string }
		body := p.message(0)
		body["team"], body["directory"] = "demo", p.dir
		if err := p.post("conversations", body, &begun); err != nil {
			p.t.Fatal(err)
		}
		p.key, p.next, p.acknowledged = begun.Key, 1, 1
	} else if err := p.post("sessions/"+p.key+"/continue", map[string]any{}, nil); err != nil {
		p.t.Fatal(err)
	}
	p.look(func() bool { return true })
	for i := range p.next {
		if !p.sent[fmt.Sprintf("page/%d", i)] {
			if err := p.post("sessions/"+p.key+"/say", p.message(i), nil); err != nil {
				p.t.Fatal(err)
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

// kill kills the host.
func (p *killedPage) kill() {
	_ = p.process.Process.Signal(syscall.SIGKILL)
	_ = p.process.Wait()
}

// awaitSent waits until all that was entered is sent.
func (p *killedPage) awaitSent() {
	p.t.Helper()
	p.look(func() bool {
		for i := range p.next {
			if !p.sent[fmt.Sprintf("page/%d", i)] {
				return false
			}
		}
		return true
	})
}

// end ends the host.
func (p *killedPage) end() {
	p.t.Helper()
	_ = p.process.Process.Signal(syscall.SIGINT)
	if err := p.process.Wait(); err != nil {
		p.t.Errorf("the host ended: %v", err)
	}
}

// look follows the state of the conversation until done.
func (p *killedPage) look(done func() bool) {
	p.t.Helper()
	response, err := p.request(http.MethodGet, "stream?session="+p.key+"&live="+p.key, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var change struct {
			Live struct {
				State *struct {
					Hosted bool
					Sent   []string
				}
			}
		}
		if !ok || json.Unmarshal([]byte(data), &change) != nil || change.Live.State == nil || !change.Live.State.Hosted {
			continue
		}
		for _, id := range change.Live.State.Sent {
			p.sent[id] = true
		}
		if done() {
			return
		}
	}
	p.t.Fatalf("the stream has ended: %v", lines.Err())
}

// A statusError is the status of a response that is no success.
type statusError int

func (e statusError) Error() string { return http.StatusText(int(e)) }

func (p *killedPage) request(method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.origin+"/api/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Agent-Chatter", "1")
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

// post sends a request, and decodes the answer.
func (p *killedPage) post(path string, body map[string]any, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	response, err := p.request(http.MethodPost, path, data)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return statusError(response.StatusCode)
	}
	if answer == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// A journalLine is an event with the fields that the test looks at.
type journalLine struct {
	Type string
	Data struct{ InputID string }
}

func journalLines(t *testing.T, path string) (lines []journalLine) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return objects[journalLine](t, string(data))
}
