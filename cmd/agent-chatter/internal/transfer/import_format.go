package transfer

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// Formats of sessions with their own ids, as --format names them.
const (
	FormatBundle  = "bundle"
	FormatJournal = "journal"
)

// isTranscript reports whether a format is that of another program's transcripts.
func isTranscript(format string) bool {
	switch format {
	case "claude", "codex", "gemini", "claude-master", "synapse":
		return true
	}
	return false
}

// detectBytes is how much of a file DetectFormat reads first, in bytes. It is large
// because the first event of a journal lists all members of the team.
const detectBytes = 1 << 20

// DetectFormat returns the format of a file, as --format names it. It returns "" for a
// snapshot, an unknown format, and a file that cannot be read or is not regular.
func DetectFormat(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // opening a pipe would block
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, detectBytes))
	if err != nil {
		return ""
	}
	if interchange.IsBundle(head) {
		return FormatBundle
	}
	var first journal.Event
	if json.NewDecoder(bytes.NewReader(head)).Decode(&first) == nil && first.Seq == 1 &&
		(first.Type == "session.created" || first.Type == journal.TypeRecovered) {
		return FormatJournal
	}
	format := interchange.DetectTranscript(head)
	if format != "" || len(head) < detectBytes || bytes.Contains(head, []byte(`"schemaVersion"`)) {
		return format
	}
	// A transcript that is one object may have its distinguishing fields at the end.
	rest, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return interchange.DetectTranscript(append(head, rest...))
}
