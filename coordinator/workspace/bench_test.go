package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

const racy = 20 * time.Millisecond

// newLargeProject returns a repository with committed files of about size bytes of text, without the limits of a
// capture.
func newLargeProject(t testing.TB, files, size int) *project {
	t.Helper()
	p := newProject(t, true)
	for i := range files {
		p.write(fileName(i), text(uint64(i), size))
	}
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	time.Sleep(2 * racy) // the files are to be older than the capture that reads them
	p.unlimited()
	return p
}

// unlimited removes the limits of the workspace.
func (p *project) unlimited() {
	p.Limits.Files, p.Limits.Bytes, p.Limits.Time, p.Limits.FirstTime, p.Limits.Stores = 0, 0, 0, 0, 0
}

// fileName returns the name of the i-th file, which is in one of many directories.
func fileName(i int) string { return fmt.Sprintf("d%d/e%d/f%d.txt", i%10, i/10%(1+i/100), i) }

// text returns about size bytes of words.
func text(seed uint64, size int) string {
	words := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "word%d ", words.IntN(2000))
		if words.IntN(10) == 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// status returns how long git status takes.
func (p *project) status() time.Duration {
	p.t.Helper()
	return elapsed(func() {
		cmd := exec.Command(programtest.Path(p.t, "git"), "--no-optional-locks", "status")
		cmd.Dir = p.dir
		if err := cmd.Run(); err != nil {
			p.t.Fatal(err)
		}
	})
}

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// median returns the median of ratios.
func median(ratios []float64) float64 {
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// BenchmarkUnchanged compares a capture of an unchanged directory with git status, in pairs: the metric x-status is the
// median of their ratios.
func BenchmarkUnchanged(b *testing.B) {
	for _, files := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			p := newLargeProject(b, files, 20)
			benchUnchanged(b, p)
		})
	}
}

// BenchmarkIgnored is BenchmarkUnchanged for 1,000 files beside 50,000 that are ignored.
func BenchmarkIgnored(b *testing.B) {
	p := newLargeProject(b, 1000, 20)
	p.write(".gitignore", "/node_modules\n")
	for i := range 50_000 {
		p.write("node_modules/"+fileName(i), "ignored")
	}
	p.git("add", ".")
	p.git("commit", "-qm", "ignore")
	time.Sleep(2 * racy)
	benchUnchanged(b, p)
}

// BenchmarkPartial is BenchmarkUnchanged for 20,000 files, of which 10,000 can be captured.
func BenchmarkPartial(b *testing.B) {
	p := newLargeProject(b, 20_000, 20)
	p.Limits.Files = 10_000
	benchUnchanged(b, p)
}

func benchUnchanged(b *testing.B, p *project) {
	p.capture()
	p.capture()
	p.status()
	var ratios []float64
	for b.Loop() {
		status := p.status()
		ratios = append(ratios, float64(elapsed(func() { p.capture() }))/float64(status))
	}
	b.ReportMetric(median(ratios), "x-status")
}

// BenchmarkTenChanged compares a capture of 10,000 files of which 10 changed with git status, and reports by how many
// bytes it makes the store grow.
func BenchmarkTenChanged(b *testing.B) {
	p := newLargeProject(b, 10_000, 20)
	p.capture()
	before, err := p.Store().Bytes()
	if err != nil {
		b.Fatal(err)
	}
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		for i := range 10 {
			p.write(fileName(i*111), fmt.Sprint("changed ", round, i))
		}
		status := p.status()
		ratios = append(ratios, float64(elapsed(func() { p.capture() }))/float64(status))
	}
	after, err := p.Store().Bytes()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(median(ratios), "x-status")
	b.ReportMetric(float64(after-before)/float64(len(ratios))/1024, "KiB")
}

// BenchmarkFirst compares the first capture of 10,000 files of 61 MB with git add into an empty index, in pairs: the
// metric x-add is the median of their ratios. Git has all contents already.
func BenchmarkFirst(b *testing.B) {
	p := newLargeProject(b, 10_000, 6100)
	var ratios []float64
	for b.Loop() {
		index := filepath.Join(b.TempDir(), "index")
		add := elapsed(func() {
			cmd := exec.Command(programtest.Path(b, "git"), "add", ".")
			cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "GIT_INDEX_FILE="+index)
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		})
		p.home = b.TempDir()
		p.open()
		p.unlimited()
		ratios = append(ratios, float64(elapsed(func() { p.capture() }))/float64(add))
	}
	b.ReportMetric(median(ratios), "x-add")
}

// BenchmarkLayOut compares the layout of 10,000 files of 61 MB with git worktree add, in pairs: the metric x-add is the
// median of their ratios.
func BenchmarkLayOut(b *testing.B) {
	p := newLargeProject(b, 10_000, 6100)
	tree := p.capture().Tree
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		dir := filepath.Join(b.TempDir(), "added")
		add := elapsed(func() { p.output("worktree", "add", "--detach", "-q", dir) })
		w := p.worktree(fmt.Sprint("ada", round))
		layOut := elapsed(func() {
			if _, err := w.LayOut(b.Context(), workspace.LayOut{Tree: tree}); err != nil {
				b.Fatal(err)
			}
		})
		ratios = append(ratios, float64(layOut)/float64(add))
	}
	b.ReportMetric(median(ratios), "x-add")
}

// The store grows by at most twice the compressed bytes of what turns write: 1,000 turns with -full, else 50.
func TestStoreOfManyTurns(t *testing.T) {
	turns := 50
	if sizetest.Full() {
		turns = 1000
	}
	const files = 1000
	p := newProject(t, true)
	p.unlimited()
	for i := range files {
		p.write(fileName(i), text(uint64(i), 6000))
	}
	p.capture()
	first, err := p.Store().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for turn := range turns {
		for i := range 10 {
			content := text(uint64(files+turn*10+i), 6000)
			p.write(fileName((turn*37+i*101)%files), content)
			written += len(encoder.EncodeAll([]byte(content), nil))
		}
		p.capture()
	}
	all, err := p.Store().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	ratio := float64(all-first) / float64(written)
	t.Logf("%d turns wrote %d compressed bytes, of which the store has %.2f times as many", turns, written, ratio)
	if ratio > 2 {
		t.Errorf("the store grew by %.2f times the compressed bytes", ratio)
	}
}
