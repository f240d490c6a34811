package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A realClaude is Claude Code with a model and a home of its own.
type realClaude struct {
	*testing.T
	model *agenttest.Model
	turn  agent.Turn // without a prompt
}

func newRealClaude(t *testing.T) realClaude {
	agenttest.SkipUnlessReal(t)
	t.Parallel()
	i := slices.IndexFunc(agenttest.Reals, func(r agenttest.Real) bool { return r.Engine == "claude" })
	c := realClaude{t, agenttest.NewModel(t), agent.Turn{ID: turnID(t), Dir: t.TempDir()}}
	c.turn.Member = agenttest.Reals[i].Member(t, c.turn.Dir, c.model.URL, "x")
	t.Cleanup(func() {
		for pid, command := range agenttest.Running(c.turn.ID) {
			t.Errorf("process %d is still running: %s", pid, command)
		}
	})
	return c
}

// open opens a session, which is closed when the test ends.
func (c realClaude) open(o agent.Origin) inSession {
	c.Helper()
	s, err := agent.Claude{}.Open(within(c.T), c.turn, o)
	if err != nil {
		c.Fatalf("%+v: %v", o, err)
	}
	c.Cleanup(s.Close)
	return inSession{s}
}

// say runs a turn that must succeed, and returns its last point and its cost.
func (c realClaude) say(s agent.Engine, prompt string) (point string, cost float64) {
	c.Helper()
	c.turn.Prompt = prompt
	for event, err := range s.Run(within(c.T), c.turn) {
		if err != nil {
			c.Fatalf("%s: %v", prompt, err)
		}
		switch e := event.(type) {
		case agent.Point:
			point = e.ID
		case agent.Usage:
			if e.Total == nil || e.Cost == nil || e.Cost.Amount > e.Total.Amount {
				c.Fatalf("the costs are %v of %v", e.Cost, e.Total)
			}
			cost = e.Total.Amount
		}
	}
	return point, cost
}

// lastMessages returns the messages of the last request to the model.
func (c realClaude) lastMessages() []any {
	c.Helper()
	bodies := c.model.Bodies()
	var request struct{ Messages []any }
	if err := json.Unmarshal([]byte(bodies[len(bodies)-1]), &request); err != nil || len(request.Messages) == 0 {
		c.Fatalf("%d messages, %v", len(request.Messages), err)
	}
	return withoutCacheMarks(request.Messages).([]any)
}

// withoutCacheMarks returns JSON without marks that say what of a request is cached. A text that has one is a block.
func withoutCacheMarks(value any) any {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "cache_control")
		if text, ok := value["content"].(string); ok {
			value["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		for name, field := range value {
			value[name] = withoutCacheMarks(field)
		}
	case []any:
		for i, item := range value {
			value[i] = withoutCacheMarks(item)
		}
	}
	return value
}

func (c realClaude) settings(permissions string) {
	c.Helper()
	dir := filepath.Join(c.turn.Member.Env["HOME"], ".claude")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(permissions), 0o600); err != nil {
		c.Fatal(err)
	}
}

// Nothing that the permissions of a member or an answer do not allow is done, in a session, after it was resumed in
// another program, and whatever the user's settings allow.
func TestRealClaudePermissions(t *testing.T) {
	for name, settings := range map[string]string{
		"none":  `{}`,
		"rules": `{"permissions": {"allow": ["Bash(touch *)", "Bash", "Write"], "defaultMode": "bypassPermissions"}}`,
		"hooks": `{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command":
			"echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\"}}'"}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := newRealClaude(t)
			c.settings(settings)
			configured := settings != `{}`
			for _, tt := range []struct {
				permissions string
				grant       agent.Grant
				made, asks  bool
			}{
				{agent.Deny, agent.Refused, false, true},
				{agent.Ask, agent.Refused, configured, !configured},
				{agent.Ask, agent.AllowedOnce, true, !configured},
				{agent.Deny, agent.Refused, false, true},
				{agent.ReadOnly, agent.Refused, false, true},
				{agent.Allow, agent.AllowedOnce, true, !configured},
				{agent.Bypass, agent.Refused, true, false},
				{agent.Deny, agent.Refused, false, true},
			} {
				if configured && tt.permissions == agent.ReadOnly {
					tt.asks = true
				}
				c.turn.Member.Permissions = tt.permissions
				s := c.open(agent.Origin{})
				for again := range 2 {
					got := actWith(t, s, c.turn, tt.grant, "tool <<touch FILE>>")
					if got.made != tt.made || len(got.bypassed) > 0 || got.err != nil || (got.asked > 0) != tt.asks {
						t.Errorf("%s, answer %v, in program %d: %+v", tt.permissions, tt.grant, again, got)
					}
					s.Close()
					s = c.open(agent.Origin{Way: agent.Resume, ID: s.ID()})
				}
				s.Close()
			}
		})
	}
}

// With ReadOnly, commands that change nothing run, and with Deny none does.
func TestRealClaudeReads(t *testing.T) {
	c := newRealClaude(t)
	for _, permissions := range []string{agent.Deny, agent.ReadOnly} {
		c.turn.Member.Permissions = permissions
		if err := os.WriteFile(filepath.Join(c.turn.Dir, "shelf"), []byte("of "+permissions+" oak"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := actWith(t, agent.Claude{}, c.turn, agent.Refused, "tool <<cat shelf>>")
		read := c.model.Received("of " + permissions + " oak")
		if read != (permissions == agent.ReadOnly) || (got.asked == 0) != read || got.err != nil {
			t.Errorf("%s: it has read the file: %t; %+v", permissions, read, got)
		}
	}
}

func TestRealClaudeRemembersAnswer(t *testing.T) {
	c := newRealClaude(t)
	c.turn.Member.Permissions = agent.Ask
	rules := filepath.Join(c.turn.Dir, ".claude", "settings.local.json")
	if err := os.Mkdir(filepath.Join(c.turn.Dir, ".git"), 0o700); err != nil { // it is where the project is
		t.Fatal(err)
	}
	s := c.open(agent.Origin{})
	ask := func(grant agent.Grant, command string) (asked bool) {
		var offered agent.Permission
		c.turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
			asked, offered = true, p
			return grant
		}
		c.say(s, "tool <<"+command+">>")
		if asked && (!offered.Session || offered.Always != ".claude/settings.local.json" ||
			offered.Kind != agent.KindExecute || offered.Title != command) {
			t.Errorf("%s: it asked for %+v", command, offered)
		}
		return asked
	}
	got := []bool{
		ask(agent.AllowedForSession, "touch a b"), ask(agent.Refused, "touch a c"), ask(agent.Refused, "mkdir d"),
	}
	if !reflect.DeepEqual(got, []bool{true, false, true}) {
		t.Errorf("it asked %v", got)
	}
	if written, err := os.ReadFile(rules); err == nil {
		t.Errorf("it wrote %s", written)
	}
	s.Close()
	s = c.open(agent.Origin{Way: agent.Resume, ID: s.ID()})
	if !ask(agent.AllowedAlways, "touch a d") {
		t.Error("it remembers in another program")
	}
	s.Close()
	s = c.open(agent.Origin{})
	if written, err := os.ReadFile(rules); ask(agent.Refused, "touch a e") || !strings.Contains(string(written), "touch a") {
		t.Errorf("it wrote %s, %v", written, err)
	}
}

func TestRealClaudeAsksForEdits(t *testing.T) {
	c := newRealClaude(t)
	c.turn.Member.Permissions = agent.Ask
	file := filepath.Join(c.turn.Dir, "shelf.txt")
	var got []agent.FileEdit
	c.turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
		if p.Kind != agent.KindEdit || p.Title != file || p.Omitted != 0 || p.Session {
			t.Errorf("it asked for %+v", p)
		}
		got = append(got, p.Edits...)
		return agent.AllowedOnce
	}
	s := c.open(agent.Origin{})
	c.say(s, `call <<Write {"file_path": "`+file+`", "content": "oak\nash\n"}>>`)
	c.say(s, `call <<Edit {"file_path": "`+file+`", "old_string": "ash", "new_string": "elm"}>>`)
	text, err := os.ReadFile(file)
	want := []agent.FileEdit{{Path: file, New: "oak\nash\n"}, {Path: file, Old: "ash", New: "elm"}}
	if !reflect.DeepEqual(got, want) || string(text) != "oak\nelm\n" {
		t.Errorf("it asked for %+v and wrote %q, %v", got, text, err)
	}
}

func TestRealClaudeIsGivenReason(t *testing.T) {
	c := newRealClaude(t)
	c.turn.Member.Permissions = agent.Ask
	c.turn.Permit = func(context.Context, agent.Permission) agent.Grant { return agent.Grant{Reason: "Use a saw."} }
	c.say(agent.Claude{}, "tool <<touch made>>")
	if !c.model.Received("Use a saw.") {
		t.Error("the model did not get the reason")
	}
}

// Each request to the model begins with the one before, also in another program.
func TestRealClaudeExtendsRequests(t *testing.T) {
	c := newRealClaude(t)
	s := c.open(agent.Origin{})
	id := s.ID()
	var before []any
	var total float64
	point := ""
	for i, prompt := range []string{"tool <<echo one>>", "say <<two>>", "/compact three", "tool <<echo four>>"} {
		if i%2 == 0 && i > 0 {
			s.Close()
			s = c.open(agent.Origin{Way: agent.Resume, ID: id, Point: point})
		}
		var cost float64
		point, cost = c.say(s, prompt)
		now := c.lastMessages()
		if before != nil && (len(now) <= len(before) || !reflect.DeepEqual(now[:len(before)], before)) {
			t.Errorf("%s: %d messages do not extend the %d before", prompt, len(now), len(before))
		}
		if s.ID() != id || cost <= total {
			t.Errorf("%s: the session is %s, want %s; its cost %g, after %g", prompt, s.ID(), id, cost, total)
		}
		before, total = now, cost
	}
}

func TestRealClaudeForks(t *testing.T) {
	c := newRealClaude(t)
	s := c.open(agent.Origin{})
	point, _ := c.say(s, "say <<the ash>>")
	c.say(s, "say <<the elm>>")
	s.Close()
	has := func(words ...string) (all []bool) {
		messages, _ := json.Marshal(c.lastMessages())
		for _, w := range words {
			all = append(all, strings.Contains(string(messages), w))
		}
		return all
	}
	for _, o := range []agent.Origin{
		{Way: agent.Fork, ID: s.ID(), Point: point},
		{Way: agent.Resume, ID: s.ID(), Point: point}, // something else has continued it
	} {
		fork := c.open(o)
		c.say(fork, "say <<the oak>>")
		if got := has("the ash", "the elm"); fork.ID() == s.ID() || !slices.Equal(got, []bool{true, false}) {
			t.Errorf("%+v: the session is %s, its request has %v", o, fork.ID(), got)
		}
		fork.Close()
	}
	fork := c.open(agent.Origin{Way: agent.Fork, ID: s.ID()})
	c.say(fork, "say <<the oak>>")
	if got := has("the ash", "the elm"); fork.ID() == s.ID() || !slices.Equal(got, []bool{true, true}) {
		t.Errorf("of its end: the session is %s, its request has %v", fork.ID(), got)
	}
	again := c.open(agent.Origin{Way: agent.Resume, ID: s.ID()})
	c.say(again, "say <<the fir>>")
	if got := has("the elm", "the oak"); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("the request of the session has %v", got)
	}
}

func TestRealClaudeSessionIsGone(t *testing.T) {
	c := newRealClaude(t)
	s := c.open(agent.Origin{})
	c.say(s, "say <<hello>>")
	s.Close()
	const unknown = "01234567-89ab-4def-8123-456789abcdef"
	requests := len(c.model.Bodies())
	for _, o := range []agent.Origin{
		{Way: agent.Resume, ID: unknown},
		{Way: agent.Resume, ID: unknown, Point: unknown},
		{Way: agent.Fork, ID: unknown},
		{Way: agent.Fork, ID: s.ID(), Point: unknown},
	} {
		if _, err := (agent.Claude{}).Open(within(t), c.turn, o); !errors.Is(err, agent.ErrGone) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	c.turn.Ephemeral = true
	s = c.open(agent.Origin{})
	c.say(s, "say <<hello>>")
	c.say(s, "say <<hello again>>")
	s.Close()
	if _, err := (agent.Claude{}).Open(within(t), c.turn, agent.Origin{Way: agent.Resume, ID: s.ID()}); err == nil {
		t.Error("an ephemeral session is kept")
	}
	if sent := len(c.model.Bodies()) - requests; sent != 2 {
		t.Errorf("%d requests were sent", sent)
	}
}

// A stopped turn leaves the program and the session usable, wherever it was.
func TestRealClaudeContinuesAfterStop(t *testing.T) {
	c := newRealClaude(t)
	c.turn.Member.Permissions = agent.Ask
	asked := make(chan struct{}, 1)
	var withdrawn atomic.Bool
	c.turn.Permit = func(ctx context.Context, p agent.Permission) agent.Grant {
		if strings.HasPrefix(p.Title, "tail") {
			return agent.AllowedOnce
		}
		asked <- struct{}{}
		<-ctx.Done()
		withdrawn.Store(true)
		return agent.Refused
	}
	s := c.open(agent.Origin{})
	streamed := func(ctx context.Context) {
		select {
		case <-c.model.Streamed():
		case <-ctx.Done():
		}
	}
	for prompt, happened := range map[string]func(context.Context){
		"slow 200":                   streamed,
		"hang":                       streamed,
		"tool <<touch made>>":        func(context.Context) { <-asked },
		"tool <<tail -f /dev/null>>": func(ctx context.Context) { awaitTool(ctx, c.turn.ID, "tail -f /dev/null") },
	} {
		c.model.Instruct(prompt)
		c.turn.Prompt = prompt
		select {
		case <-c.model.Streamed(): // in the turn before
		default:
		}
		_, took := cancelWhen(t, s, c.turn, happened)
		t.Logf("%s: stopped within %s", prompt, took.Round(time.Millisecond))
		if !s.Alive() {
			t.Fatalf("%s: the program has ended", prompt)
		}
		c.model.Instruct("say <<fine>>") // stopped prompts are sent with the next one
		if replied := mustReply(t, s, agent.Turn{ID: c.turn.ID, Prompt: "Are you fine?"}); replied != "fine" {
			t.Errorf("%s: the next reply is %q", prompt, replied)
		}
	}
	if _, err := os.Stat(filepath.Join(c.turn.Dir, "made")); err == nil || !withdrawn.Load() {
		t.Errorf("the file was made: %t; the question was withdrawn: %t", err == nil, withdrawn.Load())
	}
}

// awaitTool waits until a command runs in a turn.
func awaitTool(ctx context.Context, turnID, tool string) {
	for ctx.Err() == nil {
		for _, command := range agenttest.Running(turnID) {
			if command == tool {
				return
			}
		}
		time.Sleep(20 * time.Millisecond) // the system does not notify of a process's start
	}
}

// The user continues the session in the program itself.
func TestRealClaudeIsContinuedElsewhere(t *testing.T) {
	c := newRealClaude(t)
	s := c.open(agent.Origin{})
	point, _ := c.say(s, "say <<the ash>>")
	s.Close()
	cmd := exec.Command(c.turn.Member.Command, "-p", "--resume", s.ID(), "say <<the elm>>")
	cmd.Dir, cmd.Env = c.turn.Dir, os.Environ()
	for name, value := range c.turn.Member.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	fork := c.open(agent.Origin{Way: agent.Resume, ID: s.ID(), Point: point})
	c.say(fork, "say <<the oak>>")
	messages, _ := json.Marshal(c.lastMessages())
	if fork.ID() == s.ID() || strings.Contains(string(messages), "the elm") {
		t.Errorf("the session is %s, its request %s", fork.ID(), messages)
	}
}
