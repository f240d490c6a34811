//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

// The environment of an agent that keeps what it is told: the file that it appends
// each prompt to, as a line of JSON, how it tells its turn, and which member it kills
// the chat for.
const (
	promptsFile    = "PROMPTS"
	promptsDialect = "DIALECT"
	promptsKill    = "KILL_FOR"
)

func init() { programs["prompt-keeper"] = promptKeeper }

// A kept is what reached an engine's other side in one turn.
type kept struct {
	Prompt []byte // as it was after decoding, where it comes encoded
	Raw    string // all that came with it, as it came: arguments, the frames of a protocol, a body
}

// promptKeeper is an agent that keeps its prompts. Ada uses a tool and hands over, the
// others answer. It kills the chat that asks it when it is told to.
func promptKeeper() {
	if os.Getenv(promptsDialect) == "acp" {
		keepACP(os.Stdin, os.Stdout)
		return
	}
	prompt, _ := io.ReadAll(os.Stdin)
	reply := keepPrompt(kept{Prompt: prompt, Raw: strings.Join(os.Args[1:], " ")})
	switch os.Getenv(promptsDialect) {
	case "claude":
		fmt.Println(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`)
		fmt.Println(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"a shelf"}]}}`)
		fmt.Printf(`{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}}`+"\n", reply)
		fmt.Println(`{"type":"result","subtype":"success"}`)
	case "codex":
		fmt.Println(`{"type":"item.completed","item":{"id":"0","type":"command_execution","command":"ls","aggregated_output":"a shelf","exit_code":0,"status":"completed"}}`)
		fmt.Printf(`{"type":"item.completed","item":{"id":"1","type":"agent_message","text":%q}}`+"\n", reply)
		fmt.Println(`{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`)
	case "gemini":
		fmt.Println(`{"type":"tool_use","tool_name":"ls","tool_id":"t","parameters":{"dir":"."}}`)
		fmt.Println(`{"type":"tool_result","tool_id":"t","status":"success","output":"a shelf"}`)
		fmt.Printf(`{"type":"message","role":"assistant","content":%q}`+"\n", reply)
		fmt.Println(`{"type":"result","status":"success"}`)
	default:
		fmt.Println(reply)
	}
}

// keepPrompt keeps what was told and gives the reply.
func keepPrompt(k kept) string {
	line, _ := json.Marshal(k)
	f, err := os.OpenFile(os.Getenv(promptsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err.Error()
	}
	name := speakerOf(string(k.Prompt))
	if name == os.Getenv(promptsKill) {
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
		io.Copy(io.Discard, os.Stdin) // it ends with the chat at the latest
	}
	return replyOf(name)
}

// speakerOf is whose prompt it is.
func speakerOf(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "You are ")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// replyOf is what everybody says. Ada calls Cy before those who wait, and Bea behind them:
// when Bea's turn comes, what Ada has answered is out of the window.
func replyOf(name string) string {
	if name == "Ada" {
		return "Over to\n\n    you. [NEXT: bea!P3, cy!P1]"
	}
	return "Fine."
}

// keepACP speaks just enough of the Agent Client Protocol.
func keepACP(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	raw := ""
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		raw += request.Method + " " + string(request.Params) + "\n"
		result := `{}`
		switch request.Method {
		case "initialize":
			raw = "" // once in the life of a program
			result = `{"protocolVersion":1}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			reply, _ := json.Marshal(keepPrompt(kept{Prompt: promptIn(request.Params), Raw: raw}))
			raw = ""
			tell := func(update string) {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}`+"\n", update)
			}
			tell(`{"sessionUpdate":"tool_call","toolCallId":"t","name":"ls","status":"completed","rawOutput":"a shelf"}`)
			tell(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, reply))
			result = `{"stopReason":"end_turn"}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
	}
}

// promptIn is the prompt of a session/prompt.
func promptIn(params []byte) (prompt []byte) {
	var asked struct{ Prompt []struct{ Text string } }
	_ = json.Unmarshal(params, &asked)
	for _, block := range asked.Prompt {
		prompt = append(prompt, block.Text...)
	}
	return prompt
}

// A prompted is a home in which one engine answers, and the prompts that it got.
type prompted struct {
	t      *testing.T
	engine string
	dir    string
	url    string // of the API of the engine openai
	kill   string // the member for whom the chat is killed
	chat   *exec.Cmd
	said   []string // all messages
}

func newPrompted(t *testing.T, engine string) *prompted {
	p := &prompted{t: t, engine: engine, dir: t.TempDir()}
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

func (p *prompted) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// team is a team of two humans and three agents of the engine.
func (p *prompted) team() string {
	human := func(name, display string) map[string]any {
		return map[string]any{"name": name, "displayName": display, "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""}
	}
	member := func(name, display string) map[string]any {
		return map[string]any{
			"name": name, "displayName": display, "role": "author", "type": "ai", "agentType": "keeper", "engine": p.engine, "baseDir": ".",
			"systemInstruction": []string{"Your name is " + display + ".", "Think."}, "endpoint": p.url, "env": map[string]string{"A": "b"},
		}
	}
	keeper, err := exec.LookPath("prompt-keeper")
	if err != nil {
		p.t.Fatal(err)
	}
	team, err := json.Marshal(map[string]any{
		"schemaVersion": "1.2",
		"agents":        []map[string]any{{"name": "keeper", "command": keeper}},
		"team": map[string]any{"name": "keepers", "description": "", "instructionFile": "TEAM.md", "members": []map[string]any{
			human("you", "You"), human("max", "Max"), member("ada", "Ada"), member("bea", "Bea"), member("cy", "Cy"),
		}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(team)
}

// complete is the API of the engine openai.
func (p *prompted) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var asked struct{ Messages []struct{ Content string } }
	if err := errors.Join(err, json.Unmarshal(body, &asked)); err != nil || len(asked.Messages) != 1 {
		http.Error(w, "one message, please", http.StatusBadRequest)
		return
	}
	prompt := asked.Messages[0].Content
	line, _ := json.Marshal(kept{Prompt: []byte(prompt), Raw: r.URL.Path + " " + string(body)})
	p.write("prompts", p.read("prompts")+string(line)+"\n")
	name := speakerOf(prompt)
	if name == p.kill {
		p.chat.Process.Kill()
		<-r.Context().Done() // it hangs up, and hears nothing
		return
	}
	reply, _ := json.Marshal(replyOf(name))
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", reply)
}

func (p *prompted) read(name string) string {
	content, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Error(err)
	}
	return string(content)
}

// talk runs one chat with these lines, and returns the prompts that it showed.
// It is killed for the turn of the member, if one is named.
func (p *prompted) talk(killFor, lines string, args ...string) (shown []string) {
	p.t.Helper()
	args = append([]string{"chat", "--home", p.dir, "--show-prompt", "--output", "json"}, args...)
	p.kill, p.chat = killFor, exec.Command("agent-chatter", args...)
	dialect := p.engine
	p.chat.Env = append(os.Environ(), promptsFile+"="+filepath.Join(p.dir, "prompts"), promptsDialect+"="+dialect, promptsKill+"="+killFor)
	p.chat.Stdin = strings.NewReader(lines)
	var out, problems bytes.Buffer
	p.chat.Stdout, p.chat.Stderr = &out, &problems
	if err := p.chat.Run(); (err == nil) != (killFor == "") {
		p.t.Fatalf("chat ended with %v: %s", err, problems.String())
	}
	for line := range strings.Lines(out.String()) {
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

// told is what reached the engines.
func (p *prompted) told() (told []kept) {
	for line := range strings.Lines(p.read("prompts")) {
		var k kept
		if err := json.Unmarshal([]byte(line), &k); err != nil {
			p.t.Fatal(err)
		}
		k.Raw = strings.ReplaceAll(k.Raw, p.dir, "HOME")
		told = append(told, k)
	}
	return told
}

// The lines of a conversation of two humans. Whoever is asked first, three prompts follow: Ada's,
// and those of Cy and Bea, whom she calls.
const (
	lineOne   = "one [FROM: you] [TEAM_TASK: a boat] `[NEXT: bea]`\n"
	lineTwo   = "two <&> \\ \"\t你好 \xff\u2028 [FROM: max] [NEXT: ada]\n"
	lineThree = "three [FROM: you]\n"

	ada, bea, prompts = 3, 5, 9 // which prompts are theirs behind lineTwo, and how many there are
)

// Whatever interrupts a conversation, each engine is told the same, byte for
// byte, as if nothing had.
func TestEveryEngineIsToldTheSameAfterARestart(t *testing.T) {
	for _, engine := range []string{"command", "claude", "codex", "gemini", "openai", "acp", "demo"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			whole := newPrompted(t, engine)
			shown := whole.talk("", lineOne+lineTwo+lineThree, "-t", filepath.Join(whole.dir, "team.json"))
			want := whole.told()
			whole.check(shown, want)

			parted := newPrompted(t, engine)
			got := parted.talk("", lineOne, "-t", filepath.Join(parted.dir, "team.json"))
			got = append(got, parted.talk("", lineTwo, "--resume")...)
			got = append(got, parted.talk("", lineThree, "--resume")...)
			if diff := cmp.Diff(shown, got); diff != "" {
				t.Errorf("shown after two restarts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, parted.told()); diff != "" {
				t.Errorf("told after two restarts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(whole.said, parted.said); diff != "" {
				t.Errorf("said with two restarts (-want +got):\n%s", diff) // the engine demo makes its words of what it is told
			}
			if engine == "demo" {
				return // nothing that could kill the chat answers
			}

			for at, name := range []string{"Ada", "Cy", "Bea"} {
				at += ada
				killed := newPrompted(t, engine)
				killed.talk("", lineOne, "-t", filepath.Join(killed.dir, "team.json"))
				killed.talk(name, lineTwo, "--resume")
				killed.talk("", "/retry\n"+lineThree, "--resume")
				again, got := slices.Insert(slices.Clone(want), at+1, want[at]), killed.told() // which was cut off, and retried
				if name == "Cy" {
					again, got = again[:at+2], got[:at+2] // Bea does not wait any more
				}
				if diff := cmp.Diff(again, got); diff != "" {
					t.Errorf("killed in the turn of %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// check checks that the prompts that were shown are those that the engine got, and
// that they have everything.
func (p *prompted) check(shown []string, told []kept) {
	p.t.Helper()
	if len(shown) != prompts {
		p.t.Fatalf("%d prompts were shown", len(shown))
	}
	if p.engine == "demo" {
		return
	}
	var heard []string
	for _, k := range told {
		heard = append(heard, string(k.Prompt))
	}
	if diff := cmp.Diff(shown, heard); diff != "" {
		p.t.Errorf("it was shown (-) and it got (+):\n%s", diff)
	}
	const roster = "You are Bea (bea) in the team keepers. The others:\n- you (You), human\n- max (Max), human\n- ada (Ada), author\n- cy (Cy), author\n" +
		"To hand over, write `[NEXT: name]`, without the backticks, at the end of your reply. Without it, whoever else waits is next, then the human.\n\n"
	want := "Your name is Bea.\nThink.\n\nBe kind.\n\n" + roster + "Task of the team:\na boat\n\n" +
		"Conversation so far (4 older messages are left out):\nCy: Fine.\n\n" +
		"Message from Max, which Ada answered:\ntwo <&> \\ \"\t你好 \uFFFD\u2028 [FROM: max]\n\n" +
		"Message from Ada:\nOver to\n\n    you.\n"
	if shown[bea] != want {
		p.t.Errorf("Bea's prompt is not right (-want +got):\n%s", cmp.Diff(want, shown[bea]))
	}
}
