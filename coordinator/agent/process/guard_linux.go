package process

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Guard ends what turns have started when this process dies without ending it, for example when it
// is killed. It is a second process of the same program, in a session of its own, which the first
// turn starts and which has the other end of a pipe: the system closes the pipe when this process
// dies, whatever the reason. The program's main function must call [Guarded]. A Guard that cannot be
// started, or was killed, ends nothing; the processes are orphans then. Its methods may be called
// concurrently; the zero Guard is ready to use, and a nil one does nothing.
type Guard struct {
	mu      sync.Mutex
	started bool
	pipe    *os.File // nil if it could not be started or has failed
}

// guardArgument is the first argument of a guard. The second is its owner.
const guardArgument = "__guard"

// guardPatience is how long a turn waits for a guard that does not read, because it was suspended.
const guardPatience = time.Second

// A guardedState is what a turn's processes are doing; the words are sent to the guard.
type guardedState string

const (
	guardedRunning guardedState = "running" // a turn: all of its processes are to be ended
	guardedIdle    guardedState = "idle"    // a resident agent waits for its next turn
	guardedEnded   guardedState = "ended"
)

// note tells the guard the state of a turn's processes. It is called before the program of a turn is
// started.
func (g *Guard) note(state guardedState, turnID string) {
	if g == nil || turnID == "" || strings.ContainsAny(turnID, " \n") {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.started {
		g.started = true
		g.pipe = startGuard()
	}
	if g.pipe == nil {
		return
	}
	_ = g.pipe.SetWriteDeadline(time.Now().Add(guardPatience))
	if _, err := io.WriteString(g.pipe, string(state)+" "+turnID+"\n"); err != nil {
		g.pipe.Close()
		g.pipe = nil
	}
}

// startGuard starts a guard and returns our end of its pipe; nil if that fails, or if this process is a guard. A
// program that this process is about to execute also has our end, until it is executed: the guard then finds its turn
// in its environment.
func startGuard() *os.File {
	if len(os.Args) > 1 && os.Args[1] == guardArgument {
		return nil // main does not call Guarded: each guard would start another
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe") // the file may have been replaced
	cmd.Args = []string{os.Args[0], guardArgument, thisOwner()}
	cmd.Env = []string{} // it belongs to no turn
	cmd.Dir = "/"        // which no one unmounts
	cmd.Stdin = theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal to this group reaches it
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil
	}
	go func() { _ = cmd.Wait() }()
	return ours
}

// Guarded runs the guard and returns true if this process was started as one; the caller then exits.
func Guarded() bool {
	if len(os.Args) != 3 || os.Args[1] != guardArgument {
		return false
	}
	guard(os.Stdin, os.Args[2])
	return true
}

// guard reads the states of turns until the owner has died, and ends the processes of those that are
// not ended.
func guard(states io.Reader, owner string) {
	turns := map[string]guardedState{}
	for lines := bufio.NewScanner(states); lines.Scan(); {
		state, turnID, complete := strings.Cut(lines.Text(), " ")
		if complete && guardedState(state) == guardedEnded {
			delete(turns, turnID)
		} else if complete {
			turns[turnID] = guardedState(state)
		}
	}
	// The pipe is closed a moment before the owner's death can be seen.
	for deadline := time.Now().Add(KillWait); isAlive(owner) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	for turnID, state := range turns {
		if state == guardedRunning {
			EndOrphans(turnID)
		} else {
			EndResidents(turnID)
		}
	}
}
