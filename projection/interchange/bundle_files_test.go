package interchange_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// bundleWithFiles returns a bundle of a session whose messages have files with the given contents; nil is left out.
func bundleWithFiles(t *testing.T, contents ...[]byte) string {
	t.Helper()
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	records := []journal.Record{projection.Record(at, projection.SessionCreated{
		Format: 1, SessionID: "01KAHV6T3R8Q4Y2M0N7C5B0001", Team: projection.Team{ID: "a", Members: []projection.Member{}},
		App: app,
	})}
	files := map[string][]byte{}
	for _, content := range contents {
		m := projection.NewMessage("m", at, you, "look", nil)
		sum := attachment.Sum(content)
		m.Attachments = []projection.File{{Name: "a.png", MediaType: "image/png", Bytes: int64(len(content)), SHA256: sum}}
		files[sum] = content
		records = append(records, projection.Record(at, m))
	}
	var events []journal.Event
	for _, r := range records {
		events = append(events, journal.Event{Type: r.Type, Data: r.Data, Time: r.Time})
	}
	var b bytes.Buffer
	w, err := interchange.NewBundle(&b, app, 1, true)
	if err == nil {
		content := func(f projection.File) ([]byte, error) { return files[f.SHA256], nil }
		err = errors.Join(w.Add(projectiontest.Sequence(events, nil), content), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readFiles returns the files of a bundle and the number of its events.
func readFiles(text string) (kept [][]byte, events int, err error) {
	keep := func(data []byte) error {
		kept = append(kept, slices.Clone(data))
		return nil
	}
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine, keep) {
		for _, failure := range session {
			if failure != nil {
				err = errors.Join(err, failure)
				continue
			}
			events++
		}
	}
	return kept, events, err
}

func TestBundleHasTheFilesOfMessages(t *testing.T) {
	long := bytes.Repeat([]byte{0, 1, 2, 3}, 600_000) // of three parts
	text := bundleWithFiles(t, []byte("one"), long, []byte("one"), []byte{})
	for line := range strings.Lines(text) {
		if err := schemas.Check(schemas.BundleLine, []byte(line)); err != nil {
			t.Fatalf("%.100s: %v", line, err)
		}
	}
	kept, events, err := readFiles(text)
	if err != nil || events != 5 || len(kept) != 3 ||
		string(kept[0]) != "one" || !bytes.Equal(kept[1], long) || len(kept[2]) != 0 {
		t.Errorf("%d files, %d events, %v", len(kept), events, err)
	}
	if read, err := readBundle(text); len(read) != 5 || err != nil {
		t.Errorf("without its files: %d events, %v", len(read), err)
	}
	if kept, events, err := readFiles(bundleWithFiles(t, nil)); len(kept) != 0 || events != 2 || err != nil {
		t.Errorf("a file that was left out: %d files, %d events, %v", len(kept), events, err)
	}
}

// A change of any byte of a bundle with files is found.
func TestEachChangedByteOfABundleWithFilesIsFound(t *testing.T) {
	text := bundleWithFiles(t, []byte("picture"))
	for i := range text {
		changed := []byte(text)
		changed[i] ^= 1
		if _, _, err := readFiles(string(changed)); err == nil {
			t.Errorf("byte %d of %q", i, text)
		}
	}
	lines := strings.SplitAfter(text, "\n")
	for i := range lines[:len(lines)-1] {
		without := strings.Join(slices.Concat(lines[:i], lines[i+1:]), "")
		if _, _, err := readFiles(without); err == nil {
			t.Errorf("without line %d", i+1)
		}
	}
}

func TestHostileFilesOfABundleAreRefused(t *testing.T) {
	text := bundleWithFiles(t, []byte("picture"))
	lines := strings.SplitAfter(text, "\n")
	sum := attachment.Sum([]byte("picture"))
	for _, line := range []string{
		`{"attachment":"../../etc/passwd","part":1,"of":1,"data":""}`,
		`{"attachment":"` + sum + `","part":2,"of":2,"data":""}`,
		`{"attachment":"` + sum + `","part":1,"of":0,"data":""}`,
		`{"attachment":"` + sum + `","part":1,"of":1,"data":"AAAA"}`,
		`{"attachment":7}`,
	} {
		changed := slices.Clone(lines)
		changed[2] = line + "\n"
		if kept, _, err := readFiles(strings.Join(changed, "")); err == nil || len(kept) > 0 {
			t.Errorf("%s: %d files, %v", line, len(kept), err)
		}
	}
}

// What cannot be kept ends the import.
func TestFileThatCannotBeKeptEndsTheBundle(t *testing.T) {
	text := bundleWithFiles(t, []byte("picture"))
	full := errors.New("the disk is full")
	keep := func([]byte) error { return full }
	failures := 0
	for session := range interchange.ReadBundle(strings.NewReader(text), journal.DefaultMaxLine, keep) {
		for _, err := range session {
			if errors.Is(err, full) {
				failures++
			}
		}
	}
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
}
