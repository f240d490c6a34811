package transfer

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// readTranscript reads the header of a transcript, whose file has another path than its name. It sets cut when the end
// of a compressed file is missing.
func readTranscript(
	ctx context.Context, a *app.App, format, path, name string, cut *bool,
) (*interchange.Session, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if name, err = filepath.Abs(name); err != nil {
		return nil, err
	}
	s, err := interchange.Transcript(format, fileSource(ctx, path, cut), a.Identity())
	if err == nil {
		s.Imported.Path = name
	}
	return s, err
}

// cutText is for a compressed file whose end is missing.
func cutText(path string) string {
	return tty.SafeLine(path) + " is cut or damaged: only what could be decompressed was imported."
}

// unknownLinesText is for a transcript of which no line has a known form.
func unknownLinesText(path string, e *interchange.UnknownLinesError) app.Message {
	m := UnknownFormatText(path)
	m.Text = fmt.Sprintf("%s: %s", tty.SafeLine(path), e.Error()) + ".\n" + m.Text
	return m
}

// tooLargeText is for a transcript that would need too much memory.
func tooLargeText(path string, e *interchange.LimitError) string {
	return fmt.Sprintf("%s is too large: %v. Import a copy without its largest or oldest parts.",
		tty.SafeLine(path), e)
}
