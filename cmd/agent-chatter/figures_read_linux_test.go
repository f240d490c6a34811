package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// read measures how fast a session is read: by whole processes, and by one core
// in the benchmarks of the packages that read it.
func (f *figures) read(t *testing.T) {
	home := f.home(t)
	path := writtenSession(t, home, f.archived/10_000, 1)
	size := fileSize(t, path)
	f.do(t, home, nil, "sessions")
	results := f.race(t,
		contestant{name: "verify", home: home, args: []string{f.program, "verify", idOf(path)}, says: "ok"},
		contestant{name: "verify --chain", home: home, args: []string{f.program, "verify", "--chain", idOf(path)}, says: "ok"},
		contestant{name: "replay", home: home, args: []string{f.program, "replay", idOf(path)}, silent: true},
		contestant{name: "every line decoded by encoding/json", args: []string{f.beside, "search", rareWord, path}},
	)
	fmt.Printf("\nOf a session of %s MB:\n", mb(size))
	printCosts(results)
	f.readSpeeds(t)
}

// readSpeeds runs the benchmarks on one core.
func (f *figures) readSpeeds(t *testing.T) {
	var rows [][]string
	speeds := map[string]float64{}
	for _, b := range []struct{ room, benchmark string }{{"journal", "BenchmarkScan"}, {"projection", "BenchmarkReading"}} {
		for _, s := range f.benchmarkSpeeds(t, b.room, b.benchmark) {
			speeds[s.name] = s.gigabytes
			rows = append(rows, []string{s.name, fmt.Sprintf("%.2f", s.gigabytes)})
		}
	}
	if len(rows) == 0 {
		fmt.Printf("\nThere are no benchmarks BenchmarkScan and BenchmarkReading to ask how fast a core is.\n")
		return
	}
	printTable([]string{"on one core", "GB/s"}, rows)
	f.isAtLeast("checking the chain, on a core", speeds["BenchmarkScan/CheckChain"], 4, "GB/s")
	f.isAtLeast("reading messages, on a core", speeds["BenchmarkReading/Replay"], 0.8, "GB/s")
	f.isAtLeast("decoding, times encoding/json", speeds["BenchmarkReading/payloads"]/speeds["BenchmarkReading/payloads_by_package_json"], 4, "×")
}

type speed struct {
	name      string
	gigabytes float64 // a second
}

var speedLine = regexp.MustCompile(`(?m)^(\S+)\s.*\s([0-9.]+) MB/s`)

// benchmarkRuns is of how many runs of a benchmark the median is taken.
const benchmarkRuns = 5

// benchmarkSpeeds runs a benchmark of a package, and returns the speeds that it
// reports.
func (f *figures) benchmarkSpeeds(t *testing.T, room, benchmark string) (speeds []speed) {
	t.Helper()
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^"+benchmark+"$", "-benchtime", f.bench, "-count", fmt.Sprint(benchmarkRuns), "-cpu", "1", ".")
	cmd.Dir = filepath.Join("..", "..", room)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOGC=%d", gcPercent)) // as in the program
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", benchmark, err, out)
	}
	runs := map[string][]float64{}
	for _, match := range speedLine.FindAllStringSubmatch(string(out), -1) {
		megabytes, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		name := match[1]
		if runs[name] = append(runs[name], megabytes/1e3); len(runs[name]) == benchmarkRuns {
			slices.Sort(runs[name])
			speeds = append(speeds, speed{name, runs[name][benchmarkRuns/2]})
		}
	}
	return speeds
}
