//go:build unix

package archive_test

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/archive"
)

// BenchmarkCompress compresses the journals of BenchmarkArchive on one core, which
// is the main cost of archiving them. If zstd is installed, it also reports zstd -3.
// Throughput is in MB per second of CPU time.
func BenchmarkCompress(b *testing.B) {
	quotingJournals(b, func(b *testing.B, dir *journal.Dir, id string, data []byte) {
		size, began := int64(0), cpuTime(b)
		for b.Loop() {
			var err error
			size, err = archive.CompressAll(data)
			must(b, err)
		}
		took := cpuTime(b) - began
		b.ReportMetric(float64(b.N*len(data))/1e6/took.Seconds(), "MB/cpu-s")
		b.ReportMetric(float64(len(data))/float64(size), "ratio")
		reportZstd(b, filepath.Join(dir.Path(), id+".jsonl"), float64(len(data)))
	})
}

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reportZstd reports the throughput and the compression ratio of zstd -3 for the file
// at path, if zstd is installed.
func reportZstd(b *testing.B, path string, size float64) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		return
	}
	compressed := filepath.Join(b.TempDir(), "compressed.zst")
	cmd := exec.Command(program, "-3", "--single-thread", "-q", "-o", compressed, path)
	must(b, cmd.Run())
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(size/1e6/took.Seconds(), "zstd3-MB/cpu-s")
	b.ReportMetric(size/float64(len(readFile(b, compressed))), "zstd3-ratio")
}
