package figures

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	full    = flag.Bool("full", false, "measure at full size and draw testdata/resume.svg (default: small sizes)")
	dataDir = flag.String("data", "", "directory for 8 GB of sessions, 16 GB with -old (default: a temporary one)")
	oldPath = flag.String("old", "", "program of an older version to compare with")
)

// sizes says how much is measured.
type sizes struct {
	resumed  []int         // messages of the sessions that are resumed
	snapshot int           // messages of the longest session that is also kept as one JSON file
	written  []int         // messages before the turn whose bytes are counted
	chats    int           // chats of three messages
	listed   []int         // sessions in a list
	searched int           // messages, of about 10 KB each with their turns
	archived int           // bytes of each archived journal
	backlogs []int64       // bytes of sessions that are shipped or fetched at once
	followed int           // events
	keys     int           // that are pressed, per chat
	turns    []int         // in a timeline
	bench    string        // -benchtime of the benchmarks
	rounds   int           // of each race
	budget   time.Duration // a contestant that has used it runs in no further round
}

var (
	fullSizes = sizes{
		resumed: []int{100, 1_000, 10_000, 100_000, 1_000_000}, snapshot: 100_000, written: []int{10, 1_000, 100_000},
		chats: 100, listed: []int{10_000, 100_000}, searched: 100_000, archived: 100_000_000,
		backlogs: []int64{100_000_000, 400_000_000}, followed: 2_000, keys: 1_000, turns: []int{1_000, 100_000},
		bench: "0.5s", rounds: 31, budget: 5 * time.Second,
	}
	smallSizes = sizes{
		resumed: []int{100, 1_000}, snapshot: 1_000, written: []int{10, 1_000},
		chats: 5, listed: []int{200}, searched: 500, archived: 3_000_000,
		backlogs: []int64{1_000_000, 4_000_000}, followed: 100, keys: 30, turns: []int{10, 100},
		bench: "1x", rounds: 3, budget: time.Second,
	}
)

// figures measures the real program.
type figures struct {
	sizes
	dir      string
	program  string            // what is measured
	old      string            // its older version; "": none
	copies   map[string]string // of homes, for the older version
	measurer string            // runs a program and measures it: command measure
	peer     string            // what it is compared with: command peer
	line     string            // command line
	bounds   []bound
}

// bound is a limit of one figure.
type bound struct {
	what, limit, measured string
	met                   bool
	time                  bool // a time or a speed, which depends on the machine: only reported
}

// TestFigures prints every figure in tables in Markdown. At full size, a ratio, a
// number of bytes or a size in memory beyond its bound is a failure; a time or a
// speed never is. To measure one group of figures: -run Figures/resume.
func TestFigures(t *testing.T) {
	f := newFigures(t)
	for _, group := range []struct {
		name    string
		measure func(*testing.T)
	}{
		{"follow", f.follow},
		{"start", f.start}, // not first: the system is still writing what was built
		{"disk", f.disk},
		{"resume", f.resume},
		{"paint", f.paint},
		{"echo", f.echo},
		{"list", f.list},
		{"search", f.search},
		{"browse", f.browseList},
		{"browse-search", f.browseSearch},
		{"browse-preview", f.browsePreview},
		{"browse-timeline", f.browseTimeline},
		{"archive", f.archive},
		{"read", f.read},
		{"hub", f.shared},
		{"hub-memory", f.hubMemory},
		{"hub-none", f.withoutHub},
	} {
		t.Run(group.name, func(t *testing.T) {
			fmt.Printf("\n## %s (load average %s)\n", group.name, loadAverage(t))
			group.measure(t)
		})
	}
	f.checkBounds(t)
}

func newFigures(t *testing.T) *figures {
	dir, err := os.MkdirTemp(*dataDir, "figures")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &figures{
		sizes: smallSizes, dir: dir, old: *oldPath, copies: map[string]string{},
		program: filepath.Join(dir, "agent-chatter"), measurer: filepath.Join(dir, "measure"),
		peer: filepath.Join(dir, "peer"), line: filepath.Join(dir, "line"),
	}
	if *full {
		f.sizes = fullSizes
	}
	if f.old != "" {
		if f.old, err = filepath.Abs(f.old); err != nil {
			t.Fatal(err)
		}
	}
	build(t, "..", f.program, ".")
	build(t, ".", f.measurer, "./measure")
	build(t, ".", f.peer, "./peer")
	build(t, ".", f.line, "./line")
	fmt.Printf("# Figures\n\n%s, %s/%s, %d cores (%s). ",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(t))
	fmt.Println("Times are medians of whole processes; files are in the page cache.")
	return f
}

func build(t *testing.T, dir, output, pkg string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", output, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s in %s: %v\n%s", pkg, dir, err, out)
	}
}

// home creates an empty directory for the sessions of one figure.
func (f *figures) home(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp(f.dir, strings.ReplaceAll(t.Name(), "/", "-"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return home
}

// atMost records a figure and its upper bound. The unit × is of ratios.
func (f *figures) atMost(what string, got, most float64, unit string) {
	f.bounds = append(f.bounds, bound{
		what: what, limit: fmt.Sprintf("at most %.4g %s", most, unit), measured: fmt.Sprintf("%.4g %s", got, unit),
		met: got <= most, time: unit == "ms" || unit == "GB/s",
	})
}

// atLeast records a figure and its lower bound. The unit × is of ratios.
func (f *figures) atLeast(what string, got, least float64, unit string) {
	f.bounds = append(f.bounds, bound{
		what: what, limit: fmt.Sprintf("at least %.4g %s", least, unit), measured: fmt.Sprintf("%.4g %s", got, unit),
		met: got >= least, time: unit == "ms" || unit == "GB/s",
	})
}

// takesAtMost records the wall time of a command and its upper bound.
func (f *figures) takesAtMost(c costs, most time.Duration) {
	f.bounds = append(f.bounds, bound{
		what: c.name, limit: fmt.Sprintf("at most %s ms", ms(most)), met: c.wall() <= most, time: true,
		measured: fmt.Sprintf("%s ms (least %s, CPU %s)", ms(c.wall()), ms(c.least()), ms(c.cpu())),
	})
}

// checkBounds prints all bounds, and fails for each ratio beyond its bound. The
// bounds are for the full sizes: at small ones nothing fails.
func (f *figures) checkBounds(t *testing.T) {
	verdict := map[bool]string{true: "yes", false: "**no**"}
	var rows [][]string
	for _, b := range f.bounds {
		rows = append(rows, []string{b.what, b.limit, b.measured, verdict[b.met]})
		if *full && !b.met && !b.time {
			t.Errorf("%s: %s, want %s", b.what, b.measured, b.limit)
		}
	}
	if !*full {
		fmt.Printf("\nThe bounds are for the full sizes (-full).\n")
	}
	printTable([]string{"figure", "bound", "measured", "met"}, rows)
}

func loadAverage(t *testing.T) string {
	return strings.Join(strings.Fields(readFile(t, "/proc/loadavg"))[:3], " ")
}

// processor returns the model name of the processor.
func processor(t *testing.T) string {
	for line := range strings.Lines(readFile(t, "/proc/cpuinfo")) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func printTable(head []string, rows [][]string) {
	fmt.Printf("\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		fmt.Printf("| %s |\n", strings.Join(row, " | "))
	}
}
