package agent

import (
	"context"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

// Some agents send what their program has to say, such as a warning, as pieces of the reply. Where the messages of an
// agent have ids, a piece without an id is such a notice. A piece that precedes all messages is held until it is known
// whether they have.
const (
	// holdTime is how long the first piece of an unknown agent is held.
	holdTime = 500 * time.Millisecond
	// maxHeld is how many pieces are held, and how many bytes.
	maxHeld      = 100
	maxHeldBytes = 64 << 10
)

// heldChunks are the pieces that are held.
type heldChunks struct {
	chunks  []acp.Chunk
	bytes   int
	settled bool // pieces without an id are text
}

// hold reports whether a piece is held, or is a notice.
func (t *acpTurn) hold(c acp.Chunk) bool {
	if c.MessageID != "" {
		t.numbered = true
		for _, held := range t.held.chunks {
			t.takeNotice(held.Text)
		}
		t.held.chunks = nil
		return false
	}
	switch {
	case t.numbered:
		t.takeNotice(c.Text)
		return true
	case t.held.settled || t.habits.unnumbered:
		return false
	}
	t.held.chunks = append(t.held.chunks, c)
	t.held.bytes += len(c.Text)
	if len(t.held.chunks) > maxHeld || t.held.bytes > maxHeldBytes || !t.habits.numbered && len(t.held.chunks) > 1 {
		t.settleHeld()
	}
	return true
}

// settleHeld takes the pieces that are held for text: the agent's messages have no ids.
func (t *acpTurn) settleHeld() {
	chunks := t.held.chunks
	t.held = heldChunks{settled: true}
	for _, c := range chunks {
		t.emit(t.text(c.Text)...)
	}
}

// takeNotice emits a notice of the agent's program.
func (t *acpTurn) takeNotice(text string) {
	if text = strings.TrimSpace(text); text != "" {
		t.emit(Notice{abbreviate(text, maxReason)})
	}
}

// next is Next, but does not hold a piece of an unknown agent for longer than holdTime.
func (t *acpTurn) next(ctx context.Context) (acp.Message, error) {
	if len(t.held.chunks) == 0 || t.habits.numbered {
		return t.Next(ctx)
	}
	holding, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	m, err := t.Next(holding)
	if err != nil && holding.Err() != nil && ctx.Err() == nil {
		t.settleHeld() // the consumer may leave
		return acp.OtherUpdate{}, nil
	}
	return m, err
}
