package acp

import (
	"io"
	"sync"
)

// An outbox queues what is to be written to a program, which may read slowly or not at all:
// put never blocks.
type outbox struct {
	mu      sync.Mutex
	queue   [][]byte
	full    bool // a line was dropped
	closed  bool
	changed chan struct{} // has a token if the queue or closed has changed
}

// maxQueued is how many lines an outbox queues. A program that fills it has sent as many
// requests without reading the responses.
const maxQueued = 1000

func newOutbox() *outbox { return &outbox{changed: make(chan struct{}, 1)} }

// put queues a line. A full outbox drops it.
func (o *outbox) put(line []byte) {
	o.change(func() {
		if o.full = o.full || len(o.queue) >= maxQueued; !o.full {
			o.queue = append(o.queue, line)
		}
	})
}

// overflowed reports whether a line was dropped.
func (o *outbox) overflowed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full
}

// close makes deliver return once everything is written.
func (o *outbox) close() { o.change(func() { o.closed = true }) }

func (o *outbox) change(do func()) {
	o.mu.Lock()
	do()
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// deliver writes the queue to w until the outbox is closed or writing fails.
func (o *outbox) deliver(w io.Writer) {
	for range o.changed {
		o.mu.Lock()
		lines, closed := o.queue, o.closed
		o.queue = nil
		o.mu.Unlock()
		for _, line := range lines {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
		if closed {
			return
		}
	}
}
