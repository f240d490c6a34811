//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A webPage sends the requests of a page to a process that hosts conversations.
type webPage struct {
	t       *testing.T
	process *exec.Cmd
	origin  string
	token   string
	key     string // of the session
}

// A liveState is what a conversation does, as the page sees it.
type liveState struct {
	Hosted    bool
	Session   string
	Speaking  []struct{ Turn, Member string }
	Waiting   []string
	Queue     []struct{ ID, Text string }
	Questions []struct{ ID, Turn, Title string }
	Sent      []string
}

// open starts the host.
func (p *webPage) open(serve *exec.Cmd) {
	p.t.Helper()
	p.process = serve
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = serve.Process.Kill() })
	var announced struct{ Origin, Token string }
	if err := json.NewDecoder(out).Decode(&announced); err != nil {
		p.t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	p.origin, p.token = announced.Origin, announced.Token
}

// kill kills the host.
func (p *webPage) kill() {
	_ = p.process.Process.Signal(syscall.SIGKILL)
	_ = p.process.Wait()
}

// end ends the host.
func (p *webPage) end() {
	p.t.Helper()
	_ = p.process.Process.Signal(syscall.SIGINT)
	if err := p.process.Wait(); err != nil {
		p.t.Errorf("the host ended: %v", err)
	}
}

// look follows the state of the conversation until done, and returns it.
func (p *webPage) look(done func(liveState) bool) liveState {
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
			Live struct{ State *liveState }
		}
		if !ok || json.Unmarshal([]byte(data), &change) != nil || change.Live.State == nil || !change.Live.State.Hosted {
			continue
		}
		if done(*change.Live.State) {
			return *change.Live.State
		}
	}
	p.t.Fatalf("the stream has ended: %v", lines.Err())
	return liveState{}
}

// await waits until the page hears a text.
func (p *webPage) await(text string) {
	p.t.Helper()
	response, err := p.request(http.MethodGet, "stream?session="+p.key+"&live="+p.key, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	p.t.Fatalf("the stream has ended: %v", lines.Err())
}

// A statusError is the status of a response that is no success.
type statusError int

func (e statusError) Error() string { return http.StatusText(int(e)) }

func (p *webPage) request(method, path string, body []byte) (*http.Response, error) {
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
func (p *webPage) post(path string, body map[string]any, answer any) error {
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

// seqOf returns the event of the last message of a person with a text, as the page finds it.
func (p *webPage) seqOf(text string) (seq uint64) {
	p.t.Helper()
	response, err := p.request(http.MethodGet, "sessions/"+p.key+"/items", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	var part struct {
		Items []struct {
			Seq      uint64
			Markdown string
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&part); err != nil {
		p.t.Fatal(err)
	}
	for _, item := range part.Items {
		if strings.Contains(item.Markdown, text[:strings.IndexByte(text+" [", '[')-1]) {
			seq = item.Seq
		}
	}
	return seq
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
