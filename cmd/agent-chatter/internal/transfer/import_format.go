package transfer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// knownFormats are the formats of files with sessions, as --format names them. The first
// three have sessions with their own ids, the others are those of other programs.
var knownFormats = []string{
	interchange.JournalFormat, interchange.BundleFormat, interchange.SnapshotFormat,
	"claude", "codex", "gemini", "opencode", "pi", "claude-master", "synapse",
}

// isTranscript reports whether a format is that of another program's transcripts.
func isTranscript(format string) bool {
	return slices.Contains(knownFormats[3:], format)
}

// DetectFormat returns the format of a file as interchange.Detect does.
func DetectFormat(path string) (string, error) {
	if app.IsArchive(path) && app.InArchive(path) {
		return interchange.JournalFormat, nil
	}
	f, _, err := openSource(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	format, err := interchange.Detect(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return format, err
}

// UnknownFormatText reports that the format of a file was not detected.
func UnknownFormatText(path string) app.Message {
	last := len(knownFormats) - 1
	return app.Text("%s has an unknown format. Known formats are %s and %s.",
		tty.SafeLine(path), strings.Join(knownFormats[:last], ", "), knownFormats[last]).With(
		app.To("read where their files are", "guide", "import"),
		app.To("import it in a format anyway", "sessions", "import", "--format", "FORMAT", path))
}
