package figures

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// mostGrowth bounds the peak memory for four times the size. A program that keeps what it ships or fetches takes more
// than three times as much.
const mostGrowth = 1.5

// hubMemory measures the peak memory of what ships and fetches a session, by the size of what is shipped or fetched. It
// takes the least of some runs: how far the heap grows between two collections depends on other load.
func (f *figures) hubMemory(t *testing.T) {
	h, _ := f.startHub(t)
	rounds := 1
	if *full {
		rounds = 3
	}
	var rows [][]string
	var first map[string]int64
	for _, size := range f.backlogs {
		least := map[string]int64{}
		for range rounds {
			t.Run(mb(size)+" MB", func(t *testing.T) {
				for name, peak := range f.hubPeaks(t, h, size) {
					least[name] = min(peak, cmp.Or(least[name], peak))
				}
			})
		}
		if first == nil {
			first = least
		}
		for _, name := range slices.Sorted(maps.Keys(least)) {
			rows = append(rows, []string{name, mb(size), mb(least[name])})
			if size > f.backlogs[0] {
				what := fmt.Sprintf("%s, %s MB: memory relative to %s MB", name, mb(size), mb(f.backlogs[0]))
				f.atMost(what, float64(least[name])/float64(first[name]), mostGrowth, "×")
			}
		}
	}
	printTable([]string{"", "MB of the session", "memory MB"}, rows)
}

// hubPeaks returns the peak memory of programs that ship and fetch a session of a size in bytes.
func (f *figures) hubPeaks(t *testing.T, h *hub.Hub, size int64) map[string]int64 {
	t.Helper()
	push, pull := f.copyPeaks(t, h, size)
	return map[string]int64{
		"hub push": push, "hub pull": pull, "chat, which ships its session": f.chatPeak(t, h, size),
		"tail -f, whose output is read late": f.tailPeak(t, h, size),
	}
}

// newHubSession returns the name of another session, which is purged from the hub when the test ends.
func newHubSession(t *testing.T, h *hub.Hub) hub.Session {
	t.Helper()
	s := hub.Session{Team: hubSession.Team, ID: journal.NewDir("", journal.Options{}).NewID()}
	purgeAfter(t, h, s)
	return s
}

// purgeAfter purges a session from the hub when the test ends.
func purgeAfter(t *testing.T, h *hub.Hub, s hub.Session) {
	t.Cleanup(func() {
		if err := h.Purge(context.Background(), s); err != nil {
			t.Error(err)
		}
	})
}

// copyPeaks returns the peak memory of hub push of a session that the hub lacks, and of hub pull of it.
func (f *figures) copyPeaks(t *testing.T, h *hub.Hub, size int64) (push, pull int64) {
	t.Helper()
	here, there, s := f.hubHome(t), f.hubHome(t), newHubSession(t, h)
	log := createSession(t, journal.NewDir(here.journals(s), journal.Options{}), s)
	for log.Position().Offset < size {
		appendText(t, log, 100_000)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(v version, does, prints string) int64 {
		c := contestant{name: "hub " + does, args: []string{f.program, "hub", does, s.ID}, prints: prints}
		return f.run(t, c, v).Peak
	}
	return run(here, "push", "shipped"), run(there, "pull", "fetched")
}

// chatPeak returns the peak memory of a chat that resumes a session which the hub lacks.
func (f *figures) chatPeak(t *testing.T, h *hub.Hub, size int64) int64 {
	t.Helper()
	v := f.hubHome(t)
	wait := `{"hub":{"teams":["*"],"mode":"sync","timeout":"30m"}}` // a message is saved when everything is shipped
	if err := os.WriteFile(filepath.Join(v.home, "config.json"), []byte(wait), 0o600); err != nil {
		t.Fatal(err)
	}
	v.do(t, nil, "chat", "--offline", "-m", "hello")
	id, path := onlyJournal(t, v.home)
	for missing := size; missing > 0; missing = size - fileSize(t, path) {
		appendMessages(t, path, int(missing/2_500)+1)
	}
	v.do(t, nil, "compact", id)
	chat := contestant{
		name: "chat", args: []string{f.program, "chat", "--resume", id, "-m", "one more message"}, prints: "Critic: ",
	}
	peak := f.run(t, chat, v).Peak
	session := hub.Session{Team: filepath.Base(filepath.Dir(path)), ID: id}
	purgeAfter(t, h, session)
	row, err := h.Row(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if all := fileSize(t, path); row.Head.Offset < all {
		t.Errorf("the chat has shipped %s of %s MB", mb(row.Head.Offset), mb(all))
	}
	return peak
}

// tailPeak returns the peak memory of tail -f on another machine, whose output is read after a session has grown by so
// many bytes.
func (f *figures) tailPeak(t *testing.T, h *hub.Hub, size int64) int64 {
	t.Helper()
	s := newHubSession(t, h)
	w := newHubWriter(t, h, s, f.home(t))
	w.append(t, 100)
	w.ship(t)
	tail := f.hubHome(t).command("tail", "-f", "-n", "1", "--output", "json", s.ID)
	stdout, err := tail.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	defer tail.Wait()
	defer tail.Process.Kill()
	lines := bufio.NewReader(stdout)
	readTo(t, lines, w.log.Position().Seq)
	for w.log.Position().Offset < size {
		w.append(t, 100_000)
		w.ship(t)
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	readTo(t, lines, w.log.Position().Seq)
	return peakOf(t, tail.Process.Pid)
}

// readTo reads journal lines up to the one with a seq.
func readTo(t *testing.T, lines *bufio.Reader, last uint64) {
	t.Helper()
	for {
		line, err := lines.ReadBytes('\n')
		var e struct{ Seq uint64 }
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			t.Fatalf("tail -f, before event %d: %v", last, err)
		}
		if e.Seq >= last {
			return
		}
	}
}

// peakOf returns the peak memory of a running process in bytes.
func peakOf(t *testing.T, pid int) (bytes int64) {
	t.Helper()
	status := readFile(t, fmt.Sprintf("/proc/%d/status", pid))
	_, peak, _ := strings.Cut(status, "VmHWM:")
	if _, err := fmt.Sscanf(peak, "%d kB", &bytes); err != nil {
		t.Fatalf("%v in:\n%s", err, status)
	}
	return bytes << 10
}
