package hub

import (
	"context"
	"io"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Copy writes the whole history of a session, verified, and returns its end. If the hub has lost a part, it
// returns a *BadMessageError or a *GapError after what precedes that part; likewise a *SealedError.
func (h *Hub) Copy(ctx context.Context, s Session, w io.Writer) (journal.Position, error) {
	read := newHistory(h, s, Mark{})
	err := read.read(ctx, func(_ journal.Position, lines []byte) error {
		_, err := w.Write(lines)
		return err
	})
	if err == nil {
		err = read.damage()
	}
	return read.at, err
}
