package figures

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
// in the benchmarks of journal and projection.
func (f *figures) read(t *testing.T) {
	v := version{f.program, f.home(t)}
	path := writeSession(t, v.home, f.archived/10_000, 1)
	f.shareHome(t, v.home)
	for _, v := range f.versions(t, v.home) {
		v.do(t, nil, "sessions")
	}
	id := idOf(path)
	results := f.race(t,
		contestant{name: "verify", home: v.home, args: []string{f.program, "verify", id}, prints: "ok", most: 1.15},
		contestant{
			name: "verify --chain", home: v.home, prints: "ok", most: 1.15,
			args: []string{f.program, "verify", "--chain", id},
		},
		contestant{name: "replay", home: v.home, args: []string{f.program, "replay", id}, silent: true, most: 1.6},
		contestant{name: "every line decoded by encoding/json", args: []string{f.peer, "search", rareWord, path}},
	)
	fmt.Printf("\nOf a session of %s MB:\n", mb(fileSize(t, path)))
	printCosts(results)
	f.readSpeeds(t)
}

// readSpeeds runs the benchmarks on one core.
func (f *figures) readSpeeds(t *testing.T) {
	var rows [][]string
	speeds := map[string]float64{}
	for _, b := range []struct{ pkg, benchmark string }{
		{"journal", "BenchmarkScan"},
		{"projection", "BenchmarkReading"},
	} {
		for _, s := range f.benchmarkSpeeds(t, b.pkg, b.benchmark) {
			speeds[s.name] = s.gigabytes
			rows = append(rows, []string{s.name, fmt.Sprintf("%.2f", s.gigabytes)})
		}
	}
	printTable([]string{"on one core", "GB/s"}, rows)
	speed := func(name string) float64 {
		if speeds[name] == 0 {
			t.Errorf("there is no benchmark %s", name)
		}
		return speeds[name]
	}
	f.atLeast("checking the chain, on one core", speed("BenchmarkScan/CheckChain"), 4, "GB/s")
	f.atLeast("reading messages, on one core", speed("BenchmarkReading/Replay"), 0.8, "GB/s")
	decoding := speed("BenchmarkReading/payloads") / speed("BenchmarkReading/payloads,_encoding/json")
	f.atLeast("decoding, relative to encoding/json", decoding, 4, "×")
}

type speed struct {
	name      string
	gigabytes float64 // per second
}

var speedLine = regexp.MustCompile(`(?m)^(\S+)\s.*\s([0-9.]+) MB/s`)

const (
	benchmarkRuns = 5     // of which the median is taken
	gcPercent     = "200" // as the program sets it
)

// benchmarkSpeeds runs a benchmark of a package and returns the speeds that it
// reports.
func (f *figures) benchmarkSpeeds(t *testing.T, pkg, benchmark string) (speeds []speed) {
	t.Helper()
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^"+benchmark+"$", "-benchtime", f.bench,
		"-count", fmt.Sprint(benchmarkRuns), "-cpu", "1", ".")
	cmd.Dir = filepath.Join("..", "..", "..", pkg)
	cmd.Env = append(os.Environ(), "GOGC="+gcPercent)
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
