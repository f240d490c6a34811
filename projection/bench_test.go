package projection_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// BenchmarkReading measures reading a session of 2,000 messages from a cached file.
func BenchmarkReading(b *testing.B) {
	const id = "01KAJ000000000000000000000"
	dir := journal.NewDir(b.TempDir(), journal.Options{})
	size := writeSession(b, filepath.Join(dir.Path(), id+".jsonl"), 2000)

	for _, part := range []struct {
		name string
		read func(*journal.Reader) error
	}{
		{"lines", func(r *journal.Reader) error {
			for _, err := range r.Scan() {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"payloads, encoding/json", func(r *journal.Reader) error {
			return decodeAll(r, projection.DecodeByPackageJSON)
		}},
		{"payloads", func(r *journal.Reader) error {
			return decodeAll(r, projection.Decode)
		}},
		{"State", func(r *journal.Reader) error {
			var s projection.State
			for e, err := range r.Scan() {
				if err != nil {
					return err
				}
				s.Apply(e)
			}
			return nil
		}},
		{"State, encoding/json", func(r *journal.Reader) error {
			var s projection.State
			for e, err := range r.Scan() {
				if err != nil {
					return err
				}
				s.ApplyByPackageJSON(e)
			}
			return nil
		}},
		{"State and Validate", func(r *journal.Reader) error {
			var s projection.State
			for e, err := range r.Scan() {
				if err != nil {
					return err
				}
				s.Apply(e)
				if err := projection.Validate(e); err != nil {
					return err
				}
			}
			return nil
		}},
		{"Timeline", func(r *journal.Reader) error {
			var t projection.Timeline
			for e, err := range r.Scan() {
				if err != nil {
					return err
				}
				t.Apply(e)
			}
			return nil
		}},
		{"Snapshot", func(r *journal.Reader) error {
			_, err := projection.ReadSnapshot(r.Scan())
			return err
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				r, err := dir.Reader(id, journal.Position{})
				if err != nil {
					b.Fatal(err)
				}
				if err := part.read(r); err != nil || r.Position().Offset != size {
					b.Fatalf("read up to %d of %d: %v", r.Position().Offset, size, err)
				}
				r.Close()
			}
		})
	}
}

func decodeAll(r *journal.Reader, decode func(journal.Event) (projection.Payload, error)) error {
	for e, err := range r.Scan() {
		if err != nil {
			return err
		}
		if _, err := decode(e); err != nil {
			return err
		}
	}
	return nil
}

// writeSession writes a session to a file and returns its length.
func writeSession(b *testing.B, path string, messages int) int64 {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	end, err := projectiontest.WriteSession(file, messages, 1)
	if err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return end.Offset
}
