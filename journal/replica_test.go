package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// linesOf returns the lines of a journal with n events, and its end.
func linesOf(t *testing.T, n int) (text []byte, end journal.Position) {
	t.Helper()
	d := journal.NewDir(t.TempDir(), journal.Options{})
	log, err := d.Create("source")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		_, err := log.Append(journal.Record{Type: "tea.made", Data: fmt.Appendf(nil, `{"cups":%d}`, i)})
		if err == nil && i%3 == 0 {
			err = log.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	return text, log.Position()
}

// firstLines returns the first n lines of a text.
func firstLines(text []byte, n int) []byte {
	return []byte(strings.Join(strings.SplitAfter(string(text), "\n")[:n], ""))
}

func TestVerify(t *testing.T) {
	text, end := linesOf(t, 5)
	if at, err := (journal.Position{}).Verify(text); err != nil || at != end {
		t.Errorf("verified up to %v, want %v: %v", at, end, err)
	}
	if at, err := end.Verify(nil); err != nil || at != end {
		t.Errorf("no lines: %v, %v", at, err)
	}
	second := text[len(firstLines(text, 1)):]
	for name, lines := range map[string][]byte{
		"an incomplete line":     text[:len(text)-1],
		"a changed byte":         bytes.Replace(text, []byte(`"cups":3`), []byte(`"cups":4`), 1),
		"the first line missing": second,
		"a line twice":           append(bytes.Clone(firstLines(text, 1)), text...),
		"an empty line":          append([]byte("\n"), text...),
		"no JSON":                []byte("hello\n"),
		"lines of another chain": append(bytes.Clone(text), text...),
	} {
		if at, err := (journal.Position{}).Verify(lines); err == nil {
			t.Errorf("%s: valid up to %v", name, at)
		}
	}
}

// TestAppendLines appends the lines of a copy to each beginning of a journal, as a crash may leave it.
func TestAppendLines(t *testing.T) {
	text, end := linesOf(t, 6)
	for cut := 0; cut <= len(text); cut += 7 {
		d := journal.NewDir(t.TempDir(), journal.Options{})
		open := d.Create
		if cut > 0 {
			if err := os.WriteFile(d.Path()+"/copy.jsonl", text[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			open = func(id string) (*journal.Log, error) { return d.Open(t.Context(), id) }
		}
		log, err := open("copy")
		if err != nil {
			t.Fatal(err)
		}
		if err := log.AppendLines(text[log.Position().Offset:]); err != nil {
			t.Fatalf("from byte %d: %v", cut, err)
		}
		if log.Position() != end {
			t.Errorf("the end is %v, want %v", log.Position(), end)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(log.Path()); !bytes.Equal(got, text) {
			t.Errorf("from byte %d: the journal has %d bytes, want %d", cut, len(got), len(text))
		}
		entries, _ := os.ReadDir(d.Path())
		for _, e := range entries {
			if strings.Contains(e.Name(), "aside") {
				t.Errorf("from byte %d: %s exists", cut, e.Name())
			}
		}
	}
}

func TestAppendLinesSetsAsideAnotherTornTail(t *testing.T) {
	text, end := linesOf(t, 6)
	d := journal.NewDir(t.TempDir(), journal.Options{})
	begin := firstLines(text, 4)
	if err := os.WriteFile(d.Path()+"/copy.jsonl", append(bytes.Clone(begin), "another tail"...), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := d.Open(t.Context(), "copy")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.AppendLines(text[len(begin):]); err != nil || log.Position() != end {
		t.Fatalf("the end is %v: %v", log.Position(), err)
	}
	if aside, err := os.ReadFile(d.Path() + "/copy.aside-1"); string(aside) != "another tail" {
		t.Errorf("set aside %q: %v", aside, err)
	}
	events, err := log.Append(journal.Record{Type: "tea.made", Data: []byte("{}")})
	if err != nil || len(events) != 1 || events[0].Seq != 7 {
		t.Errorf("append after the lines: %v, %v", events, err)
	}
}

func TestAppendLinesRefusesOtherLines(t *testing.T) {
	text, _ := linesOf(t, 4)
	d := journal.NewDir(t.TempDir(), journal.Options{MaxLine: journal.MinMaxLine})
	log, err := d.Create("copy")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.AppendLines(firstLines(text, 2)); err != nil {
		t.Fatal(err)
	}
	before := log.Position()
	if err := log.AppendLines(text); err == nil {
		t.Error("lines that were appended before are accepted")
	}
	if err := log.AppendLines(text[before.Offset : len(text)-1]); err == nil {
		t.Error("an incomplete line is accepted")
	}
	long, after, err := before.Next(journal.Record{
		Type: "tea.made", Data: []byte(`{"note":"` + strings.Repeat("x", journal.MinMaxLine) + `"}`),
	})
	if err != nil || after.Seq != 3 {
		t.Fatal(err)
	}
	if err := log.AppendLines(append(long.Line(), '\n')); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("a line over the limit: %v", err)
	}
	if log.Position() != before {
		t.Errorf("the end is %v, want %v", log.Position(), before)
	}
	if err := log.AppendLines(text[before.Offset:]); err != nil {
		t.Error(err)
	}
}

func TestLinesReadsWholeLines(t *testing.T) {
	text, end := linesOf(t, 9)
	d := journal.NewDir(t.TempDir(), journal.Options{})
	if err := os.WriteFile(d.Path()+"/copy.jsonl", append(bytes.Clone(text), "torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for size := range 400 {
		r, err := d.Reader("copy", journal.Position{})
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		at := journal.Position{}
		for {
			lines, after, err := r.Lines(at, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) == 0 {
				break
			}
			if checked, err := at.Verify(lines); err != nil || checked != after {
				t.Errorf("lines up to %v, want %v: %v", checked, after, err)
			}
			if n := bytes.Count(lines, []byte("\n")); size > 0 && len(lines) > size && n > 1 {
				t.Errorf("%d lines with %d bytes, and the size is %d", n, len(lines), size)
			}
			got, at = append(got, lines...), after
		}
		if !bytes.Equal(got, text) || at != end {
			t.Errorf("size %d: %d of %d bytes", size, len(got), len(text))
		}
		r.Close()
	}
}

func TestReplaceKeepsThePreviousJournal(t *testing.T) {
	text, _ := linesOf(t, 5)
	damaged := bytes.Replace(text, []byte(`"cups":2`), []byte(`"cups":9`), 1)
	write := func(content []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		}
	}
	for name, tt := range map[string]struct {
		before  []byte
		write   func(io.Writer) error
		want    []byte
		aside   string
		invalid bool
	}{
		"a damaged journal": {damaged, write(text), text, "copy.aside-1", false},
		"an equal journal":  {text, write(text), text, "", false},
		"invalid lines":     {text, write(damaged), text, "", true},
		"no lines":          {text, write(nil), text, "", true},
		"a torn tail":       {text, write(text[:len(text)-3]), text, "", true},
		"a failed write":    {text, func(io.Writer) error { return io.ErrUnexpectedEOF }, text, "", true},
	} {
		d := journal.NewDir(t.TempDir(), journal.Options{})
		if err := os.WriteFile(d.Path()+"/copy.jsonl", tt.before, 0o640); err != nil {
			t.Fatal(err)
		}
		aside, err := d.Replace(t.Context(), "copy", tt.write)
		if aside != tt.aside || (err != nil) != tt.invalid {
			t.Errorf("%s: set aside %q, %v", name, aside, err)
		}
		if got, _ := os.ReadFile(d.Path() + "/copy.jsonl"); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: the journal has %d bytes, want %d", name, len(got), len(tt.want))
		}
		if got, _ := os.ReadFile(d.Path() + "/" + aside); aside != "" && !bytes.Equal(got, tt.before) {
			t.Errorf("%s: %d bytes are set aside, want %d", name, len(got), len(tt.before))
		}
		if left, _ := os.ReadFile(d.Path() + "/copy.jsonl.tmp"); left != nil {
			t.Errorf("%s: a temporary file is left", name)
		}
	}
}

// TestReplaceThatCannotReadLosesNothing fails each operation that reads, in turn.
func TestReplaceThatCannotReadLosesNothing(t *testing.T) {
	text, _ := linesOf(t, 5)
	before := bytes.Replace(text, []byte(`"cups":2`), []byte(`"cups":9`), 1)
	failed := true
	for nth := 1; failed; nth++ {
		disk := journaltest.New(vfs.OS)
		d := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
		if err := os.WriteFile(d.Path()+"/copy.jsonl", before, 0o640); err != nil {
			t.Fatal(err)
		}
		disk.Fail(nth, io.ErrUnexpectedEOF, journaltest.Read)
		aside, err := d.Replace(t.Context(), "copy", func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		failed = disk.Failed()
		kept, _ := os.ReadFile(d.Path() + "/copy.jsonl")
		if aside != "" {
			kept, _ = os.ReadFile(d.Path() + "/" + aside)
		}
		if !bytes.Equal(kept, before) {
			t.Errorf("read %d: %d of %d bytes are kept, and the error is %v", nth, len(kept), len(before), err)
		}
	}
}
