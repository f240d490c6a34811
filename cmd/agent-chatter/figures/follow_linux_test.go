package figures

import (
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	followPace    = 5 * time.Millisecond // between two events
	followTimeout = time.Minute          // for the next line
)

// follow measures the delay between an append and the printed event, next to
// tail -f of the same file.
func (f *figures) follow(t *testing.T) {
	v := version{f.program, f.home(t)}
	v.do(t, nil, "chat", "-m", "hello")
	id, path := onlyJournal(t, v.home)
	followers := []*follower{
		startFollower(t, "agent-chatter tail -f", v.command("tail", "-f", "-n", "1", "--output", "json", id)),
		startFollower(t, "tail -f of the same file", exec.Command("tail", "-n", "1", "-f", path)),
	}
	for _, follower := range followers {
		follower.next(t) // the last existing line: now it follows
	}
	var appended []time.Time
	pace := time.NewTicker(followPace)
	defer pace.Stop()
	appendBatches(t, path, 1, func(yield func(projection.Payload) bool) {
		for n := range f.followed {
			<-pace.C
			appended = append(appended, time.Now())
			yield(projection.TurnText{TurnID: "turn-1", Text: fmt.Sprintf("word %d of an answer that is streamed", n)})
		}
	})
	var rows [][]string
	for i, follower := range followers {
		median, p99 := follower.delays(t, appended)
		rows = append(rows, []string{
			follower.name, fmt.Sprintf("%.2f", milliseconds(median)), fmt.Sprintf("%.2f", milliseconds(p99)),
			fmt.Sprint(len(appended)),
		})
		if i == 0 {
			f.atMost("tail -f, median delay", milliseconds(median), 2, "ms")
			f.atMost("tail -f, 99th percentile", milliseconds(p99), 20, "ms")
		}
	}
	printTable([]string{"", "median ms", "99th percentile ms", "events"}, rows)
}

// follower is a program that prints lines as they are appended.
type follower struct {
	name string
	at   chan time.Time // the time of each line
}

func startFollower(t *testing.T, name string, cmd *exec.Cmd) *follower {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &follower{name, make(chan time.Time, 10_000)}
	go func() {
		defer close(f.at)
		for lines := bufio.NewReader(stdout); ; {
			if _, err := lines.ReadSlice('\n'); err != nil {
				return
			}
			f.at <- time.Now()
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return f
}

// next waits for the next line and returns its time.
func (f *follower) next(t *testing.T) time.Time {
	t.Helper()
	select {
	case at, running := <-f.at:
		if running {
			return at
		}
	case <-time.After(followTimeout):
	}
	t.Fatalf("%s printed no further line", f.name)
	return time.Time{}
}

// delays returns the median and the 99th percentile of the delays of the lines.
func (f *follower) delays(t *testing.T, appended []time.Time) (median, p99 time.Duration) {
	t.Helper()
	var all []time.Duration
	for _, at := range appended {
		all = append(all, f.next(t).Sub(at))
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}
