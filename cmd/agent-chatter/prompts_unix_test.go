//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

// Environment variables of an agent that records its prompts: the file to which it appends
// each of them as a line of JSON, the dialect of its output, and the member in whose
// turn it kills the chat.
const (
	promptsFile    = "PROMPTS"
	promptsDialect = "DIALECT"
	promptsKill    = "KILL_FOR"
)

func init() { programs["prompt-keeper"] = recordingAgent }

// A sentPrompt is what an engine sent to its agent in one turn.
type sentPrompt struct {
	Prompt []byte // decoded
	Raw    string // the arguments, protocol frames or request body sent with it
}

// recordingAgent is an agent that records its prompts. Ada uses a tool and hands over, the
// others answer. It kills the chat in the turn of the member named by KILL_FOR.
func recordingAgent() {
	switch os.Getenv(promptsDialect) {
	case "acp", "gemini":
		recordACP(os.Stdin, os.Stdout)
		return
	case "claude":
		recordClaude(os.Stdin, os.Stdout)
		return
	case "codex":
		recordCodex(os.Stdin, os.Stdout)
		return
	}
	prompt, _ := io.ReadAll(os.Stdin)
	reply := recordPrompt(sentPrompt{Prompt: prompt, Raw: strings.Join(os.Args[1:], " ")})
	fmt.Println(reply)
}

// recordPrompt records a prompt and returns the reply.
func recordPrompt(sent sentPrompt) string {
	line, _ := json.Marshal(sent)
	f, err := os.OpenFile(os.Getenv(promptsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err.Error()
	}
	name := speakerOf(string(sent.Prompt))
	if name == os.Getenv(promptsKill) {
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
		io.Copy(io.Discard, os.Stdin) // until the chat has ended
	}
	return replyOf(name)
}

// speakerOf returns the name of the member to whom a prompt is addressed.
func speakerOf(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "You are ")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// replyOf returns the reply of a member. Ada queues Cy first and Bea last: in Bea's turn,
// the message that Ada has answered is outside the window.
func replyOf(name string) string {
	if name == "Ada" {
		return "Over to\n\n    you.\n\n[NEXT: bea!P3, cy!P1]"
	}
	return "Fine."
}

// An rpcRequest is a request of the program to an agent.
type rpcRequest struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// rpcRequests yields the requests in lines of JSON, without notifications.
func rpcRequests(in io.Reader) iter.Seq[rpcRequest] {
	return func(yield func(rpcRequest) bool) {
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var request rpcRequest
			if json.Unmarshal(line, &request) == nil && request.ID != nil && !yield(request) {
				return
			}
		}
	}
}

// recordACP is an agent that records its prompts and speaks the Agent Client Protocol.
func recordACP(in io.Reader, out io.Writer) {
	raw := ""
	for request := range rpcRequests(in) {
		raw += request.Method + " " + string(request.Params) + "\n"
		result := `{}`
		switch request.Method {
		case "initialize":
			raw = "" // sent once to each process
			result = `{"protocolVersion":1}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			reply, _ := json.Marshal(recordPrompt(sentPrompt{Prompt: promptIn(request.Params), Raw: raw}))
			raw = ""
			update := func(update string) {
				const format = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}`
				fmt.Fprintf(out, format+"\n", update)
			}
			update(`{"sessionUpdate":"tool_call","toolCallId":"t","name":"ls","status":"completed",` +
				`"rawOutput":"a shelf"}`)
			update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, reply))
			result = `{"stopReason":"end_turn"}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
	}
}

// recordClaude is an agent that records its prompts and speaks as Claude Code does.
func recordClaude(in io.Reader, out io.Writer) {
	args := slices.DeleteFunc(os.Args[1:], func(arg string) bool { return strings.HasPrefix(arg, "--session-id=") })
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			Type      string
			RequestID string `json:"request_id"`
			Message   struct{ Content string }
		}
		if json.Unmarshal(line, &request) != nil || request.Type == "control_request" {
			fmt.Fprintf(out, `{"type":"control_response","response":{"subtype":"success","request_id":%q}}`+"\n",
				request.RequestID)
			continue
		}
		reply := recordPrompt(sentPrompt{Prompt: []byte(request.Message.Content), Raw: strings.Join(args, " ") + string(line)})
		fmt.Fprintln(out, `{"type":"assistant","message":{"content":[`+
			`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`)
		fmt.Fprintln(out, `{"type":"user","message":{"content":[`+
			`{"type":"tool_result","tool_use_id":"t","content":"a shelf"}]}}`)
		fmt.Fprintf(out, `{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}}`+"\n", reply)
		fmt.Fprintln(out, `{"type":"result","subtype":"success"}`)
	}
}

// recordCodex is an agent that records its prompts and speaks as the server of Codex does.
func recordCodex(in io.Reader, out io.Writer) {
	const thread, turn = "01a20000-0000-7000-8000-000000000001", "01a20000-0000-7000-9000-000000000001"
	raw := strings.Join(os.Args[1:], " ")
	for request := range rpcRequests(in) {
		raw += request.Method + " " + string(request.Params) + "\n"
		result := `{}`
		switch request.Method {
		case "thread/start":
			result = fmt.Sprintf(`{"thread":{"id":%q},"approvalPolicy":"never","sandbox":{"type":"readOnly"}}`, thread)
		case "turn/start":
			result = fmt.Sprintf(`{"turn":{"id":%q,"status":"inProgress"}}`, turn)
		}
		fmt.Fprintf(out, `{"id":%s,"result":%s}`+"\n", request.ID, result)
		if request.Method != "turn/start" {
			continue
		}
		var prompt struct{ Input []struct{ Text string } }
		_ = json.Unmarshal(request.Params, &prompt)
		reply := recordPrompt(sentPrompt{Prompt: []byte(prompt.Input[0].Text), Raw: raw})
		note := func(method, params string) {
			fmt.Fprintf(out, `{"method":%q,"params":{"threadId":%q,"turnId":%q,%s}}`+"\n", method, thread, turn, params)
		}
		note("item/completed", `"item":{"type":"commandExecution","id":"0","command":"ls","status":"completed",`+
			`"aggregatedOutput":"a shelf","exitCode":0}`)
		note("item/completed", fmt.Sprintf(`"item":{"type":"agentMessage","id":"1","text":%q}`, reply))
		note("turn/completed", fmt.Sprintf(`"turn":{"id":%q,"status":"completed"}`, turn))
	}
}

// promptIn returns the text of a session/prompt request.
func promptIn(params []byte) (prompt []byte) {
	var request struct{ Prompt []struct{ Text string } }
	_ = json.Unmarshal(params, &request)
	for _, block := range request.Prompt {
		prompt = append(prompt, block.Text...)
	}
	return prompt
}

// A promptHome is a home directory in which all agents use one engine and record their prompts.
type promptHome struct {
	t      *testing.T
	engine string
	dir    string
	url    string // base URL of the API for the openai engine
	kill   string // the member in whose turn the chat is killed
	chat   *exec.Cmd
	said   []string // all messages
}

func newPromptHome(t *testing.T, engine string) *promptHome {
	p := &promptHome{t: t, engine: engine, dir: t.TempDir()}
	if engine == "openai" {
		server := httptest.NewServer(http.HandlerFunc(p.complete))
		t.Cleanup(server.Close)
		p.url = server.URL
	}
	p.write("config.json", `{"window": {"messages": 1}}`)
	p.write("TEAM.md", "Be kind.\n")
	p.write("team.json", p.team())
	return p
}

func (p *promptHome) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// team returns a team file with two humans and three agents of the engine.
func (p *promptHome) team() string {
	human := func(name, display string) map[string]any {
		return map[string]any{"name": name, "displayName": display, "role": "human", "type": "human", "baseDir": ".",
			"systemInstruction": ""}
	}
	member := func(name, display string) map[string]any {
		return map[string]any{
			"name": name, "displayName": display, "role": "author", "type": "ai", "agentType": "keeper",
			"engine": p.engine, "baseDir": ".",
			"systemInstruction": []string{"Your name is " + display + ".", "Think."}, "endpoint": p.url,
			"env": map[string]string{"A": "b"}, "memory": "window",
		}
	}
	keeper, err := exec.LookPath("prompt-keeper")
	if err != nil {
		p.t.Fatal(err)
	}
	team, err := json.Marshal(map[string]any{
		"schemaVersion": "1.2",
		"agents":        []map[string]any{{"name": "keeper", "command": keeper}},
		"team": map[string]any{"name": "keepers", "description": "", "instructionFile": "TEAM.md",
			"members": []map[string]any{
				human("you", "You"), human("max", "Max"), member("ada", "Ada"), member("bea", "Bea"),
				member("cy", "Cy"),
			}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(team)
}

// complete serves the API for the openai engine.
func (p *promptHome) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct{ Messages []struct{ Content string } }
	if err := errors.Join(err, json.Unmarshal(body, &request)); err != nil || len(request.Messages) != 1 {
		http.Error(w, "want one message", http.StatusBadRequest)
		return
	}
	prompt := request.Messages[0].Content
	line, _ := json.Marshal(sentPrompt{Prompt: []byte(prompt), Raw: r.URL.Path + " " + string(body)})
	p.write("prompts", p.read("prompts")+string(line)+"\n")
	name := speakerOf(prompt)
	if name == p.kill {
		p.chat.Process.Kill()
		<-r.Context().Done() // the connection is closed
		return
	}
	reply, _ := json.Marshal(replyOf(name))
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		reply)
}

func (p *promptHome) read(name string) string {
	content, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Error(err)
	}
	return string(content)
}

// talk runs one chat with these lines and returns the prompts that it showed. With
// killFor, the chat is killed in the turn of that member.
func (p *promptHome) talk(killFor, lines string, args ...string) (shown []string) {
	p.t.Helper()
	args = append([]string{"chat", "--home", p.dir, "--show-prompt", "--output", "json"}, args...)
	p.kill, p.chat = killFor, exec.Command("agent-chatter", args...)
	p.chat.Env = append(os.Environ(), promptsFile+"="+filepath.Join(p.dir, "prompts"), promptsDialect+"="+p.engine,
		promptsKill+"="+killFor)
	p.chat.Stdin = strings.NewReader(lines)
	var stdout, stderr bytes.Buffer
	p.chat.Stdout, p.chat.Stderr = &stdout, &stderr
	if err := p.chat.Run(); (err == nil) != (killFor == "") {
		p.t.Fatalf("chat ended with %v: %s", err, stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		var e struct {
			promptJSON
			Data projection.MessageAppended
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatal(err)
		}
		switch e.Type {
		case "prompt.shown":
			shown = append(shown, e.Prompt)
		case "message.appended":
			p.said = append(p.said, e.Data.Message.Speaker.Name+": "+e.Data.Message.Content)
		}
	}
	return shown
}

// sent returns the prompts that the engine sent.
func (p *promptHome) sent() (sent []sentPrompt) {
	for line := range strings.Lines(p.read("prompts")) {
		var s sentPrompt
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			p.t.Fatal(err)
		}
		s.Raw = randomID.ReplaceAllString(strings.ReplaceAll(s.Raw, p.dir, "HOME"), `"uuid":""`)
		sent = append(sent, s)
	}
	return sent
}

// randomID is how Claude Code is to call a message when it reports that it has read it.
var randomID = regexp.MustCompile(`"uuid":"[0-9a-f-]{36}"`)

// The lines of a conversation of two humans. Each line leads to three prompts: Ada's, and those of
// Cy and Bea, to whom she hands over.
const (
	lineOne   = "one [FROM: you] [TEAM_TASK: a boat] `[NEXT: bea]`\n"
	lineTwo   = "two <&> \\ \"\t你好 \xff\u2028 [FROM: max] [NEXT: ada]\n"
	lineThree = "three [FROM: you]\n"

	ada, bea, prompts = 3, 5, 9 // indexes of their prompts after lineTwo, and the number of all prompts
)

// With the memory window, each engine sends the same bytes after a restart or a kill as in an uninterrupted
// conversation. Without -full, the engines are one that starts a program for each turn, and one whose program
// stays; the chat is killed in one turn of three.
func TestPromptsAreTheSameAfterARestart(t *testing.T) {
	skipIfShort(t)
	racetest.Skip(t, "TestTerminal runs the same goroutines")
	for _, engine := range []string{"command", "claude", "codex", "gemini", "openai", "acp", "demo"} {
		if engine != "claude" && engine != "acp" && !sizetest.Full() && !namesSubtest() {
			continue
		}
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			uninterrupted := newPromptHome(t, engine)
			shown := uninterrupted.talk("", lineOne+lineTwo+lineThree, "-t", filepath.Join(uninterrupted.dir,
				"team.json"))
			want := uninterrupted.sent()
			uninterrupted.check(shown, want)

			restarted := newPromptHome(t, engine)
			got := restarted.talk("", lineOne, "-t", filepath.Join(restarted.dir, "team.json"))
			got = append(got, restarted.talk("", lineTwo, "--resume")...)
			got = append(got, restarted.talk("", lineThree, "--resume")...)
			if diff := cmp.Diff(shown, got); diff != "" {
				t.Errorf("shown after two restarts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, restarted.sent()); diff != "" {
				t.Errorf("sent after two restarts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(uninterrupted.said, restarted.said); diff != "" {
				// the demo engine derives its reply from the prompt
				t.Errorf("said with two restarts (-want +got):\n%s", diff)
			}
			if engine == "demo" {
				return // it runs inside the chat and cannot kill it
			}

			for at, name := range []string{"Ada", "Cy", "Bea"} {
				if !sizetest.Full() && name != "Cy" {
					continue
				}
				at += ada
				killed := newPromptHome(t, engine)
				killed.talk("", lineOne, "-t", filepath.Join(killed.dir, "team.json"))
				killed.talk(name, lineTwo, "--resume")
				killed.talk("", "/retry\n"+lineThree, "--resume")
				// sent, cut off and retried
				again, got := slices.Insert(slices.Clone(want), at+1, want[at]), killed.sent()
				if name == "Cy" {
					again, got = again[:at+2], got[:at+2] // Bea is no longer queued
				}
				if diff := cmp.Diff(again, got); diff != "" {
					t.Errorf("killed in the turn of %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// check checks that the shown prompts are those that the engine sent, and that they
// are complete.
func (p *promptHome) check(shown []string, sent []sentPrompt) {
	p.t.Helper()
	if len(shown) != prompts {
		p.t.Fatalf("%d prompts were shown, want %d", len(shown), prompts)
	}
	if p.engine == "demo" {
		return
	}
	var prompts []string
	for _, s := range sent {
		prompts = append(prompts, string(s.Prompt))
	}
	if diff := cmp.Diff(shown, prompts); diff != "" {
		p.t.Errorf("shown (-) and sent (+):\n%s", diff)
	}
	const roster = "You are Bea (bea) in the team keepers. The others:\n- you (You), human\n- max (Max), human\n- " +
		"ada (Ada), author\n- cy (Cy), author\n" +
		"To hand over, write `[NEXT: name]`, without the backticks, at the end of your reply. Without it, the " +
		"next member in the queue replies, then the human.\n\n"
	want := "Your name is Bea.\nThink.\n\nBe kind.\n\n" + roster + "Task of the team:\na boat\n\n" +
		"Conversation so far (4 older messages are left out):\nCy: Fine.\n\n" +
		"Message from Max, which Ada answered:\ntwo <&> \\ \"\t你好 \uFFFD\u2028 [FROM: max]\n\n" +
		"Message from Ada:\n  Over to\n\n      you.\n"
	if shown[bea] != want {
		p.t.Errorf("Bea's prompt (-want +got):\n%s", cmp.Diff(want, shown[bea]))
	}
}
