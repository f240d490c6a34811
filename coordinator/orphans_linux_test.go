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

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// orphan is a process of a turn, in a session of its own as tools are.
func orphan(t *testing.T, turnID string) *exec.Cmd {
	t.Helper()
	return leftRunning(t, turnID, &syscall.SysProcAttr{Setsid: true})
}

// resident is a process of a turn that stays between turns.
func resident(t *testing.T, turnID string) *exec.Cmd {
	t.Helper()
	return leftRunning(t, turnID, &syscall.SysProcAttr{Setpgid: true})
}

func leftRunning(t *testing.T, turnID string, as *syscall.SysProcAttr) *exec.Cmd {
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

// daemon is a process of a turn in a session whose leader has ended.
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

// living reports whether a process has not ended; its end is not reaped.
func living(cmd *exec.Cmd) bool { return alive(cmd.Process.Pid) }

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// lasting is a cast that keeps programs running between turns.
type lasting struct{ *cast }

func (lasting) Close() {}

func (l lasting) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return l.cast.Run(ctx, turn)
}

func TestAResumeEndsWhatTheTurnOfADeadProgramHasLeftRunning(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lasts   bool
		earlier bool // a process of the member's earlier turn is ended, too
	}{
		{"an engine for one turn", false, false},
		{"an engine that keeps its programs", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := func(name string) string { return fmt.Sprintf("%s-%d-%s", t.Name(), os.Getpid(), name) }
			open, earlier, another, stranger := orphan(t, id("open")), orphan(t, id("earlier")), orphan(t, id("another")), orphan(t, id("stranger"))
			started := func(name, member string) projection.TurnStarted {
				return projection.TurnStarted{TurnID: id(name), MemberID: member, TriggerMessageID: "m1"}
			}
			done := func(name, member string) projection.TurnEnded {
				return projection.TurnEnded{TurnID: id(name), MemberID: member, FinishReason: projection.Done}
			}
			store := &store.Memory{}
			session := wrote(t, store, started("another", "bob"), done("another", "bob"), started("earlier", "ada"), done("earlier", "ada"), started("open", "ada"))

			s := stage(t, store)
			o := s.options(store)
			if tt.lasts {
				o.Engines["cast"] = lasting{s.cast}
			}
			s.Coordinator = coordinator.New(o)
			s.with(ensemble(), session)
			if living(open) {
				t.Error("the open turn's process is alive")
			}
			if living(earlier) == tt.earlier {
				t.Errorf("the earlier turn's process is alive: %v", !tt.earlier)
			}
			if !living(another) || !living(stranger) {
				t.Error("a process that has nothing to do with it was ended")
			}
			ended := 1
			if tt.earlier {
				ended = 2
			}
			if s.diary.count(fmt.Sprintf("notice %d [] %d", coordinator.OrphansEnded, ended)) != 1 {
				t.Errorf("told %q", s.diary.lines)
			}
		})
	}
}

func TestAResumeEndsAProgramThatHasStayedBetweenTurns(t *testing.T) {
	for _, lasts := range []bool{false, true} {
		id := fmt.Sprintf("%s-%d-%v", t.Name(), os.Getpid(), lasts)
		program, server, detached := resident(t, id), orphan(t, id), daemon(t, id)
		store := &store.Memory{}
		session := wrote(t, store,
			projection.TurnStarted{TurnID: id, MemberID: "ada", TriggerMessageID: "m1"},
			projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done})

		s := stage(t, store)
		o := s.options(store)
		if lasts {
			o.Engines["cast"] = lasting{s.cast}
		}
		s.Coordinator = coordinator.New(o)
		s.with(ensemble(), session)
		if lasts {
			program.Wait() // it is killed, or the test never ends
		} else if !living(program) {
			t.Error("what an engine for one turn has left on purpose was ended")
		}
		if !living(server) || !alive(detached) {
			t.Error("the server that the agent was asked to start was ended")
		}
		if told := s.diary.count(fmt.Sprintf("notice %d [] 1", coordinator.OrphansEnded)) == 1; told != lasts {
			t.Errorf("told %q", s.diary.lines)
		}
	}
}

func TestTheTurnsOfACopyBelongToTheSessionThatItIsACopyOf(t *testing.T) {
	id := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	theirs := orphan(t, id)
	store := &store.Memory{}
	session := wrote(t, store,
		projection.SessionCreated{Format: projection.Format, Team: projection.Team{ID: "ensemble"}, Parent: &projection.Parent{SessionID: "another", Seq: 3}},
		projection.TurnStarted{TurnID: id, MemberID: "ada", TriggerMessageID: "m1"})

	s := stage(t, store)
	s.with(ensemble(), session)
	if !living(theirs) {
		t.Error("the process of the other session's turn was ended")
	}
}
