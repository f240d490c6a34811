package jsonlines

import (
	"io"
	"sync"
)

// An Outbox queues what is to be written to a program, which may read slowly or not at all: Put never blocks. Its
// methods are safe for concurrent use.
type Outbox struct {
	mu      sync.Mutex
	queue   [][]byte
	full    bool // a line was dropped
	closed  bool
	changed chan struct{} // has a token if the queue or closed has changed
}

// maxQueued is how many lines an Outbox queues. A program that fills it has sent as many
// requests without reading the responses.
const maxQueued = 1000

// NewOutbox returns an empty Outbox.
func NewOutbox() *Outbox { return &Outbox{changed: make(chan struct{}, 1)} }

// Put queues a line, with its newline. A full Outbox drops it.
func (o *Outbox) Put(line []byte) {
	o.change(func() {
		if o.full = o.full || len(o.queue) >= maxQueued; !o.full {
			o.queue = append(o.queue, line)
		}
	})
}

// Overflowed reports whether a line was dropped.
func (o *Outbox) Overflowed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full
}

// Close makes Deliver return once everything is written.
func (o *Outbox) Close() { o.change(func() { o.closed = true }) }

func (o *Outbox) change(do func()) {
	o.mu.Lock()
	do()
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// Deliver writes the queue to w until the Outbox is closed or writing fails.
func (o *Outbox) Deliver(w io.Writer) {
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
