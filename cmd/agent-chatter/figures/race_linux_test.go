package figures

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// contestant is a command line that is measured.
type contestant struct {
	name     string
	args     []string
	home     string // AGENT_CHATTER_HOME
	stdin    string
	prepare  func(t *testing.T, v version) // before each run, not measured; may be nil
	prints   string                        // a text of its output, to see that it did something
	terminal bool                          // it runs on a terminal, and is measured until prints is there
	silent   bool                          // the output is discarded
	most     float64                       // bound of its time relative to the older version's; 0: none
}

// version is one of the programs that are measured, with a home of its own, since
// a version rebuilds the caches of another.
type version struct{ program, home string }

// cost is what command measure reports of a process.
type cost struct {
	Wall, CPU     time.Duration
	Peak, Written int64 // bytes
}

// costs are those of many runs of one contestant.
type costs struct {
	contestant
	runs []cost
	old  []cost // of the older version, in the same rounds
}

// race runs the contestants in turn, so that other load on the machine affects
// them equally, after a run of each that does not count. With -old, each run of
// the program alternates with a run of the older version on a copy of its home.
func (f *figures) race(t *testing.T, contestants ...contestant) []costs {
	t.Helper()
	results := make([]costs, len(contestants))
	used := make([]time.Duration, len(contestants))
	for i, c := range contestants {
		results[i].contestant = c
	}
	for round := range f.rounds + 1 {
		for i, c := range contestants {
			if round > 3 && used[i] > f.budget {
				continue
			}
			paired := f.old != "" && slices.Contains(c.args, f.program)
			var before cost
			if paired && round%2 == 0 {
				before = f.run(t, c, f.olderVersion(t, c.home))
			}
			now := f.run(t, c, version{f.program, c.home})
			if paired && round%2 == 1 {
				before = f.run(t, c, f.olderVersion(t, c.home))
			}
			used[i] += now.Wall
			if round == 0 {
				continue
			}
			results[i].runs = append(results[i].runs, now)
			if paired {
				results[i].old = append(results[i].old, before)
			}
		}
	}
	f.compareWithOld(results)
	return results
}

// run measures a contestant once, with a version of the program.
func (f *figures) run(t *testing.T, c contestant, v version) (measured cost) {
	t.Helper()
	if c.prepare != nil {
		c.prepare(t, v)
	}
	report, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	args := slices.Clone(c.args)
	if c.terminal {
		args = slices.Concat([]string{"-until", c.prints}, args)
	}
	for i := range args {
		if args[i] == f.program {
			args[i] = v.program
		}
	}
	cmd := exec.Command(f.measurer, args...)
	cmd.Env = v.environment()
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stdin = strings.NewReader(c.stdin)
	var stdout, stderr bytes.Buffer
	if cmd.Stderr = &stderr; !c.silent {
		cmd.Stdout = &stdout
	}
	err = cmd.Run()
	write.Close()
	if err != nil {
		t.Fatalf("%s: %v\n%.1000s", c.name, err, &stderr)
	}
	if !bytes.Contains(append(stdout.Bytes(), stderr.Bytes()...), []byte(c.prints)) {
		t.Fatalf("%s does not print %q:\n%.1000s%.1000s", c.name, c.prints, &stdout, &stderr)
	}
	if err := json.NewDecoder(report).Decode(&measured); err != nil {
		t.Fatal(err)
	}
	measured.Written -= int64(stdout.Len() + stderr.Len())
	return measured
}

// command is the program, run without being measured.
func (v version) command(args ...string) *exec.Cmd {
	cmd := exec.Command(v.program, args...)
	cmd.Env = v.environment()
	return cmd
}

func (v version) environment() []string {
	return append(os.Environ(), "AGENT_CHATTER_HOME="+v.home, "TERM=xterm-256color")
}

// do runs the program to its end and returns its standard output.
func (v version) do(t *testing.T, stdin io.Reader, args ...string) (stdout []byte) {
	t.Helper()
	cmd := v.command(args...)
	cmd.Stdin = stdin
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("agent-chatter %q: %v", args, err)
	}
	return stdout
}

func (c costs) wall() time.Duration {
	return median(c.runs, func(r cost) time.Duration { return r.Wall })
}

// least is the shortest wall time.
func (c costs) least() time.Duration {
	return slices.MinFunc(c.runs, func(a, b cost) int { return cmp.Compare(a.Wall, b.Wall) }).Wall
}

func (c costs) cpu() time.Duration {
	return median(c.runs, func(r cost) time.Duration { return r.CPU })
}

func (c costs) peak() int64 {
	return median(c.runs, func(r cost) int64 { return r.Peak })
}

func median[N time.Duration | int64](runs []cost, of func(cost) N) N {
	var values []N
	for _, r := range runs {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// printCosts prints a row for each contestant, with its wall and CPU time
// relative to the first one's.
func printCosts(all []costs) {
	var rows [][]string
	for _, c := range all {
		first := all[0]
		rows = append(rows, []string{
			c.name, ms(c.wall()), ms(c.least()), ms(c.cpu()), mb(c.peak()),
			ratio(c.wall(), first.wall()), ratio(c.cpu(), first.cpu()), fmt.Sprint(len(c.runs)),
		})
	}
	printTable([]string{"", "wall ms", "least", "CPU ms", "memory MB", "wall ×", "CPU ×", "runs"}, rows)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", milliseconds(d)) }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

func mb(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", a.Seconds()/b.Seconds()) }
