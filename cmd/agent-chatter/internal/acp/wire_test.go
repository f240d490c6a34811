package acp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
)

// A peer is the client and the SDK of a wire.
type peer struct {
	t    *testing.T
	w    *wire
	in   *os.File // to the wire
	out  *bufio.Scanner
	sdk  *bufio.Scanner
	ran  chan struct{} // closed when Run has returned
	stop context.CancelFunc
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	in, toWire, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromWire, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, in: toWire, out: bufio.NewScanner(fromWire), ran: make(chan struct{})}
	p.w = newWire(in, out, slog.New(slog.DiscardHandler), noUser{})
	p.sdk = bufio.NewScanner(p.w)
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() {
		p.w.Run(ctx)
		close(p.ran)
	}()
	t.Cleanup(func() {
		toWire.Close()
		fromWire.Close() // so that no write blocks
		stop()
		<-p.ran
		in.Close()
		out.Close()
	})
	return p
}

// send sends lines as the client.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// gets checks the next line that the client, or the SDK, gets.
func (p *peer) gets(from *bufio.Scanner, part string) {
	p.t.Helper()
	if !from.Scan() || !strings.Contains(from.Text(), part) {
		p.t.Fatalf("got %q, want %q", from.Text(), part)
	}
}

// answer answers as the SDK does.
func (p *peer) answer(id string) error {
	_, err := p.w.Write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n"))
	return err
}

func promptLine(id, session string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[]}}`
}

const cancelA = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}}`

func TestPromptsOfASessionRunOneAfterAnother(t *testing.T) {
	p := startPeer(t)
	p.send(promptLine("1", "a"), promptLine("2", "a"), promptLine("3", "b"), promptLine("1", "c"))
	p.gets(p.sdk, `"id":1`)
	p.gets(p.sdk, `"id":3`)
	p.gets(p.out, `"id":2,"error":{"code":-32600,"message":"a prompt runs in session \"a\"`)
	p.gets(p.out, `"id":null,"error":{"code":-32600,"message":"the id 1 is in use"`)
	if err := p.answer("1"); err != nil {
		t.Fatal(err)
	}
	p.gets(p.out, `"id":1,"result"`)
	p.send(promptLine("1", "a"))
	p.gets(p.sdk, `"id":1`)
	if err := errors.Join(p.answer("3"), p.answer("1")); err != nil {
		t.Fatal(err)
	}
}

func TestPromptsAreCanceled(t *testing.T) {
	for name, line := range map[string]string{
		"of the session": cancelA,
		"request":        `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := startPeer(t)
			// The cancellation arrives before the SDK calls the agent.
			p.send(promptLine("1", "a"), promptLine("2", "b"), line, promptLine("3", "c"))
			p.gets(p.sdk, `"id":1`)
			p.gets(p.sdk, `"id":2`)
			p.gets(p.sdk, `"id":3`)
			if cause := context.Cause(p.w.Prompt("a")); cause != errCanceled {
				t.Errorf("the prompt: %v", cause)
			}
			if p.w.Prompt("b").Err() != nil {
				t.Error("another prompt was canceled, too")
			}
			if err := errors.Join(p.answer("1"), p.answer("2"), p.answer("3")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOnlyRequestsAndResponsesArePassedOn(t *testing.T) {
	p := startPeer(t)
	p.send(
		"garbage", `{"jsonrpc":"2.0","method":"document/didOpen","params":{}}`, cancelA,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}`, `{"jsonrpc":"2.0","id":9,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`,
	)
	p.gets(p.out, `"id":null,"error":{"code":-32700`)
	p.gets(p.sdk, `"id":9,"result"`)
	p.gets(p.sdk, "session/list")
	p.gets(p.sdk, "$/cancel_request")
	if err := p.answer("1"); err != nil {
		t.Fatal(err)
	}
}

func TestEndOfInputIsAfterTheAnswers(t *testing.T) {
	p := startPeer(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`, promptLine("2", "a"))
	p.gets(p.sdk, `"id":1`)
	p.gets(p.sdk, `"id":2`)
	prompt := p.w.Prompt("a")
	p.in.Close()
	<-prompt.Done()
	if cause := context.Cause(prompt); cause != errEnded {
		t.Errorf("the prompt: %v", cause)
	}
	if err := errors.Join(p.answer("1"), p.answer("2")); err != nil {
		t.Fatal(err)
	}
	p.gets(p.out, `"id":1`)
	p.gets(p.out, `"id":2`)
	if p.sdk.Scan() {
		t.Errorf("the SDK read %q", p.sdk.Text())
	}
	<-p.ran
}

// flood writes until it fails, as a turn does for a client that does not read.
func (p *peer) flood() (failed chan error) {
	failed = make(chan error)
	update := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"x":"` + strings.Repeat("x", 64<<10) + `"}}` + "\n")
	go func() {
		for {
			if _, err := p.w.Write(update); err != nil {
				failed <- err
				return
			}
		}
	}()
	return failed
}

func TestClientThatNeverReadsIsLeft(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"end of input": func(p *peer) { p.in.Close() }, "signal": func(p *peer) { p.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			p := startPeer(t)
			p.w.out.grace = 1
			p.send(promptLine("1", "a"))
			p.gets(p.sdk, `"id":1`)
			failed := p.flood()
			end(p)
			<-failed
			if err := p.answer("1"); err == nil {
				t.Error("the answer was written")
			}
			<-p.ran
		})
	}
}

func TestClientThatIsGoneEndsThePrompts(t *testing.T) {
	in, toWire := io.Pipe() // which stays open
	fromWire, out := io.Pipe()
	w := newWire(in, out, slog.New(slog.DiscardHandler), noUser{})
	ran := make(chan struct{})
	go func() {
		w.Run(t.Context())
		close(ran)
	}()
	go func() { _, _ = io.WriteString(toWire, promptLine("1", "a")+"\n") }()
	sdk := bufio.NewScanner(w)
	if !sdk.Scan() {
		t.Fatal(sdk.Err())
	}
	prompt := w.Prompt("a")
	fromWire.Close()
	p := &peer{w: w}
	<-p.flood()
	<-prompt.Done()
	if err := p.answer("1"); err == nil {
		t.Error("the answer was written")
	}
	<-ran
	toWire.Close()
}

// noUser ignores what passes a wire.
type noUser struct{}

func (noUser) answered([]byte) {}
func (noUser) canceled(string) {}
