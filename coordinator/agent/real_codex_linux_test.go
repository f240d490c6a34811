package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// withRealCodex runs a test with Codex as it is installed. Processes that are left running fail the test.
func withRealCodex(t *testing.T, test func(t *testing.T, turn agent.Turn, model *agenttest.Model)) {
	isCodex := func(a agenttest.Real) bool { return a.Engine == "codex" }
	withReal(t, isCodex, func(t *testing.T, _ agenttest.Real, _ agent.Engine, turn agent.Turn, model *agenttest.Model) {
		test(t, turn, model)
	})
}

const (
	touchFile = "tool <<touch FILE>>"
	patchFile = `call <<apply_patch {"patch":"*** Begin Patch\n*** Add File: FILE\n+oak\n*** End Patch\n"}>>`
)

// Codex changes nothing that the permissions of the member do not allow, and everything that they allow.
func TestRealCodexPermissions(t *testing.T) {
	withRealCodex(t, func(t *testing.T, turn agent.Turn, model *agenttest.Model) {
		for _, tt := range []struct {
			permissions string
			grant       agent.Grant
			prompt      string
			escalate    bool // the command is to leave the sandbox
			asked       int
			made        bool
		}{
			{agent.Deny, agent.AllowedOnce, touchFile, false, 0, false},
			{agent.Deny, agent.AllowedOnce, touchFile, true, 0, false},
			{agent.Deny, agent.AllowedOnce, patchFile, false, 0, false},
			{agent.ReadOnly, agent.AllowedOnce, touchFile, true, 0, false},
			{agent.ReadOnly, agent.AllowedOnce, patchFile, false, 0, false},
			{agent.Ask, agent.AllowedOnce, touchFile, false, 0, false},
			{agent.Ask, agent.Refused, touchFile, true, 1, false},
			{agent.Ask, agent.AllowedOnce, touchFile, true, 1, true},
			{agent.Ask, agent.AllowedForSession, touchFile, true, 1, true},
			{agent.Ask, agent.Refused, patchFile, false, 1, false},
			{agent.Ask, agent.AllowedOnce, patchFile, false, 1, true},
			{agent.Edit, agent.Refused, touchFile, true, 1, false},
			{agent.Edit, agent.Refused, touchFile, false, 0, true},
			{agent.Edit, agent.Refused, patchFile, false, 0, true},
			{agent.Allow, agent.AllowedOnce, touchFile, true, 1, true},
			{agent.Allow, agent.AllowedOnce, patchFile, false, 0, true},
			{agent.Bypass, agent.Refused, touchFile, false, 0, true},
		} {
			model.Escalate, turn.Member.Permissions = tt.escalate, tt.permissions
			got := actWith(t, agent.Codex{}, turn, tt.grant, tt.prompt)
			if got.made != tt.made || got.asked != tt.asked || got.err != nil || len(got.bypassed) > 0 {
				t.Errorf("%+v: %+v", tt, got)
			}
		}
	})
}

// widen makes the configuration of the user as wide as it can be.
func widen(t *testing.T, m agent.Member) {
	t.Helper()
	home := filepath.Join(m.Env["HOME"], ".codex")
	for name, text := range map[string]string{
		"config.toml":         "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n",
		"rules/default.rules": "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n",
	} {
		file := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// The user's configuration and rules do not widen the permissions of the member, and neither does what a session was
// allowed before.
func TestRealCodexPermissionsAreNotWidened(t *testing.T) {
	withRealCodex(t, func(t *testing.T, turn agent.Turn, model *agenttest.Model) {
		widen(t, turn.Member)
		wide := openCodex(t, turn, agent.Origin{}) // with Bypass
		if took := act(t, wide, turn, "hello"); took.err != nil {
			t.Fatal(took.err)
		}
		wide.Close()
		for _, permissions := range []string{agent.Deny, agent.ReadOnly, agent.Ask} {
			for _, escalate := range []bool{false, true} {
				for _, way := range []agent.Way{agent.New, agent.Resume, agent.Fork} {
					model.Escalate, turn.Member.Permissions = escalate, permissions
					s := openCodex(t, turn, agent.Origin{Way: way, ID: wide.ID()})
					took := act(t, s, turn, strings.ReplaceAll(touchFile, "FILE", filepath.Join(turn.Dir, "made")))
					s.Close()
					_, err := os.Stat(filepath.Join(turn.Dir, "made"))
					if err == nil || took.err != nil {
						t.Fatalf("%s, way %d, escalated: %t: made: %t, %v", permissions, way, escalate, err == nil, took.err)
					}
				}
			}
		}
	})
}

func openCodex(t *testing.T, turn agent.Turn, origin agent.Origin) agent.Session {
	t.Helper()
	s, err := agent.Codex{}.Open(within(t), turn, origin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inputs are the messages of the requests to the model.
func inputs(t *testing.T, model *agenttest.Model) (all [][]json.RawMessage) {
	t.Helper()
	for _, body := range model.Bodies() {
		var request struct{ Input []json.RawMessage }
		if err := json.Unmarshal([]byte(body), &request); err == nil && request.Input != nil {
			all = append(all, request.Input)
		}
	}
	return all
}

func TestRealCodexSessions(t *testing.T) {
	withRealCodex(t, func(t *testing.T, turn agent.Turn, model *agenttest.Model) {
		turn.Member.Permissions = agent.Ask
		s := openCodex(t, turn, agent.Origin{})
		one := act(t, s, turn, "an oak; say <<one>>")
		two := act(t, s, turn, "a birch-and-elm; say <<two>>")
		_, busy := agent.Codex{Retry: 1}.Open(within(t), turn, agent.Origin{Way: agent.Resume, ID: s.ID()})
		s.Close()
		resumed := openCodex(t, turn, agent.Origin{Way: agent.Resume, ID: s.ID(), Point: two.point})
		three := act(t, resumed, turn, "a pine; say <<three>>")
		resumed.Close()
		if one.text+two.text+three.text != "onetwothree" || resumed.ID() != s.ID() || !errors.Is(busy, agent.ErrBusy) ||
			resumed.Alive() || three.used.Input != 10 || three.used.Window == 0 {
			t.Errorf("replies %+v, %+v, %+v; ids %s and %s; %v", one, two, three, s.ID(), resumed.ID(), busy)
		}
		requests := inputs(t, model)
		for i, input := range requests[1:] {
			before := requests[i]
			if len(before) >= len(input) || !slices.EqualFunc(before, input[:len(before)], func(a, b json.RawMessage) bool {
				return string(a) == string(b)
			}) {
				t.Errorf("request %d is no extension of the one before:\n%s\n%s", i+1, before, input)
			}
		}
		for _, origin := range []agent.Origin{
			{Way: agent.Fork, ID: s.ID(), Point: one.point},
			{Way: agent.Resume, ID: s.ID(), Point: one.point}, // something else has continued it
		} {
			forked := openCodex(t, turn, origin)
			four := act(t, forked, turn, "a larch; say <<four>>")
			forked.Close()
			all := inputs(t, model)
			last := mustJSON(t, all[len(all)-1])
			if four.text != "four" || forked.ID() == s.ID() || !strings.Contains(last, "an oak") ||
				strings.Contains(last, "a birch-and-elm") || strings.Contains(last, "a pine") {
				t.Errorf("%+v: %+v, id %s: %s", origin, four, forked.ID(), last)
			}
		}
	})
}

func TestRealCodexSessionsThatAreGone(t *testing.T) {
	withRealCodex(t, func(t *testing.T, turn agent.Turn, model *agenttest.Model) {
		s := openCodex(t, turn, agent.Origin{})
		point := act(t, s, turn, "hello").point
		s.Close()
		const unknown = "01a22304-d34f-7050-8fb0-cbe1ff45dc14"
		check := func(origin agent.Origin) {
			t.Helper()
			opened, err := agent.Codex{}.Open(within(t), turn, origin)
			if !errors.Is(err, agent.ErrGone) {
				t.Errorf("%+v: %v, %v", origin, opened, err)
			}
		}
		check(agent.Origin{Way: agent.Resume, ID: unknown})
		check(agent.Origin{Way: agent.Resume, ID: unknown, Point: point})
		check(agent.Origin{Way: agent.Fork, ID: unknown, Point: point})
		check(agent.Origin{Way: agent.Fork, ID: s.ID(), Point: unknown})
		check(agent.Origin{Way: agent.Resume, ID: "--last"})
		check(agent.Origin{Way: agent.Resume, ID: s.ID(), Point: "x"})
		files, err := filepath.Glob(filepath.Join(turn.Member.Env["HOME"], ".codex/sessions/*/*/*/*"+s.ID()+"*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file of the session: %v", err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		check(agent.Origin{Way: agent.Resume, ID: s.ID()})
		check(agent.Origin{Way: agent.Resume, ID: s.ID(), Point: point})
		check(agent.Origin{Way: agent.Fork, ID: s.ID(), Point: point})
		turn.Ephemeral = true
		s = openCodex(t, turn, agent.Origin{})
		act(t, s, turn, "hello")
		s.Close()
		check(agent.Origin{Way: agent.Resume, ID: s.ID()})
	})
}

// An interrupted turn leaves the session as it is: in its reply, while a question is open, and in a tool.
func TestRealCodexIsInterrupted(t *testing.T) {
	withRealCodex(t, func(t *testing.T, turn agent.Turn, model *agenttest.Model) {
		turn.Member.Permissions, model.Escalate = agent.Ask, true
		s := openCodex(t, turn, agent.Origin{})
		defer s.Close()
		ctx, cancel := context.WithCancelCause(within(t))
		stopped := turn
		stopped.Permit = func(asking context.Context, _ agent.Permission) agent.Grant {
			cancel(errCancelled)
			<-asking.Done()
			return agent.AllowedOnce
		}
		for _, prompt := range []string{"slow 200", "tool <<touch made>>", "tool <<echo started > started; tail -f /dev/null>>"} {
			stopped.Prompt = prompt
			var last error
			for event, err := range s.Turn(ctx, stopped) {
				if _, ok := event.(agent.Text); ok {
					cancel(errCancelled)
				}
				last = err
			}
			if !errors.Is(last, errCancelled) || !s.Alive() {
				t.Fatalf("%s: %v, alive: %t", prompt, last, s.Alive())
			}
			ctx, cancel = context.WithCancelCause(within(t))
		}
		cancel(nil)
		if got := act(t, s, turn, "say <<here>>"); got.text != "here" {
			t.Errorf("%+v", got)
		}
		if _, err := os.Stat(filepath.Join(turn.Dir, "made")); err == nil {
			t.Error("the tool has run")
		}
	})
}
