package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// conversation is a session of the demo team in a home of its own.
type conversation struct {
	messages int
	home, id string
	snapshot string // path of the same session as one JSON file; "": it would be too long
}

// resume measures the time until a resumed session accepts input, and the bytes
// that one more turn writes, by the length of the session.
func (f *figures) resume(t *testing.T) {
	var sessions []conversation
	for _, messages := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.resumed, f.written)))) {
		sessions = append(sessions, f.converse(t, messages))
	}
	f.resumeTimes(t, sessions)
	f.paintTimes(t, sessions)
	f.turnBytes(t, sessions)
}

func (f *figures) resumeTimes(t *testing.T, sessions []conversation) {
	var contestants []contestant
	var journals, snapshots []int // indexes of contestants
	for _, s := range sessions {
		if !slices.Contains(f.resumed, s.messages) {
			continue
		}
		journals = append(journals, len(contestants))
		contestants = append(contestants, contestant{
			name: fmt.Sprintf("chat --resume, %d messages", s.messages), home: s.home, most: 1.6,
			args:   []string{f.program, "chat", "--resume", s.id},
			prints: fmt.Sprintf("(%d messages loaded)", s.messages),
		})
		if s.snapshot != "" {
			snapshots = append(snapshots, len(contestants))
			contestants = append(contestants, contestant{
				name: fmt.Sprintf("one JSON file, %d messages", s.messages),
				args: []string{f.peer, "resume", s.snapshot}, prints: fmt.Sprintf("%d messages loaded", s.messages),
			})
		}
	}
	results := f.race(t, contestants...)
	printCosts(results)
	shortest, longest := results[0], results[journals[len(journals)-1]]
	f.takesAtMost(longest, 50*time.Millisecond)
	wall := longest.wall().Seconds() / shortest.wall().Seconds()
	cpu := longest.cpu().Seconds() / shortest.cpu().Seconds()
	f.atMost(longest.name+": wall time relative to the shortest session", wall, 1.5, "×")
	f.atMost(longest.name+": CPU time relative to the shortest session", cpu, 1.5, "×")
	f.atMost(longest.name+": memory", float64(longest.peak())/1e6, 60, "MB")
	f.drawResume(t,
		f.curve("agent-chatter", results, journals),
		f.curve("one JSON file, read and decoded whole", results, snapshots))
}

// curve is of CPU time, which depends little on other load.
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
	if *full {
		path = filepath.Join("..", "..", "..", "testdata", "resume.svg")
	}
	plot := plot{
		title: "chat --resume, until it accepts input", curves: curves,
		x: "messages in the session", y: "milliseconds of CPU time",
	}
	if err := os.WriteFile(path, []byte(plot.svg()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// turnBytes counts what one more turn of three short messages writes: as one of
// many in a process, and in a process of its own, which writes a checkpoint when it
// ends if the journal has outgrown the last one.
func (f *figures) turnBytes(t *testing.T, sessions []conversation) {
	var rows [][]string
	var journals []int64
	for _, s := range sessions {
		if !slices.Contains(f.written, s.messages) {
			continue
		}
		f.sendTurns(t, s, 1) // updates the checkpoint, if one is due
		one, withoutCheckpoint := f.sendTurns(t, s, 1)
		_, many := f.sendTurns(t, s, 11)
		more := (many - withoutCheckpoint) / 10
		journals = append(journals, more)
		save := contestant{name: "peer save", args: []string{f.peer, "save", s.snapshot}}
		snapshot := f.run(t, save, version{}).Written
		rows = append(rows, []string{
			fmt.Sprint(s.messages), fmt.Sprint(more), fmt.Sprint(one), fmt.Sprint(one - withoutCheckpoint),
			fmt.Sprint(snapshot),
		})
	}
	printTable([]string{
		"messages before", "bytes per turn, in a chat", "bytes of a chat of one turn",
		"of them a checkpoint, if one was due", "one JSON file, saved once per turn",
	}, rows)
	relative := float64(journals[len(journals)-1]) / float64(journals[0])
	f.atMost("bytes written per turn in the longest session, relative to the shortest", relative, 1.05, "×")
}

// sendTurns resumes a session for some turns. It returns the bytes written: all,
// and those outside of the checkpoint, which may be written when the chat ends.
func (f *figures) sendTurns(t *testing.T, s conversation, turns int) (all, withoutCheckpoint int64) {
	t.Helper()
	args := []string{f.program, "chat", "--resume", s.id}
	for range turns {
		args = append(args, "-m", "one more message")
	}
	checkpoint := filepath.Join(s.home, "sessions", "demo", s.id+".checkpoint.json")
	before, _ := os.Stat(checkpoint)
	c := contestant{name: "a turn", args: args, prints: "Critic: "}
	all = f.run(t, c, version{f.program, s.home}).Written
	if after, _ := os.Stat(checkpoint); before != nil && os.SameFile(before, after) {
		return all, all
	}
	return all, all - fileSize(t, checkpoint)
}

// converse writes a session with so many messages, of about 2 KB each, and its
// checkpoint.
func (f *figures) converse(t *testing.T, messages int) conversation {
	t.Helper()
	v := version{f.program, f.home(t)}
	version{f.oldest(), v.home}.do(t, nil, "chat", "-m", "hello") // three messages
	id, path := onlyJournal(t, v.home)
	appendMessages(t, path, messages-3)
	for _, v := range f.versions(t, v.home) {
		v.do(t, nil, "compact", id)
	}
	s := conversation{messages: messages, home: v.home, id: id}
	if messages <= f.snapshot {
		s.snapshot = filepath.Join(v.home, "snapshot.json")
		if err := os.WriteFile(s.snapshot, v.do(t, nil, "replay", id, "--output", "snapshot"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
