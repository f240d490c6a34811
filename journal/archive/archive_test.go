package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/archive"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return data
}

// lines returns the bytes of a journal, as far as an archive knows them.
func lines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("x", i%300))
	}
	return b.Bytes()
}

// write writes the archive of a journal and returns its name.
func write(t *testing.T, ctx context.Context, data []byte, frameSize int64) (name string, err error) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "journal.zst")
	file, err := vfs.OS.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	defer file.Close()
	done := int64(0)
	err = archive.Write(ctx, file, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), frameSize,
		func(n int64) { done += n })
	if err == nil && done != 2*int64(len(data)) {
		t.Errorf("progress says %d bytes, want each of %d twice", done, len(data))
	}
	return name, err
}

// size returns the size of a journal's archive, and how many bytes were compressed according to the progress.
func size(t *testing.T, data []byte, frameSize int64) (size, done int) {
	t.Helper()
	n, err := archive.Size(t.Context(), io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), frameSize,
		func(n int64) { done += int(n) })
	must(t, err)
	return int(n), done
}

func open(t *testing.T, name string) *archive.Archive {
	t.Helper()
	file, err := vfs.OS.OpenFile(name, os.O_RDONLY, 0)
	must(t, err)
	t.Cleanup(func() { file.Close() })
	a, err := archive.Open(file)
	must(t, err)
	return a
}

func TestArchiveReadsBackFromAnyOffset(t *testing.T) {
	data := lines(500)
	for _, frameSize := range []int64{0, 100, 1000} {
		name, err := write(t, t.Context(), data, frameSize)
		must(t, err)
		a := open(t, name)
		if a.Size() != int64(len(data)) {
			t.Errorf("frames of %d: the size is %d, want %d", frameSize, a.Size(), len(data))
		}
		if size, done := size(t, data, frameSize); size != len(readFile(t, name)) || done != len(data) {
			t.Errorf("frames of %d: Size returned %d after %d bytes, want %d after %d",
				frameSize, size, done, len(readFile(t, name)), len(data))
		}
		for offset := 0; offset <= len(data); offset += 1 + len(data)/50 {
			if offset%2 == 0 {
				must(t, a.Prefetch(int64(offset), min(int64(len(data)), int64(offset)+2000)))
			}
			r, err := a.Reader(int64(offset))
			must(t, err)
			got, err := io.ReadAll(r)
			if r.Close(); err != nil || !bytes.Equal(got, data[offset:]) {
				t.Errorf("frames of %d, from %d: %d bytes, %v", frameSize, offset, len(got), err)
			}
		}
	}
}

func TestFramesStartAfterALine(t *testing.T) {
	data := lines(500)
	name, err := write(t, t.Context(), data, 1000)
	must(t, err)
	a := open(t, name)
	frames := 0
	for from := int64(0); ; frames++ {
		at := a.FrameBetween(from, from+1001)
		if at < 0 {
			break
		}
		if data[at-1] != '\n' {
			t.Errorf("a frame starts at %d, within a line", at)
		}
		from = at
	}
	if frames < len(data)/1000 {
		t.Errorf("found %d frames", frames)
	}
}

func TestEachChangedByteIsDetected(t *testing.T) {
	name, err := write(t, t.Context(), lines(20), 1000)
	must(t, err)
	if ok, err := open(t, name).Intact(t.Context()); !ok || err != nil {
		t.Errorf("as it was written: %v, %v", ok, err)
	}
	packed := readFile(t, name)
	for i := range packed {
		changed := bytes.Clone(packed)
		changed[i] ^= 0x10
		must(t, os.WriteFile(name, changed, 0o600))
		file, err := vfs.OS.OpenFile(name, os.O_RDONLY, 0)
		must(t, err)
		if a, err := archive.Open(file); err == nil {
			ok, err := a.Intact(t.Context())
			r, readErr := a.Reader(0)
			if readErr == nil {
				_, readErr = io.Copy(io.Discard, r)
			}
			if ok && err == nil && readErr == nil {
				t.Errorf("byte %d: no error", i)
			}
		}
		must(t, file.Close())
	}
}

func TestWriteAndIntactStopWithTheContext(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := write(t, done, lines(20), 100); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v", err)
	}
	name, err := write(t, t.Context(), lines(20), 100)
	must(t, err)
	if _, err := open(t, name).Intact(done); !errors.Is(err, context.Canceled) {
		t.Errorf("Intact: %v", err)
	}
}

func TestZstdProgramReadsAnArchive(t *testing.T) {
	program := programtest.Path(t, "zstd")
	data := lines(100)
	name, err := write(t, t.Context(), data, 1000)
	must(t, err)
	if out, err := exec.Command(program, "-dc", name).Output(); err != nil || !bytes.Equal(out, data) {
		t.Errorf("%d bytes of %d, %v", len(out), len(data), err)
	}
}
