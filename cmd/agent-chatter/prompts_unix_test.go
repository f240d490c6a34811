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

	"github.com/google/go-cmp/cmp"
)

// The environment of an agent that keeps its prompts: the file that it appends
// each to, as a line of JSON, how it tells its turn, and which member it kills the
// chat for.
const (
	promptsFile    = "PROMPTS"
	promptsDialect = "DIALECT"
	promptsKill    = "KILL_FOR"
)

func init() { programs["prompt-keeper"] = promptKeeper }

// promptKeeper is an agent that keeps its prompts. Ada hands over to Bea, who
// answers. It kills the chat that asks it when it is told to.
func promptKeeper() {
	if os.Getenv(promptsDialect) == "acp" {
		keepACP(os.Stdin, os.Stdout)
		return
	}
	prompt, _ := io.ReadAll(os.Stdin)
	reply := keepPrompt(string(prompt))
	switch os.Getenv(promptsDialect) {
	case "claude":
		fmt.Printf(`{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}}`+"\n", reply)
		fmt.Println(`{"type":"result","subtype":"success"}`)
	case "codex":
		fmt.Printf(`{"type":"item.completed","item":{"id":"1","type":"agent_message","text":%q}}`+"\n", reply)
		fmt.Println(`{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`)
	case "gemini":
		fmt.Printf(`{"type":"message","role":"assistant","content":%q}`+"\n", reply)
		fmt.Println(`{"type":"result","status":"success"}`)
	default:
		fmt.Println(reply)
	}
}

// keepPrompt keeps a prompt and gives the reply.
func keepPrompt(prompt string) string {
	line, _ := json.Marshal(prompt)
	f, err := os.OpenFile(os.Getenv(promptsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err.Error()
	}
	name := speakerOf(prompt)
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

func replyOf(name string) string {
	if name == "Ada" {
		return "Over to\n\n    you. [NEXT: bea]"
	}
	return "Fine."
}

// keepACP speaks just enough of the Agent Client Protocol.
func keepACP(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct{ Prompt []struct{ Text string } }
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		result := `{}`
		switch request.Method {
		case "initialize":
			result = `{"protocolVersion":1}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			var prompt strings.Builder
			for _, block := range request.Params.Prompt {
				prompt.WriteString(block.Text)
			}
			reply, _ := json.Marshal(keepPrompt(prompt.String()))
			fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`+"\n", reply)
			result = `{"stopReason":"end_turn"}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
	}
}

// A prompted is a home in which one engine answers, and the prompts that it got.
type prompted struct {
	t      *testing.T
	engine string
	dir    string
	url    string // of the API of the engine openai
	kill   string // the member for whom the chat is killed
	chat   *exec.Cmd
}

func newPrompted(t *testing.T, engine string) *prompted {
	p := &prompted{t: t, engine: engine, dir: t.TempDir()}
	if engine == "openai" {
		server := httptest.NewServer(http.HandlerFunc(p.complete))
		t.Cleanup(server.Close)
		p.url = server.URL
	}
	p.write("config.json", `{"window": {"messages": 2}}`)
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

// team is a team of two agents of the engine.
func (p *prompted) team() string {
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
			{"name": "you", "displayName": "You", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
			member("ada", "Ada"), member("bea", "Bea"),
		}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(team)
}

// complete is the API of the engine openai.
func (p *prompted) complete(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 1 {
		http.Error(w, "one message, please", http.StatusBadRequest)
		return
	}
	prompt := asked.Messages[0].Content
	line, _ := json.Marshal(prompt)
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
		var e promptJSON
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatal(err)
		}
		if e.Type == "prompt.shown" {
			shown = append(shown, e.Prompt)
		}
	}
	return shown
}

// kept are the prompts that reached the engine.
func (p *prompted) kept() (prompts []string) {
	for line := range strings.Lines(p.read("prompts")) {
		var prompt string
		if err := json.Unmarshal([]byte(line), &prompt); err != nil {
			p.t.Fatal(err)
		}
		prompts = append(prompts, prompt)
	}
	return prompts
}

// The lines of a conversation, in which every message is answered twice.
const (
	lineOne   = "one [TEAM_TASK: a boat] `[NEXT: bea]`\n"
	lineTwo   = "two <&> \\ \"\t你好 [NEXT: ada]\n"
	lineThree = "three\n"
)

// Whatever interrupts a conversation, each engine is told the same, byte for
// byte, as if nothing had.
func TestEveryEngineIsToldTheSameAfterARestart(t *testing.T) {
	for _, engine := range []string{"command", "claude", "codex", "gemini", "openai", "acp", "demo"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			whole := newPrompted(t, engine)
			want := whole.talk("", lineOne+lineTwo+lineThree, "-t", filepath.Join(whole.dir, "team.json"))
			whole.check(want)

			parted := newPrompted(t, engine)
			got := parted.talk("", lineOne, "-t", filepath.Join(parted.dir, "team.json"))
			got = append(got, parted.talk("", lineTwo, "--resume")...)
			got = append(got, parted.talk("", lineThree, "--resume")...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after two restarts (-want +got):\n%s", diff)
			}
			if engine == "demo" {
				return // nothing that could kill the chat answers
			}

			killed := newPrompted(t, engine)
			killed.talk("", lineOne, "-t", filepath.Join(killed.dir, "team.json"))
			killed.talk("Bea", lineTwo, "--resume")
			killed.talk("", "/retry\n"+lineThree, "--resume")
			again := slices.Insert(slices.Clone(want), 4, want[3]) // which was cut off, and retried
			if diff := cmp.Diff(again, killed.kept()); diff != "" {
				t.Errorf("killed in a turn (-want +got):\n%s", diff)
			}
		})
	}
}

// check checks that the prompts that were shown are those that the engine got, and
// that they have everything.
func (p *prompted) check(shown []string) {
	p.t.Helper()
	if len(shown) != 6 {
		p.t.Fatalf("%d prompts were shown", len(shown))
	}
	if kept := p.kept(); p.engine != "demo" && !slices.Equal(shown, kept) {
		p.t.Errorf("it was shown (-) and it got (+):\n%s", cmp.Diff(shown, kept))
	}
	const roster = "You are Bea (bea) in the team keepers. The others:\n- you (You), human\n- ada (Ada), author\n" +
		"To hand over, write [NEXT: name] at the end of your reply. Without it, whoever else waits is next, then the human.\n\n"
	want := "Your name is Bea.\nThink.\n\nBe kind.\n\n" + roster + "Task of the team:\na boat\n\n" +
		"Conversation so far (5 older messages are left out):\nBea: Fine.\nYou: three\n\nMessage from Ada:\nOver to\n\n    you.\n"
	if p.engine != "demo" && shown[5] != want {
		p.t.Errorf("the last prompt is not right (-want +got):\n%s", cmp.Diff(want, shown[5]))
	}
}
