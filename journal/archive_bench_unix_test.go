//go:build unix

package journal_test

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// BenchmarkCompress measures the main cost of BenchmarkArchive: compressing its
// journals, on one core. For comparison it runs zstd -3, if installed. Both are
// measured per second of processor time.
func BenchmarkCompress(b *testing.B) {
	quotingJournals(b, func(b *testing.B, dir *journal.Dir, id string, data []byte) {
		size, began := int64(0), processorTime(b)
		for b.Loop() {
			var err error
			size, err = dir.Compress(id)
			must(b, err)
		}
		took := processorTime(b) - began
		b.ReportMetric(float64(b.N*len(data))/1e6/took.Seconds(), "MB/cpu-s")
		b.ReportMetric(float64(len(data))/float64(size), "ratio")
		besideProgram(b, filepath.Join(dir.Path(), id+".jsonl"), float64(len(data)))
	})
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// besideProgram reports the throughput of the zstd program.
func besideProgram(b *testing.B, path string, size float64) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		return
	}
	packed := filepath.Join(b.TempDir(), "packed.zst")
	cmd := exec.Command(program, "-3", "--single-thread", "-q", "-o", packed, path)
	must(b, cmd.Run())
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(size/1e6/took.Seconds(), "zstd3-MB/cpu-s")
	b.ReportMetric(size/float64(len(readFile(b, packed))), "zstd3-ratio")
}
