package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// contestant is a command line that is measured.
type contestant struct {
	name    string
	args    []string
	home    string           // AGENT_CHATTER_HOME
	prepare func(*testing.T) // before each run, not measured; may be nil
	says    string           // what it prints, lest it did nothing
	silent  bool             // what it prints is thrown away
}

// cost is what testdata/figures/measure tells of a process.
type cost struct {
	Wall, CPU     time.Duration
	Peak, Written int64 // bytes
}

// costs are those of many runs of one contestant.
type costs struct {
	contestant
	runs []cost
}

// race runs contestants in turn, so that what else the machine does is the same
// for all, after a run of each that does not count. One that has used up the
// patience is left out of the rounds to come.
func (f *figures) race(t *testing.T, contestants ...contestant) []costs {
	t.Helper()
	results := make([]costs, len(contestants))
	used := make([]time.Duration, len(contestants))
	for round := range f.rounds + 1 {
		for i, c := range contestants {
			if round > 3 && used[i] > f.patience {
				continue
			}
			cost := f.run(t, c)
			used[i] += cost.Wall
			if round > 0 {
				results[i].runs = append(results[i].runs, cost)
			}
			results[i].contestant = c
		}
	}
	return results
}

// run measures a contestant once.
func (f *figures) run(t *testing.T, c contestant) (measured cost) {
	t.Helper()
	if c.prepare != nil {
		c.prepare(t)
	}
	report, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	cmd := exec.Command(f.measurer, c.args...)
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+c.home)
	cmd.ExtraFiles = []*os.File{write}
	var stdout, stderr bytes.Buffer
	if cmd.Stderr = &stderr; !c.silent {
		cmd.Stdout = &stdout
	}
	err = cmd.Run()
	write.Close()
	if err != nil {
		t.Fatalf("%s: %v\n%.1000s", c.name, err, &stderr)
	}
	if !bytes.Contains(append(stdout.Bytes(), stderr.Bytes()...), []byte(c.says)) {
		t.Fatalf("%s does not say %q:\n%.1000s%.1000s", c.name, c.says, &stdout, &stderr)
	}
	if err := json.NewDecoder(report).Decode(&measured); err != nil {
		t.Fatal(err)
	}
	measured.Written -= int64(stdout.Len() + stderr.Len())
	return measured
}

// command is the program, to be run without being measured.
func (f *figures) command(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(f.program, args...)
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+home)
	return cmd
}

// do runs the program to its end, and returns what it prints.
func (f *figures) do(t *testing.T, home string, stdin io.Reader, args ...string) (stdout []byte) {
	t.Helper()
	cmd := f.command(home, args...)
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

// least is what it took when the machine did the least beside it.
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

// printCosts prints a row for each contestant, and how many times the wall and
// processor time of the first it took.
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
