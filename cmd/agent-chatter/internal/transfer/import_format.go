package transfer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// knownFormats returns the formats of files with sessions, as --format names them: those of sessions with their own
// ids, then those of other programs.
func knownFormats() []string {
	own := []string{interchange.JournalFormat, interchange.BundleFormat, interchange.SnapshotFormat}
	return append(own, transcripts()...)
}

// transcripts returns the formats of other programs' transcripts.
func transcripts() (names []string) {
	for _, f := range interchange.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Vars are what the tags of the commands refer to.
func Vars() kong.Vars { return kong.Vars{"importable": strings.Join(knownFormats(), ",")} }

// isTranscript reports whether a format is that of another program's transcripts.
func isTranscript(format string) bool { return slices.Contains(transcripts(), format) }

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
	allowCut(f, new(bool)) // the import reports it
	format, err := interchange.Detect(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return format, err
}

// UnknownFormatText reports that the format of a file was not detected.
func UnknownFormatText(path string) app.Message {
	known := knownFormats()
	last := len(known) - 1
	return app.Text("%s has an unknown format. Known formats are %s and %s.",
		tty.SafeLine(path), strings.Join(known[:last], ", "), known[last]).With(
		app.To("read where their files are", "guide", "import"),
		app.To("import it in a format anyway", "sessions", "import", "--format", "FORMAT", path))
}
