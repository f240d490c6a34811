package catalog

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// writtenRows writes an index with n rows of different lengths, of sessions 1, 3, 5 …, and returns their lines.
func writtenRows(t *testing.T, d *Dir, n int) []string {
	t.Helper()
	lines := make([]string, n)
	for i := range lines {
		lines[i] = rowPrefix + numberedID(2*i+1) + `","title":"` + strings.Repeat("x", i%900) + `"}`
	}
	text := indexHead + strings.Join(lines, indexNext) + indexEnd + `,"updatedAt":"2026-11-21T12:00:00Z"}` + "\n"
	if err := os.WriteFile(d.indexPath(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return lines
}

func numberedID(n int) string { return fmt.Sprintf("01KAJ%021d", n) }

func TestRowsOfIndex(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, 3000} {
		d := New(t.TempDir(), journal.Options{}).At(t.TempDir())
		lines := writtenRows(t, d, n)
		rows := d.openRows()
		if rows == nil {
			t.Fatalf("%d rows: not opened", n)
		}
		defer rows.file.Close()
		var mu sync.Mutex
		scanned := map[string]place{}
		if !rows.scanAll(func(line []byte, at place) {
			mu.Lock()
			defer mu.Unlock()
			if _, twice := scanned[string(line)]; twice {
				t.Errorf("%d rows: %.40s is scanned twice", n, line)
			}
			scanned[string(line)] = at
		}) {
			t.Errorf("%d rows: the scan is incomplete", n)
		}
		if len(scanned) != n {
			t.Errorf("%d rows scanned, want %d", len(scanned), n)
		}
		for i, line := range lines {
			for _, at := range []place{scanned[line], {}, {int64(i), 100}, {rows.end - 50, 100}} {
				if got := rows.read(numberedID(2*i+1), at); got != line {
					t.Fatalf("row %d of %d at %+v is %.60q", i, n, at, got)
				}
			}
		}
		for i := range n + 1 {
			if got := rows.read(numberedID(2*i), place{}); got != "" {
				t.Fatalf("missing row %d of %d is %.60q", i, n, got)
			}
		}
	}
}

func TestIndexWithoutRows(t *testing.T) {
	d := New(t.TempDir(), journal.Options{}).At(t.TempDir())
	if d.openRows() != nil {
		t.Error("a missing index is opened")
	}
	for _, text := range []string{"", "{}", indexHead, `{"version":"1.0.0","sessions":[]}`, "[\n]"} {
		if err := os.WriteFile(d.indexPath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d.openRows() != nil {
			t.Errorf("%q is opened", text)
		}
	}
}
