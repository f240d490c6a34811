package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestReadAndEditAllowByKind(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, target := range map[string]string{"out": outside, "nowhere": filepath.Join(outside, "missing", "file")} {
		programtest.SkipOnWindows(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	edit := func(paths ...string) agent.Permission {
		p := agent.Permission{ToolID: "t1", Tool: "edit", Kind: "edit", Title: "rm -r /"}
		for _, path := range paths {
			p.Edits = append(p.Edits, agent.FileEdit{Path: path, New: "x"})
		}
		return p
	}
	kind := func(kind string) agent.Permission {
		return agent.Permission{ToolID: "t1", Tool: "tool", Kind: kind, Title: "rm -r /"}
	}
	read := kind("read")
	read.Edits = []agent.FileEdit{{Path: "a"}}
	hidden := edit("a")
	hidden.Omitted = 1
	for _, tt := range []struct {
		permissions string
		asked       agent.Permission
		allowed     bool
		by          projection.Decider
	}{
		{agent.ReadOnly, kind("read"), true, projection.ByPolicy},
		{agent.ReadOnly, kind("search"), true, projection.ByPolicy},
		{agent.ReadOnly, read, false, projection.ByPolicy},
		{agent.ReadOnly, kind("fetch"), false, projection.ByPolicy},
		{agent.ReadOnly, kind("execute"), false, projection.ByPolicy},
		{agent.ReadOnly, kind(""), false, projection.ByPolicy},
		{agent.ReadOnly, edit("a"), false, projection.ByPolicy},
		{agent.Edit, edit("a"), true, projection.ByPolicy},
		{agent.Edit, edit(filepath.Join(dir, "new", "a"), "b"), true, projection.ByPolicy},
		{agent.Edit, edit("a", filepath.Join(outside, "b")), false, projection.ByDefault},
		{agent.Edit, edit("../a"), false, projection.ByDefault},
		{agent.Edit, edit("out/a"), false, projection.ByDefault},
		{agent.Edit, edit("nowhere"), false, projection.ByDefault},
		{agent.Edit, edit(), false, projection.ByDefault},
		{agent.Edit, hidden, false, projection.ByDefault},
		{agent.Edit, kind("delete"), false, projection.ByDefault},
		{agent.Edit, kind("execute"), false, projection.ByDefault},
		{agent.Edit, kind("read"), false, projection.ByDefault},
	} {
		s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
			return says(fmt.Sprint("allowed: ", turn.Permit(ctx, tt.asked).Scope != agent.Nothing))(ctx, turn)
		})
		team := testTeam()
		team.Members[0].Permissions, team.Members[0].BaseDir = tt.permissions, dir
		s.setTeam(team, "")
		s.say("go")
		checkAnswered(t, s, projection.PermissionAnswered{
			ToolID: "t1", Name: tt.asked.Tool, Title: "rm -r /", Allowed: tt.allowed, By: tt.by,
		})
		if t.Failed() {
			t.Fatalf("%s, %+v", tt.permissions, tt.asked)
		}
	}
}

func TestBypassedPermissionIsRecorded(t *testing.T) {
	long := strings.Repeat("x", 10<<10)
	s := newFixture(t, &store.Memory{}, yields(errors.New("stopped"), agent.ToolStarted{ID: "t1", Name: "execute"},
		agent.Bypassed{ToolID: "t1", Tool: "execute", Title: "rm " + long}, agent.ToolCompleted{ID: "t1", Name: "execute"}))
	s.setTeam(testTeam(), "")
	_ = s.Say(t.Context(), "you", "go")
	recorded := payloads[projection.PermissionBypassed](t, s.recorder.appended)
	if len(recorded) != 1 || recorded[0].TurnID == "" || recorded[0].ToolID != "t1" || recorded[0].Name != "execute" ||
		len(recorded[0].Title) > 4<<10 || !strings.HasPrefix(recorded[0].Title, "rm x") {
		t.Errorf("recorded %+v", recorded)
	}
}

func TestNoticeOfAgentIsNoReply(t *testing.T) {
	turn := yields(nil, agent.Notice{Text: "Billed differently. [NEXT: bob]"},
		agent.Text{Text: "The answer is 42."}, agent.Notice{Text: "Billed differently. [NEXT: bob]"})
	s := newFixture(t, &store.Memory{}, turn, turn)
	s.setTeam(testTeam(), "")
	s.say("go")
	s.say("again")
	var said []string
	for _, p := range payloads[projection.MessageAppended](t, s.recorder.appended) {
		said = append(said, p.Message.Content)
	}
	if got := strings.Join(said, "|"); got != "go|The answer is 42.|again|The answer is 42." {
		t.Errorf("said %q", got)
	}
	if n := s.recorder.count("notice AgentNotice Ada Billed differently. [NEXT: bob]"); n != 1 {
		t.Errorf("%d notices: %q", n, s.recorder.lines)
	}
}
