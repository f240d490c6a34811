package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// followPace is the time between two events that are followed.
const followPace = 5 * time.Millisecond

// follow measures how long after an event was appended it is printed, beside the
// system's tail -f of the same file.
func (f *figures) follow(t *testing.T) {
	home := f.home(t)
	f.do(t, home, nil, "chat", "-m", "hello")
	id, path := onlyJournal(t, home)
	followers := []*follower{
		startFollower(t, "agent-chatter tail -f", f.command(home, "tail", "-f", "-n", "1", "--output", "json", id)),
		startFollower(t, "tail -f of the same file", exec.Command("tail", "-n", "1", "-f", path)),
	}
	for _, follower := range followers {
		follower.next(t) // the last line that was there: it follows now
	}
	var appended []time.Time
	pace := time.NewTicker(followPace)
	defer pace.Stop()
	appendBatches(t, path, 1, func(yield func(projection.Payload) bool) {
		for n := range f.followed {
			<-pace.C
			appended = append(appended, time.Now())
			yield(projection.TurnText{TurnID: "turn-1", Text: fmt.Sprintf("word %d of an answer that comes bit by bit", n)})
		}
	})
	var rows [][]string
	for i, follower := range followers {
		middle, late := follower.delays(t, appended)
		rows = append(rows, []string{follower.name, fmt.Sprintf("%.2f", milliseconds(middle)), fmt.Sprintf("%.2f", milliseconds(late)), fmt.Sprint(len(appended))})
		if i == 0 {
			f.is("tail -f, median delay", milliseconds(middle), 2, "ms")
			f.is("tail -f, 99th percentile", milliseconds(late), 20, "ms")
		}
	}
	printTable([]string{"", "median ms", "99th percentile ms", "events"}, rows)
}

// follower is a program that prints lines as they come.
type follower struct {
	name string
	at   chan time.Time // when each line came
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

// next is when the next line came.
func (f *follower) next(t *testing.T) time.Time {
	t.Helper()
	select {
	case at, running := <-f.at:
		if running {
			return at
		}
	case <-time.After(patience):
	}
	t.Fatalf("%s prints no more", f.name)
	return time.Time{}
}

// delays are the median and the 99th percentile of the times that lines took.
func (f *follower) delays(t *testing.T, appended []time.Time) (middle, late time.Duration) {
	t.Helper()
	var all []time.Duration
	for _, at := range appended {
		all = append(all, f.next(t).Sub(at))
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}
