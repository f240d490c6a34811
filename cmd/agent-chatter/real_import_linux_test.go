package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A realHome fills the home of an agent's program by talking to it without
// agent-chatter.
type realHome struct {
	sessions string // the directory of its sessions in its home
	fill     func(h *homeFiller)
	// what the files of one session have, counted without the importer
	count func(t *testing.T, path string) realCount
	least realCount // an interrupted reply may be recorded or not
}

type realCount struct {
	subagent               bool
	human, replies, tools  int
	interrupted, apiErrors int
}

// A homeFiller talks to the program of an agent.
type homeFiller struct {
	t     *testing.T
	m     agent.Member
	model *agenttest.Model
	dir   string
}

func (h *homeFiller) run(args ...string) string { return runAlone(h.t, h.m, h.dir, args...) }

// fails runs the program, whose exit code depends on the agent.
func (h *homeFiller) fails(args ...string) { h.command(args...).Run() }

func (h *homeFiller) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.m.Command, append(h.m.Args[:len(h.m.Args):len(h.m.Args)], args...)...)
	cmd.Dir, cmd.Env = h.dir, []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range h.m.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// interrupted runs the program and interrupts it when the model has said the third
// word.
func (h *homeFiller) interrupted(args ...string) {
	h.t.Helper()
	for len(h.model.Streamed()) > 0 {
		<-h.model.Streamed()
	}
	cmd := h.command(args...)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	for range 3 {
		<-h.model.Streamed()
	}
	time.AfterFunc(20*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	cmd.Wait()
}

// picture is the path of a PNG of one pixel.
func (h *homeFiller) picture() string {
	h.t.Helper()
	path := filepath.Join(h.dir, "a.png")
	if err := os.WriteFile(path, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00"+
		"\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"),
		0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

var realHomes = map[string]realHome{
	"opencode over ACP": openCodeHome,
	"pi":                piHome,
	"claude": {
		sessions: ".claude/projects",
		fill: func(h *homeFiller) {
			p := func(text string, more ...string) []string {
				return append([]string{"--dangerously-skip-permissions", "-p", text}, more...)
			}
			h.run(p("tool <<echo hi>>")...)
			h.run(p("say <<again>>", "--continue")...)
			h.run(p("/compact", "--continue")...)
			h.run(p("say <<after>>", "--continue")...)
			h.run(p(`call <<Agent {"description":"look","prompt":"tool <<echo nested>>","subagent_type":"general-purpose"}>>`)...)
			h.interrupted(p("slow 100")...)
			h.fails(p("fail 400")...)
			picture, err := os.ReadFile(h.picture())
			if err != nil {
				h.t.Fatal(err)
			}
			said, _ := json.Marshal(object{"type": "user", "message": object{"role": "user", "content": []object{
				{"type": "text", "text": "say <<seen>>"},
				{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": picture}}}}})
			cmd := h.command("--dangerously-skip-permissions", "-p", "--input-format", "stream-json", "--output-format",
				"stream-json", "--verbose")
			cmd.Stdin = bytes.NewReader(append(said, '\n'))
			if out, err := cmd.CombinedOutput(); err != nil {
				h.t.Fatalf("%v\n%s", err, out)
			}
		},
		count: countClaude,
		least: realCount{human: 7, replies: 6, tools: 3, interrupted: 1, apiErrors: 1},
	},
	"codex": {
		sessions: ".codex/sessions",
		fill: func(h *homeFiller) {
			e := func(args ...string) []string {
				// Its default model has no tool but one that runs JavaScript.
				return append([]string{"exec", "--skip-git-repo-check", "--enable", "multi_agent_v2", "-m", h.m.Model}, args...)
			}
			h.run(e("tool <<echo hi>>")...)
			h.run(e("resume", "--last", "say <<again>>")...)
			h.run(e("-i", h.picture(), "--", "say <<seen>>")...)
			h.run(e(`call <<collaboration.spawn_agent {"task_name":"look","message":"say <<nested>>","fork_turns":"none"}>>`)...)
			h.interrupted(e("slow 100")...)
			h.fails(e("fail 400")...)
		},
		count: countCodex,
		least: realCount{human: 6, replies: 4, tools: 2, interrupted: 1, apiErrors: 1},
	},
	"gemini": {
		sessions: "kept",
		fill: func(h *homeFiller) {
			// The program deletes its own sessions of the same minute.
			home, n := h.m.Env["HOME"], 0
			keep := func() {
				n++
				kept := filepath.Join(home, "kept", strconv.Itoa(n))
				if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700),
					os.Rename(filepath.Join(home, ".gemini", "tmp"), kept)); err != nil {
					h.t.Fatal(err)
				}
			}
			h.run("--yolo", "-p", "tool <<echo hi>>")
			keep()
			h.picture()
			h.run("--yolo", "-p", "say <<seen>> @a.png")
			keep()
			h.run("--yolo", "-p", `call <<invoke_agent {"agent_name":"generalist","prompt":"tool <<echo nested>>"}>>`)
			keep()
			h.interrupted("--yolo", "-p", "slow 100")
			keep()
			h.fails("--yolo", "-p", "fail 400")
			keep()
		},
		count: countGemini,
		least: realCount{human: 4, replies: 3, tools: 3},
	},
}

func TestRealHomesAreImported(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	for _, real := range append(slices.Clone(agenttest.Reals), agenttest.Pi) {
		place, ok := realHomes[real.Name]
		if !ok {
			continue
		}
		t.Run(real.Name, func(t *testing.T) {
			t.Parallel()
			model, dir, home := agenttest.NewModel(t), t.TempDir(), t.TempDir()
			m := real.Member(t, dir, model.URL, newKey(3))
			place.fill(&homeFiller{t, m, model, dir})
			root := filepath.Join(m.Env["HOME"], filepath.FromSlash(place.sessions))

			var want realCount
			sessions := 0
			for _, path := range jsonlFiles(t, root) {
				c := place.count(t, path)
				want.tools += c.tools
				if c.subagent || c.human == 0 {
					continue
				}
				sessions++
				want.human, want.replies = want.human+c.human, want.replies+c.replies
				want.interrupted, want.apiErrors = want.interrupted+c.interrupted, want.apiErrors+c.apiErrors
			}
			if least := place.least; want.human < least.human || want.replies < least.replies || want.tools < least.tools ||
				want.interrupted < least.interrupted || want.apiErrors < least.apiErrors {
				t.Errorf("the agent recorded %+v, want at least %+v", want, least)
			}
			stdout, stderr := do(t, home, exitDone, "sessions", "import", root)
			if got := strings.Count(stdout, "  imported  "); got != sessions {
				t.Errorf("%d sessions were imported, want %d:\n%s%s", got, sessions, stdout, stderr)
			}
			if got := countHome(t, home); got != want {
				t.Errorf("imported %+v, want %+v", got, want)
			}
			if n := strings.Count(journalsOf(t, home), "[image: image/png, "); n != 1 {
				t.Errorf("%d images", n)
			}
			do(t, home, exitDone, "verify")
			before := journalsOf(t, home)
			stdout, _ = do(t, home, exitDone, "sessions", "import", root)
			if got := strings.Count(stdout, "  unchanged  "); got != sessions {
				t.Errorf("%d sessions are unchanged, want %d:\n%s", got, sessions, stdout)
			}
			if after := journalsOf(t, home); after != before {
				t.Error("the second import changed a journal")
			}
		})
	}
}

// jsonlFiles returns the files below a directory whose names end in .jsonl.
func jsonlFiles(t *testing.T, root string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".jsonl" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("%q: %v", paths, err)
	}
	return paths
}

// journalsOf returns the contents of all journals of a home.
func journalsOf(t *testing.T, home string) (all string) {
	t.Helper()
	for _, path := range jsonlFiles(t, filepath.Join(home, "sessions")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += path + "\n" + string(data)
	}
	return all
}

// countHome counts the events of all journals of a home.
func countHome(t *testing.T, home string) (c realCount) {
	t.Helper()
	for _, path := range jsonlFiles(t, filepath.Join(home, "sessions")) {
		eachObject(t, path, func(e object) {
			data := e.object("data")
			switch e["type"] {
			case "message.appended":
				if data.object("message").object("speaker")["type"] == "human" {
					c.human++
				} else {
					c.replies++
				}
			case "tool.started":
				c.tools++
			case "turn.ended":
				switch data["finishReason"] {
				case "cancelled":
					c.interrupted++
				case "error":
					c.apiErrors++
				}
			}
		})
	}
	return c
}

type object map[string]any

func (o object) object(name string) object {
	inner, _ := o[name].(map[string]any)
	return inner
}

func (o object) list(name string) (all []object) {
	list, _ := o[name].([]any)
	for _, v := range list {
		if inner, ok := v.(map[string]any); ok {
			all = append(all, inner)
		}
	}
	return all
}

func eachObject(t *testing.T, path string, each func(object)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		each(o)
	}
}

// countClaude counts in a transcript of Claude Code without branches.
func countClaude(t *testing.T, path string) (c realCount) {
	responses := map[any]bool{}
	eachObject(t, path, func(o object) {
		if side, _ := o["isSidechain"].(bool); side {
			c.subagent = true
		}
		message := o.object("message")
		blocks := message.list("content")
		if text, ok := message["content"].(string); ok {
			blocks = []object{{"type": "text", "text": text}}
		}
		for _, block := range blocks {
			text, _ := block["text"].(string)
			switch {
			case block["type"] == "tool_use":
				c.tools++
			case block["type"] != "text":
			case o["isApiErrorMessage"] == true:
				c.apiErrors++
			case o["type"] == "assistant" && !responses[message["id"]]:
				responses[message["id"]] = true
				c.replies++
			case o["type"] != "user" || o["isMeta"] == true || o["isCompactSummary"] == true:
			case strings.HasPrefix(text, "[Request interrupted"):
				c.interrupted++
			case !strings.HasPrefix(text, "<"): // such as a command's output
				c.human++
			}
		}
	})
	return c
}

// countCodex counts in a rollout.
func countCodex(t *testing.T, path string) (c realCount) {
	eachObject(t, path, func(o object) {
		p := o.object("payload")
		switch {
		case o["type"] == "session_meta":
			c.subagent = p["thread_source"] == "subagent"
		case p["type"] == "function_call", p["type"] == "custom_tool_call":
			c.tools++
		case p["type"] == "turn_aborted":
			c.interrupted++
		case p["type"] == "task_complete" && p["error"] != nil:
			c.apiErrors++
		case p["type"] == "message" && p["role"] == "assistant":
			c.replies++
		case p["type"] == "message" && p["role"] == "user":
			texts := p.list("content")
			if text, _ := texts[0]["text"].(string); strings.HasPrefix(text, "<image ") || !strings.HasPrefix(text, "<") {
				c.human++
			}
		}
	})
	return c
}

// countGemini counts in a conversation of the Gemini CLI that was not resumed.
func countGemini(t *testing.T, path string) (c realCount) {
	last := map[any]object{}
	eachObject(t, path, func(o object) {
		if o["kind"] == "subagent" {
			c.subagent = true
		}
		if o["id"] != nil {
			last[o["id"]] = o
		}
		if messages := o.object("$set"); messages["messages"] != nil {
			clear(last)
			for _, m := range messages.list("messages") {
				last[m["id"]] = m
			}
		}
	})
	for _, o := range last {
		c.tools += len(o.list("toolCalls"))
		text, _ := o["content"].(string)
		for _, part := range o.list("content") {
			more, _ := part["text"].(string)
			text += more
		}
		switch {
		case text == "" || strings.HasPrefix(text, "<"):
		case o["type"] == "user":
			c.human++
		case o["type"] == "gemini":
			c.replies++
		}
	}
	return c
}
