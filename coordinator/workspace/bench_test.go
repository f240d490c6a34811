package workspace_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// BenchmarkUnchanged compares a capture of an unchanged directory with git status, in pairs: the metric x-status is the
// median of their ratios.
func BenchmarkUnchanged(b *testing.B) {
	for _, files := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			p := newProject(b, true)
			for i := range files {
				p.write(fmt.Sprintf("d%d/e%d/f%d.txt", i%10, i/10%10, i), fmt.Sprint("content ", i))
			}
			p.git("add", ".")
			p.git("commit", "-qm", "first")
			time.Sleep(2 * racy) // the files are to be older than the capture that reads them
			p.Limits.FirstTime = 0
			p.capture()
			p.capture()
			var ratios []float64
			for b.Loop() {
				status := elapsed(func() {
					cmd := exec.Command(programtest.Path(b, "git"), "--no-optional-locks", "status")
					cmd.Dir = p.dir
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
				})
				ratios = append(ratios, float64(elapsed(func() { p.capture() }))/float64(status))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "x-status")
		})
	}
}

const racy = 20 * time.Millisecond

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// BenchmarkTenChanged compares a capture of 10,000 files of which 10 changed with git status, and reports by how many
// bytes it makes the store grow.
func BenchmarkTenChanged(b *testing.B) {
	p := newProject(b, true)
	for i := range 10_000 {
		p.write(fmt.Sprintf("d%d/e%d/f%d.txt", i%10, i/10%10, i), fmt.Sprint("content ", i))
	}
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	p.Limits.FirstTime = 0
	p.capture()
	before, err := p.Store().Bytes()
	if err != nil {
		b.Fatal(err)
	}
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		for i := range 10 {
			p.write(fmt.Sprintf("d%d/e%d/f%d.txt", i, i, i*11), fmt.Sprint("changed ", round, i))
		}
		status := elapsed(func() {
			cmd := exec.Command(programtest.Path(b, "git"), "--no-optional-locks", "status")
			cmd.Dir = p.dir
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		})
		ratios = append(ratios, float64(elapsed(func() {
			if _, err := p.Capture(context.Background(), fmt.Sprintf("%026d", 100+round), nil); err != nil {
				b.Fatal(err)
			}
		}))/float64(status))
	}
	after, err := p.Store().Bytes()
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-status")
	b.ReportMetric(float64(after-before)/float64(len(ratios))/1024, "KiB")
}
