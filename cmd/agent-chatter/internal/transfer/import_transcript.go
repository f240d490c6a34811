package transfer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// readTranscript reads the header of a transcript. For synapse it also reads the index in
// the same directory, if there is one.
func readTranscript(ctx context.Context, a *app.App, format, path string) (*interchange.Session, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	src := sourceOf(ctx, format, path)
	if format != "synapse" {
		return interchange.Transcript(format, src, a.Identity())
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	index, err := regularfile.Read(filepath.Join(filepath.Dir(path), "sessions.json"), maxIndex)
	if err != nil {
		index = nil
	}
	return interchange.Synapse(src, index, info.ModTime(), a.Identity())
}

// maxIndex is the length of the longest index of Synapse that is read, in bytes.
const maxIndex = 16 << 20

// tooLargeText is for a transcript that would need too much memory.
func tooLargeText(path string, e *interchange.LimitError) string {
	return fmt.Sprintf("%s is too large: %v. Import a copy without its largest or oldest parts.",
		tty.SafeLine(path), e)
}
