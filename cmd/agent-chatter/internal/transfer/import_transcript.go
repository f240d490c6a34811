package transfer

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// readTranscript reads the header of a transcript.
func readTranscript(ctx context.Context, a *app.App, format, path string) (*interchange.Session, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return interchange.Transcript(format, fileSource(ctx, path), a.Identity())
}

// tooLargeText is for a transcript that would need too much memory.
func tooLargeText(path string, e *interchange.LimitError) string {
	return fmt.Sprintf("%s is too large: %v. Import a copy without its largest or oldest parts.",
		tty.SafeLine(path), e)
}
