package journal_test

import (
	"bytes"
	"context"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// BenchmarkScan measures reading a journal from the page cache: splitting lines,
// checking sums, and decoding envelopes. It also measures the parts of that work
// that cannot be avoided.
func BenchmarkScan(b *testing.B) {
	const id, lines = "01KAJ000000000000000000000", 64_000
	dir := journal.NewDir(b.TempDir(), journal.Options{})
	path := filepath.Join(dir.Path(), id+".jsonl")
	size := writeJournal(b, path, lines, 1900)

	b.Run("only reading", func(b *testing.B) { readBlocks(b, path, size, func([]byte) {}) })
	b.Run("reading and CRC-32C of blocks", func(b *testing.B) {
		table := crc32.MakeTable(crc32.Castagnoli)
		readBlocks(b, path, size, func(block []byte) { crc32.Update(0, table, block) })
	})
	for name, each := range map[string]func(*journal.Reader) int{
		"CheckChain": func(r *journal.Reader) int {
			must(b, r.CheckChain(context.Background()))
			return int(r.Position().Seq)
		},
		"Scan": func(r *journal.Reader) (n int) {
			for _, err := range r.Scan() {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			return n
		},
		"All": func(r *journal.Reader) (n int) {
			for _, err := range r.All() {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			return n
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				r, err := dir.Reader(id, journal.Position{})
				must(b, err)
				if n := each(r); n != lines {
					b.Fatalf("%d lines", n)
				}
				must(b, r.Close())
			}
		})
	}
}

// writeJournal writes a journal with the given number of lines and the approximate
// size of their payloads in bytes. It returns its length.
func writeJournal(b *testing.B, path string, lines, length int) int64 {
	var out bytes.Buffer
	var at journal.Position
	for n := range lines {
		e, next, err := at.Next(counted(n+1, length))
		must(b, err)
		out.Write(append(e.Line(), '\n'))
		at = next
	}
	must(b, os.WriteFile(path, out.Bytes(), 0o600))
	return at.Offset
}

// readBlocks reads a file of the given size in blocks.
func readBlocks(b *testing.B, path string, size int64, take func(block []byte)) {
	b.SetBytes(size)
	block := make([]byte, 256<<10)
	for b.Loop() {
		f, err := os.Open(path)
		must(b, err)
		for n := 1; n > 0; {
			n, _ = f.Read(block)
			take(block[:n])
		}
		must(b, f.Close())
	}
}
