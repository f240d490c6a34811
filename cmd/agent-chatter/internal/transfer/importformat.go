package transfer

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// The formats of whole sessions, as --format names them.
const (
	FormatBundle  = "bundle"
	FormatJournal = "journal"
)

// isTranscript reports whether a format is that of another program's transcripts.
func isTranscript(format string) bool {
	return slices.Contains([]string{"claude", "codex", "gemini", "claude-master", "synapse"}, format)
}

// formatOf is what a file is: what somebody says, or what it begins like.
func (cmd *Import) formatOf(path string) string {
	if cmd.Format != "auto" {
		return cmd.Format
	}
	if app.IsArchive(path) {
		return FormatJournal
	}
	return Beginning(path)
}

// longestBeginning is how much of a file tells what it is, in bytes: the first
// event of a session names all members of its team.
const longestBeginning = 1 << 20

// beginning is the format that a file begins like, "" when it is another or
// cannot be read.
func Beginning(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // a pipe would be waited for
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, longestBeginning))
	if err != nil {
		return ""
	}
	var first journal.Event
	switch {
	case interchange.IsBundle(head):
		return FormatBundle
	case json.NewDecoder(bytes.NewReader(head)).Decode(&first) == nil && first.Seq == 1 && (first.Type == "session.created" || first.Type == journal.TypeRecovered):
		return FormatJournal
	}
	return transcriptFormat(head, f)
}

// transcriptFormat is the format of a transcript of which the head has been read.
// Some are one object: what it is may stand at its end.
func transcriptFormat(head []byte, rest io.Reader) string {
	format := interchange.DetectTranscript(head)
	if format != "" || len(head) < longestBeginning || bytes.Contains(head, []byte(`"schemaVersion"`)) {
		return format // of a snapshot, which is read as one
	}
	behind, err := io.ReadAll(rest)
	if err != nil {
		return ""
	}
	return interchange.DetectTranscript(append(head, behind...))
}
