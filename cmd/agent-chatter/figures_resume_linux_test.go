package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// talked is a session of the demo team in a home of its own.
type talked struct {
	messages int
	home, id string
	snapshot string // the same as one JSON file; "": it would be too long
}

// resume measures how long it takes until one can go on with a session, and what
// one more turn writes, by the session's length.
func (f *figures) resume(t *testing.T) {
	var sessions []talked
	for _, messages := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.resumed, f.written)))) {
		sessions = append(sessions, f.talk(t, messages))
	}
	f.resumeTimes(t, sessions)
	f.turnBytes(t, sessions)
}

func (f *figures) resumeTimes(t *testing.T, sessions []talked) {
	var contestants []contestant
	var journals, snapshots []int
	for _, s := range sessions {
		if !slices.Contains(f.resumed, s.messages) {
			continue
		}
		journals = append(journals, len(contestants))
		contestants = append(contestants, contestant{
			name: fmt.Sprintf("chat --resume, %d messages", s.messages), home: s.home,
			args: []string{f.program, "chat", "--resume", s.id}, says: fmt.Sprintf("(%d messages loaded)", s.messages),
		})
		if s.snapshot != "" {
			snapshots = append(snapshots, len(contestants))
			contestants = append(contestants, contestant{
				name: fmt.Sprintf("one JSON file, %d messages", s.messages),
				args: []string{f.beside, "resume", s.snapshot}, says: fmt.Sprintf("%d messages loaded", s.messages),
			})
		}
	}
	results := f.race(t, contestants...)
	printCosts(results)
	longest := results[journals[len(journals)-1]]
	f.takes(longest, 50*time.Millisecond)
	f.is(longest.name+": wall time, of that with the fewest", longest.wall().Seconds()/results[0].wall().Seconds(), 1.5, "×")
	f.is(longest.name+": CPU time, of that with the fewest", longest.cpu().Seconds()/results[0].cpu().Seconds(), 1.5, "×")
	f.is(longest.name+": memory", float64(longest.peak())/1e6, 60, "MB")
	f.drawResume(t, f.curve("agent-chatter", results, journals), f.curve("one JSON file, read and decoded whole", results, snapshots))
}

// curve is of processor time, which does not depend on what else the machine does.
func (f *figures) curve(name string, results []costs, which []int) curve {
	c := curve{name: name}
	for i, at := range which {
		c.points = append(c.points, point{float64(f.resumed[i]), milliseconds(results[at].cpu())})
	}
	return c
}

func (f *figures) drawResume(t *testing.T, curves ...curve) {
	t.Helper()
	path := filepath.Join(f.dir, "resume.svg")
	if figuresFlag == "full" {
		path = filepath.Join("..", "..", "testdata", "resume.svg")
	}
	plot := plot{title: "chat --resume, until one can type", x: "messages in the session", y: "milliseconds of processor time", curves: curves}
	if err := os.WriteFile(path, []byte(plot.svg()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// turnBytes counts what one more turn of three short messages writes: in a
// process of its own, which may write a checkpoint when it ends, and as one of
// many in a process.
func (f *figures) turnBytes(t *testing.T, sessions []talked) {
	var rows [][]string
	var journals []int64
	for _, s := range sessions {
		if !slices.Contains(f.written, s.messages) {
			continue
		}
		// The first brings the checkpoint up to date, where it is due.
		f.says(t, s, 1)
		one := f.says(t, s, 1)
		more := (f.says(t, s, 11) - f.says(t, s, 1)) / 10
		journals = append(journals, more)
		whole := f.run(t, contestant{name: "peer save", args: []string{f.beside, "save", s.snapshot}}).Written
		checkpoint := fileSize(t, filepath.Join(s.home, "sessions", "demo", s.id+".checkpoint.json"))
		rows = append(rows, []string{fmt.Sprint(s.messages), fmt.Sprint(more), fmt.Sprint(one), fmt.Sprint(checkpoint), fmt.Sprint(whole)})
	}
	printTable([]string{"messages before", "bytes a turn, in a chat", "bytes of a chat of one turn", "a checkpoint, once in 1,000 events or 1 MiB", "one JSON file, saved once a turn"}, rows)
	f.is("bytes written a turn, with the most messages, of those with the fewest", float64(journals[len(journals)-1])/float64(journals[0]), 1.05, "×")
}

// says goes on with a session for some turns, and returns the bytes written.
func (f *figures) says(t *testing.T, s talked, turns int) int64 {
	args := []string{f.program, "chat", "--resume", s.id}
	for range turns {
		args = append(args, "-m", "one more message")
	}
	return f.run(t, contestant{name: "a turn", home: s.home, args: args, says: "Critic: "}).Written
}

// talk makes a session with so many messages, of about 2 KB a message, and the
// checkpoint that such a session has.
func (f *figures) talk(t *testing.T, messages int) talked {
	t.Helper()
	s := talked{messages: messages, home: f.home(t)}
	f.do(t, s.home, nil, "chat", "-m", "hello") // three messages
	id, path := onlyJournal(t, s.home)
	s.id = id
	talkOn(t, path, messages-3)
	f.do(t, s.home, nil, "compact", id)
	if messages <= f.snapshot {
		s.snapshot = filepath.Join(s.home, "snapshot.json")
		if err := os.WriteFile(s.snapshot, f.do(t, s.home, nil, "replay", id, "--output", "snapshot"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
