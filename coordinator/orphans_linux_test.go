package coordinator_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// orphan starts a process of a turn in a new process session, as tools have it.
func orphan(t *testing.T, turnID string) *exec.Cmd {
	t.Helper()
	return startProcess(t, turnID, &syscall.SysProcAttr{Setsid: true})
}

// resident starts a process of a turn that stays between turns.
func resident(t *testing.T, turnID string) *exec.Cmd {
	t.Helper()
	return startProcess(t, turnID, &syscall.SysProcAttr{Setpgid: true})
}

func startProcess(t *testing.T, turnID string, as *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), process.TurnVariable + "=" + turnID}
	cmd.SysProcAttr = as
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// daemon starts a process of a turn in a process session whose leader has ended.
func daemon(t *testing.T, turnID string) (pid int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), process.TurnVariable + "=" + turnID}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(out))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// living reports whether a process has not ended. It may be a zombie otherwise.
func living(cmd *exec.Cmd) bool { return alive(cmd.Process.Pid) }

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// residentEngine is a scriptedEngine that keeps processes between turns.
type residentEngine struct{ *scriptedEngine }

func (residentEngine) Close() {}

func (l residentEngine) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return l.scriptedEngine.Run(ctx, turn)
}

// turnID returns the ID of a turn that began at noon, as the events of writeSession.
func turnID() string { return ulid.MustNew(ulid.Timestamp(noon), ulid.DefaultEntropy()).String() }

func TestResumeEndsOrphansOfOpenTurn(t *testing.T) {
	for _, tt := range []struct {
		name     string
		resident bool // the engine keeps processes between turns
		ended    int
	}{
		{"engine without resident processes", false, 1},
		{"engine with resident processes", true, 2}, // also those of the member's earlier turn
	} {
		t.Run(tt.name, func(t *testing.T) {
			openID, earlierID, otherID := turnID(), turnID(), turnID()
			open, earlier, other := orphan(t, openID), orphan(t, earlierID), orphan(t, otherID)
			stranger := orphan(t, turnID())
			started := func(id, member string) projection.TurnStarted {
				return projection.TurnStarted{TurnID: id, MemberID: member, TriggerMessageID: "m1"}
			}
			done := func(id, member string) projection.TurnEnded {
				return projection.TurnEnded{TurnID: id, MemberID: member, FinishReason: projection.Done}
			}
			sessions := &store.Memory{}
			session := writeSession(t, sessions,
				started(otherID, "bob"), done(otherID, "bob"),
				started(earlierID, "ada"), done(earlierID, "ada"),
				started(openID, "ada"))

			s := newFixture(t, sessions)
			o := s.options(sessions)
			if tt.resident {
				o.Engines["scripted"] = residentEngine{s.engine}
			}
			s.Coordinator = coordinator.New(o)
			s.setTeam(testTeam(), session)
			if living(open) {
				t.Error("the process of the open turn is alive")
			}
			if living(earlier) == tt.resident {
				t.Errorf("the process of the earlier turn is alive: %v, want %v", living(earlier), !tt.resident)
			}
			if !living(other) || !living(stranger) {
				t.Error("a process of another turn was ended")
			}
			if s.recorder.count(fmt.Sprint("notice OrphansEnded ", tt.ended)) != 1 {
				t.Errorf("notified %q, want %d ended", s.recorder.lines, tt.ended)
			}
		})
	}
}

func TestResumeEndsResidentProcess(t *testing.T) {
	for _, isResident := range []bool{false, true} {
		id := turnID()
		program, server, detached := resident(t, id), orphan(t, id), daemon(t, id)
		sessions := &store.Memory{}
		session := writeSession(t, sessions,
			projection.TurnStarted{TurnID: id, MemberID: "ada", TriggerMessageID: "m1"},
			projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done})

		s := newFixture(t, sessions)
		o := s.options(sessions)
		if isResident {
			o.Engines["scripted"] = residentEngine{s.engine}
		}
		s.Coordinator = coordinator.New(o)
		s.setTeam(testTeam(), session)
		for range 100 { // the kill is asynchronous
			if !isResident || !living(program) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if living(program) == isResident {
			t.Errorf("the process is alive: %v, want %v", living(program), !isResident)
		}
		if !living(server) || !alive(detached) {
			t.Error("a server that the agent started was ended")
		}
		notified := s.recorder.count("notice OrphansEnded 1") == 1
		if notified != isResident {
			t.Errorf("notified %q", s.recorder.lines)
		}
	}
}

func TestCopyKeepsProcessesOfOriginal(t *testing.T) {
	id := turnID()
	process := orphan(t, id)
	sessions := &store.Memory{}
	session := writeSession(t, sessions,
		projection.SessionCreated{
			Format: projection.Format, Team: projection.Team{ID: "ensemble", Members: []projection.Member{}},
			Parent: &projection.Parent{SessionID: "another", Seq: 3},
		},
		projection.TurnStarted{TurnID: id, MemberID: "ada", TriggerMessageID: "m1"})

	s := newFixture(t, sessions)
	s.setTeam(testTeam(), session)
	if !living(process) {
		t.Error("a process of the original session was ended")
	}
}
