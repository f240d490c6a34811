package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp/recall"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n"
)

// serve serves a client in a home with a few sessions until it has read in, or ctx is done.
func serve(t *testing.T, ctx context.Context, in io.Reader, out io.Writer) error {
	t.Helper()
	home := t.TempDir()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (catalogtest.Sessions{Count: 3}).Fill(a.Catalog.Root()); err != nil {
		t.Fatal(err)
	}
	return serveStreams(ctx, recall.New(a, "").Server("1"), in, out)
}

// answers serves what a client sends, and returns the answers by their ids.
func answers(t *testing.T, lines string) map[string]string {
	t.Helper()
	var out strings.Builder
	if err := serve(t, t.Context(), strings.NewReader(lines), &out); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Version != "2.0" {
			t.Errorf("the line %q is no message: %v", line, err)
		}
		all[string(answer.ID)] += line
	}
	return all
}

func TestEveryRequestIsAnsweredAtTheEndOfInput(t *testing.T) {
	var in strings.Builder
	in.WriteString(initialize)
	for n := range 20 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_sessions"}}`+"\n", n+1)
	}
	got := answers(t, in.String())
	for n := range 21 {
		if answer := got[fmt.Sprint(n)]; !strings.Contains(answer, `"result"`) {
			t.Errorf("request %d: %q", n, answer)
		}
	}
}

func TestClientThatSendsGarbage(t *testing.T) {
	for name, test := range map[string]struct{ lines, want string }{
		"garbage":            {"\x00\xff garbage\n", `-32700`},
		"long line":          {strings.Repeat("x", 100<<20) + "\n", `104857601 bytes`},
		"long line at end":   {ping + strings.Repeat("x", 2<<20), "2097152 bytes"},
		"batch":              {"[" + strings.TrimSpace(ping) + "]\n", "batches are not supported"},
		"unknown method":     {`{"jsonrpc":"2.0","id":"m","method":"sessions/delete"}` + "\n", `-32601`},
		"unknown tool":       {`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"x"}}` + "\n", `-32602`},
		"params of one type": {`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":[1]}` + "\n", `"error"`},
		"no params":          {`{"jsonrpc":"2.0","id":"t","method":"tools/call"}` + "\n", `"error"`},
		"second initialize":  {initialize, `"id":0`},
		"unknown response":   {`{"jsonrpc":"2.0","id":77,"result":{}}` + "\n", ""},
		"cancels nothing": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}` + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			lines := initialize + test.lines
			if !strings.Contains(lines, ping) {
				lines += "\n" + ping
			}
			all := answers(t, lines)
			if !strings.Contains(all[`"ping"`], `"result"`) {
				t.Errorf("the server does not answer after it: %q", all)
			}
			if text := fmt.Sprint(all); !strings.Contains(text, test.want) {
				t.Errorf("got %.2000s, want %q", text, test.want)
			}
		})
	}
}

func TestRequestBeforeInitializeIsRefused(t *testing.T) {
	got := answers(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions"}}`+"\n"+ping)
	if !strings.Contains(got["1"], `"error"`) || !strings.Contains(got[`"ping"`], `"result"`) {
		t.Errorf("%q", got)
	}
}

// TestClientThatNeverReads sends requests until no more are read, and ends the server as a signal does.
func TestClientThatNeverReads(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	requests, client := io.Pipe()
	full := make(chan struct{})
	ended := make(chan error)
	go func() { ended <- serve(t, ctx, requests, unread{full}) }()
	go func() {
		io.WriteString(client, initialize)
		for n := 1; ; n++ {
			if _, err := fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", n); err != nil {
				return
			}
		}
	}()
	<-full
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	requests.Close()
}

// unread is an output without a reader.
type unread struct{ full chan struct{} }

func (u unread) Write([]byte) (int, error) {
	close(u.full)
	select {}
}

func TestSignalEndsAnIdleServer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- serve(t, ctx, in, out) }()
	io.WriteString(client, initialize)
	if line, err := bufio.NewReader(answers).ReadString('\n'); err != nil || !strings.Contains(line, "serverInfo") {
		t.Fatal(line, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	client.Close()
}

func TestCancelledRequestIsAnswered(t *testing.T) {
	got := answers(t, initialize+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_sessions","arguments":{"query":"zzzz"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n"+ping)
	if got["1"] == "" || !strings.Contains(got[`"ping"`], `"result"`) {
		t.Errorf("%q", got)
	}
}

func TestClientThatLeavesIsNoFailure(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	answers.Close()
	go func() {
		io.WriteString(client, initialize)
		client.Close()
	}()
	if err := serve(t, t.Context(), in, out); err != nil {
		t.Error(err)
	}
}

func TestToolThatIsStuckEndsWithTheInput(t *testing.T) {
	t.Parallel() // it waits
	stuck := make(chan struct{})
	defer close(stuck)
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	stick := func(context.Context, *sdk.CallToolRequest, any) (*sdk.CallToolResult, any, error) {
		<-stuck
		return nil, nil, nil
	}
	sdk.AddTool(s, &sdk.Tool{Name: "stick"}, stick)
	in := strings.NewReader(initialize + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stick"}}` + "\n")
	if err := serveStreams(t.Context(), s, in, io.Discard); err != nil {
		t.Error(err)
	}
}
