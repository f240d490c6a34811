package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	figuresFlag figuresMode
	figuresDir  = flag.String("figuresdir", "", "where TestFigures keeps its sessions meanwhile, up to 8 GB; \"\": the directory for temporary files")
)

func init() {
	flag.Var(&figuresFlag, "figures", "measure what the README says of cost, and draw its plot; =small: small sessions, and no plot")
}

// figuresMode is "", "full" or "small".
type figuresMode string

func (m *figuresMode) String() string   { return string(*m) }
func (m *figuresMode) IsBoolFlag() bool { return true }

func (m *figuresMode) Set(value string) error {
	switch value {
	case "true", "full":
		*m = "full"
	case "small":
		*m = "small"
	default:
		return fmt.Errorf("-figures or -figures=small, not -figures=%s", value)
	}
	return nil
}

// figureSizes is how much is measured.
type figureSizes struct {
	resumed  []int  // messages of the sessions that are gone on with
	snapshot int    // messages of the longest that is kept as one JSON file, too
	written  []int  // of resumed: where the bytes of a turn are counted
	chats    int    // of three messages
	listed   []int  // sessions in a list
	searched int    // messages, of about 10 KB each, turn and all
	archived int    // bytes of the journals that are archived
	followed int    // events
	bench    string // -benchtime of the benchmarks
	rounds   int    // of each race
	patience time.Duration
}

var figureSizesOf = map[figuresMode]figureSizes{
	"full": {
		resumed: []int{100, 1_000, 10_000, 100_000, 1_000_000}, snapshot: 100_000, written: []int{10, 1_000, 100_000},
		chats: 100, listed: []int{10_000, 100_000}, searched: 100_000, archived: 100_000_000, followed: 2_000, bench: "0.5s",
		rounds: 31, patience: 5 * time.Second,
	},
	"small": {
		resumed: []int{100, 1_000}, snapshot: 1_000, written: []int{10, 1_000},
		chats: 5, listed: []int{200}, searched: 500, archived: 3_000_000, followed: 100, bench: "1x",
		rounds: 3, patience: time.Second,
	},
}

// figures measures the real program, each run as a process of its own.
type figures struct {
	figureSizes
	dir              string
	program          string // what is measured
	measurer, beside string // testdata/figures: what measures it, and what it is compared with
	goals            []goal
}

// goal is what a figure should be.
type goal struct {
	what, wanted, got string
	met               bool
}

// TestFigures prints every figure that the README gives about cost, with what it
// is compared to, as tables in Markdown. It judges nothing: how long something
// takes is a matter of the machine. Single figures: -run Figures/resume.
func TestFigures(t *testing.T) {
	if figuresFlag == "" {
		t.Skip("no -figures given")
	}
	f := newFigures(t)
	for _, part := range []struct {
		name    string
		measure func(*testing.T)
	}{
		{"follow", f.follow},
		{"start", f.start}, // not first: the system still writes what was built
		{"disk", f.disk},
		{"resume", f.resume},
		{"list", f.list},
		{"search", f.search},
		{"archive", f.archive},
		{"read", f.read},
	} {
		t.Run(part.name, func(t *testing.T) {
			fmt.Printf("\n## %s (load average %s)\n", part.name, loadAverage(t))
			part.measure(t)
		})
	}
	f.printGoals()
}

func newFigures(t *testing.T) *figures {
	dir, err := os.MkdirTemp(*figuresDir, "figures")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &figures{
		figureSizes: figureSizesOf[figuresFlag], dir: dir,
		program: filepath.Join(dir, "agent-chatter"), measurer: filepath.Join(dir, "measure"), beside: filepath.Join(dir, "peer"),
	}
	runTool(t, "go", "build", "-o", f.program, ".")
	runTool(t, "go", "build", "-o", f.measurer, "./testdata/figures/measure")
	runTool(t, "go", "build", "-o", f.beside, "./testdata/figures/peer")
	fmt.Printf("# Figures\n\n%s, %s/%s, %d cores (%s). Times are medians of whole processes, files in the system's memory.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(t))
	return f
}

// home makes a directory for the sessions of one figure.
func (f *figures) home(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp(f.dir, strings.ReplaceAll(t.Name(), "/", "-"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return home
}

// is notes what a figure should be at most, and what it is.
func (f *figures) is(what string, got, most float64, unit string) {
	f.goals = append(f.goals, goal{what, fmt.Sprintf("at most %.4g %s", most, unit), fmt.Sprintf("%.4g %s", got, unit), got <= most})
}

// takes is is for the wall time of a command.
func (f *figures) takes(c costs, most time.Duration) {
	got := fmt.Sprintf("%s ms (least %s, CPU %s)", ms(c.wall()), ms(c.least()), ms(c.cpu()))
	f.goals = append(f.goals, goal{c.name, fmt.Sprintf("at most %s ms", ms(most)), got, c.wall() <= most})
}

// isAtLeast is is for what should be large.
func (f *figures) isAtLeast(what string, got, least float64, unit string) {
	f.goals = append(f.goals, goal{what, fmt.Sprintf("at least %.4g %s", least, unit), fmt.Sprintf("%.4g %s", got, unit), got >= least})
}

func (f *figures) printGoals() {
	verdict := map[bool]string{true: "yes", false: "**no**"}
	var rows [][]string
	for _, g := range f.goals {
		rows = append(rows, []string{g.what, g.wanted, g.got, verdict[g.met]})
	}
	if figuresFlag == "small" {
		fmt.Printf("\nThe goals are for the full sizes.\n")
	}
	printTable([]string{"goal", "wanted", "measured", "met"}, rows)
}

func loadAverage(t *testing.T) string {
	return strings.Join(strings.Fields(readFile(t, "/proc/loadavg"))[:3], " ")
}

// processor is what the system calls it.
func processor(t *testing.T) string {
	for line := range strings.Lines(readFile(t, "/proc/cpuinfo")) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "of unknown make"
}

func printTable(head []string, rows [][]string) {
	fmt.Printf("\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		fmt.Printf("| %s |\n", strings.Join(row, " | "))
	}
}
