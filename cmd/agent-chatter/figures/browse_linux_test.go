package figures

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

const (
	selection     = "▸" // before the selected session
	lastWords     = "These are the last words."
	firstWords    = "smallest" // of the planner of the demo team
	pageUp        = "\x1b[5~"
	scrolledPages = 20
)

// browseList measures a list of many sessions: the time to its first paint, the delay
// between a key and the selected row, and memory.
func (f *figures) browseList(t *testing.T) {
	sessions := f.listed[len(f.listed)-1]
	v := version{f.program, f.home(t)}
	if _, err := (catalogtest.Sessions{Count: sessions}).Fill(filepath.Join(v.home, "sessions")); err != nil {
		t.Fatal(err)
	}
	v.do(t, nil, "sessions", "--limit", "1") // writes the index
	const newest = "conversation 1:"
	results := f.race(t,
		contestant{
			name: fmt.Sprintf("browse, %d sessions, to the first paint of the list", sessions), home: v.home,
			prints: newest, terminal: true, args: []string{f.program, "browse"},
		},
		contestant{
			name: "sessions --limit 50, on a terminal", home: v.home,
			prints: newest, terminal: true, args: []string{f.program, "sessions", "--limit", "50"},
		},
	)
	printCosts(results)
	relative := results[0].wall().Seconds() / results[1].wall().Seconds()
	f.atMost(results[0].name+", relative to sessions --limit 50", relative, 1.2, "×")
	f.browseKeys(t, v, sessions)
}

// browseKeys measures the delay between a key and the row that it selects, next to a
// program that only echoes.
func (f *figures) browseKeys(t *testing.T, v version, sessions int) {
	cmd := v.command("browse")
	browser := startScreen(t, fmt.Sprintf("browse, a key selects one of %d sessions", sessions), cmd)
	echo := startScreen(t, "a program that only echoes", exec.Command(f.peer, "echo"))
	browser.expect(t, selection)
	echo.expect(t, prompted)
	for n := range f.keys {
		key, shown := "j", "j"
		if n%2 == 1 {
			key, shown = "k", "jk"
		}
		browser.delays = append(browser.delays, browser.press(t, key, selection))
		if n%2 == 0 {
			key = clearKeys + key
		}
		echo.delays = append(echo.delays, echo.press(t, key, shown+cursor))
		time.Sleep(keyPace)
	}
	var rows [][]string
	for _, s := range []*screen{browser, echo} {
		slices.Sort(s.delays)
		rows = append(rows, []string{
			s.name, fmt.Sprintf("%.2f", milliseconds(s.delay(50))), fmt.Sprintf("%.2f", milliseconds(s.delay(99))),
			fmt.Sprint(f.keys),
		})
	}
	printTable([]string{"a key", "median ms", "99th percentile ms", "keys"}, rows)
	for _, percent := range []int{50, 99} {
		f.atMost(fmt.Sprintf("%s, percentile %d", browser.name, percent), milliseconds(browser.delay(percent)), 16, "ms")
	}
	f.atMost(fmt.Sprintf("browse, %d sessions: memory", sessions), megabytes(peakMemory(t, cmd)), 100, "MB")
}

// browseSearch measures the time until the browser shows the only message with a text,
// which is in the oldest of several sessions.
func (f *figures) browseSearch(t *testing.T) {
	home := f.home(t)
	const journals = 10
	var bytes int64
	for n := range journals {
		path := writeSession(t, home, f.searched/journals, n)
		if n == 0 {
			say(t, path, "Is there a "+rareWord+" in the kitchen?")
		}
		bytes += fileSize(t, path)
	}
	version{f.program, home}.do(t, nil, "sessions") // updates the index, as a chat does
	fmt.Printf("\nOne message in %s MB of journals, %d of them.\n", mb(bytes), journals)
	const found = " in the kitchen?" // the search text is on the screen before
	results := f.race(t,
		contestant{
			name: "browse TEXT, to the first hit", home: home, prints: found, terminal: true,
			args: []string{f.program, "browse", rareWord},
		},
		contestant{
			name: "sessions search TEXT --limit 1, on a terminal", home: home, prints: found, terminal: true,
			args: []string{f.program, "sessions", "search", rareWord, "--limit", "1"},
		},
	)
	printCosts(results)
	relative := results[0].wall().Seconds() / results[1].wall().Seconds()
	f.atMost(results[0].name+", relative to sessions search", relative, 1.5, "×")
}

// browsePreview measures the time until the browser shows the end of the only session,
// and what it reads and keeps of a long one when it is scrolled.
func (f *figures) browsePreview(t *testing.T) {
	var contestants []contestant
	for _, messages := range []int{f.resumed[0], f.resumed[len(f.resumed)-1]} {
		contestants = append(contestants, contestant{
			name: fmt.Sprintf("browse, the end of %d messages", messages), home: f.browsed(t, messages).home,
			prints: lastWords, terminal: true, args: []string{f.program, "browse"},
		})
	}
	results := f.race(t, contestants...)
	printCosts(results)
	short, long := results[0], results[1]
	f.atMost(long.name+", more than the shortest by", milliseconds(long.wall()-short.wall()), 50, "ms")
	f.atMost(long.name+", relative to the shortest", long.wall().Seconds()/short.wall().Seconds(), 1.5, "×")
	f.browseScroll(t, long.contestant)
}

// browsed returns the home of a session with so many messages and its last words.
func (f *figures) browsed(t *testing.T, messages int) version {
	t.Helper()
	s := f.converse(t, messages)
	say(t, filepath.Join(s.home, "sessions", "demo", s.id+".jsonl"), lastWords)
	v := version{f.program, s.home}
	v.do(t, nil, "sessions") // updates the index
	return v
}

// browseTimeline measures the memory of the timeline of a session until its end is shown,
// by the number of turns.
func (f *figures) browseTimeline(t *testing.T) {
	var peaks []int64
	var rows [][]string
	for _, turns := range f.turns {
		cmd := f.browsed(t, 2*turns).command("browse")
		s := startScreen(t, fmt.Sprintf("the timeline of %d turns", turns), cmd)
		s.expect(t, lastWords)
		took := s.press(t, "t", lastWords)
		peaks = append(peaks, peakMemory(t, cmd))
		rows = append(rows, []string{s.name, ms(took), mb(peaks[len(peaks)-1])})
	}
	printTable([]string{"", "ms to its end", "memory MB"}, rows)
	longest, most := f.turns[len(f.turns)-1], peaks[len(peaks)-1]
	what := fmt.Sprintf("browse, the timeline of %d turns: memory", longest)
	f.atMost(what, megabytes(most), 100, "MB")
	f.atMost(what+", relative to the shortest", float64(most)/float64(peaks[0]), 2.5, "×")
}

// browseScroll counts what the browser reads while a session is scrolled upwards from its
// end, then shown at its start and at its end again, and the memory that all of it takes.
func (f *figures) browseScroll(t *testing.T, c contestant) {
	cmd := version{f.program, c.home}.command("browse")
	s := startScreen(t, c.name, cmd)
	s.expect(t, lastWords)
	s.press(t, "\t", "next match") // a key of the preview
	before := readBytes(t, cmd)
	for range scrolledPages {
		if _, err := s.file.WriteString(pageUp); err != nil {
			t.Fatal(err)
		}
		time.Sleep(keyPace)
	}
	s.press(t, "g", firstWords)
	s.press(t, "G", lastWords)
	f.atMost(c.name+", scrolled: read", megabytes(readBytes(t, cmd)-before), 32, "MB")
	f.atMost(c.name+", scrolled: memory", megabytes(peakMemory(t, cmd)), 100, "MB")
}

// readBytes returns how many bytes a running program has read with read(2) and similar calls.
func readBytes(t *testing.T, cmd *exec.Cmd) int64 { return procNumber(t, cmd, "io", "rchar:") }

// peakMemory returns the largest resident memory of a running program, in bytes.
func peakMemory(t *testing.T, cmd *exec.Cmd) int64 {
	return procNumber(t, cmd, "status", "VmHWM:") << 10
}

// procNumber returns the number after a name in a file that the system has of a running program.
func procNumber(t *testing.T, cmd *exec.Cmd, file, name string) int64 {
	t.Helper()
	for line := range strings.Lines(readFile(t, fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file))) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s has no %s", file, name)
	return 0
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }
