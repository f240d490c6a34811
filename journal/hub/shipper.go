package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Shipper ships a session in the background while its journal is being written. Its methods may be called
// concurrently.
type Shipper struct {
	claim  func(context.Context) (*Writer, error) // nil: there is a Writer from the beginning
	open   func() (Local, error)
	keep   func(Mark)
	writer *Writer // nil: the session is not claimed yet; of the goroutine

	wake chan struct{} // has room for one value
	done chan struct{} // closed when the goroutine has ended
	stop context.CancelFunc

	mu      sync.Mutex
	synced  journal.Position // what is to be shipped
	row     any
	shipped journal.Position
	claimed bool
	err     error         // of the last attempt that was not stopped; nil: it succeeded
	tried   int           // attempts that have ended
	waiting int           // calls of Wait and Release
	changed chan struct{} // closed and replaced when one of them changes
}

// ShipStatus is the state of a Shipper.
type ShipStatus struct {
	Claimed bool             // the hub has the claim of this machine
	Lag     uint64           // synced events that the hub has not acknowledged
	Shipped journal.Position // the end of the history on the hub
	Err     error            // of the last attempt; nil: it succeeded
}

// Final reports whether the Shipper has stopped for good: another machine has taken the session over, or
// the journals diverged, or the hub has events that are not here.
func (s ShipStatus) Final() bool {
	return errors.As(s.Err, new(*FencedError)) || errors.As(s.Err, new(*DivergedError)) ||
		errors.As(s.Err, new(*BehindError)) || errors.Is(s.Err, ErrPurged)
}

// How long a Shipper waits before it retries after an error, unless it is notified.
const (
	retryAfter      = 2 * time.Second
	retryWhenWaited = 250 * time.Millisecond // while Wait or Release is called
)

// NewShipper starts a Shipper with the Writer of a session that was claimed. open opens a reader of the journal for
// each attempt; keep stores the mark. They are called in one goroutine.
func NewShipper(w *Writer, open func() (Local, error), keep func(Mark)) *Shipper {
	s := &Shipper{writer: w, open: open, keep: keep, claimed: w.Claimed(), shipped: w.At()}
	return s.start()
}

// NewClaimingShipper starts a Shipper that claims the session. claim is retried until it succeeds; open and keep are
// those of NewShipper. from is how far the session was shipped before, as far as is known.
func NewClaimingShipper(
	claim func(context.Context) (*Writer, error), open func() (Local, error), keep func(Mark),
	from journal.Position,
) *Shipper {
	s := &Shipper{claim: claim, open: open, keep: keep, shipped: from}
	return s.start()
}

func (s *Shipper) start() *Shipper {
	ctx, stop := context.WithCancel(context.Background())
	s.wake, s.done, s.stop, s.changed = make(chan struct{}, 1), make(chan struct{}), stop, make(chan struct{})
	go s.run(ctx)
	return s
}

// Synced notifies that the journal is synced up to a position. row is the row of the session there.
func (s *Shipper) Synced(upTo journal.Position, row any) {
	s.mu.Lock()
	if upTo.Seq > s.synced.Seq {
		s.synced, s.row = upTo, row
	}
	s.mu.Unlock()
	s.wakeUp()
}

// wakeUp makes the goroutine look for something to ship.
func (s *Shipper) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// Status does not block.
func (s *Shipper) Status() ShipStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status()
}

func (s *Shipper) status() ShipStatus {
	lag := uint64(0)
	if s.synced.Seq > s.shipped.Seq {
		lag = s.synced.Seq - s.shipped.Seq
	}
	return ShipStatus{Claimed: s.claimed, Lag: lag, Shipped: s.shipped, Err: s.err}
}

// Wait returns when everything of which Synced was notified is shipped, when the Shipper has stopped for good, or when
// ctx is done. It also returns after a failed attempt, unless the hub could not be reached: that is retried.
func (s *Shipper) Wait(ctx context.Context) ShipStatus {
	return s.wait(ctx, func(status ShipStatus) bool { return isUnavailable(status.Err) })
}

// wait is Wait. retries reports whether to wait for another attempt after a failed one.
func (s *Shipper) wait(ctx context.Context, retries func(ShipStatus) bool) ShipStatus {
	s.mu.Lock()
	before := s.tried
	s.waiting++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting--
	}()
	s.wakeUp()
	for {
		s.mu.Lock()
		status, changed, tried := s.status(), s.changed, s.tried
		s.mu.Unlock()
		failed := status.Err != nil && tried > before
		if status.Lag == 0 || status.Final() || failed && !retries(status) {
			return status
		}
		select {
		case <-ctx.Done():
			return status
		case <-changed:
		}
	}
}

// isUnavailable reports whether an attempt failed because the hub did not answer, perhaps within the limit of claim.
func isUnavailable(err error) bool {
	return errors.As(err, new(*UnavailableError)) || errors.Is(err, context.DeadlineExceeded)
}

// Release waits as Wait does, and stops. If the session is not claimed, it waits for one attempt only: a machine
// without a connection does not delay the end of a session. If everything was shipped, it releases the claim. It
// returns the state after that, with the error of releasing.
func (s *Shipper) Release(ctx context.Context) ShipStatus {
	s.wait(ctx, func(status ShipStatus) bool { return status.Claimed && isUnavailable(status.Err) })
	s.stop()
	<-s.done
	status := s.Status()
	if status.Lag > 0 || status.Final() || s.writer == nil {
		return status
	}
	r, err := s.open()
	if err == nil {
		err = s.writer.Release(ctx, r)
		r.Close()
		s.keep(s.writer.Mark())
	}
	status.Err = err
	return status
}

// Stop stops without waiting. The session stays claimed.
func (s *Shipper) Stop() {
	s.stop()
	<-s.done
}

func (s *Shipper) run(ctx context.Context) {
	defer close(s.done)
	for {
		s.mu.Lock()
		upTo, row, lags := s.synced, s.row, s.synced.Seq > s.shipped.Seq
		s.mu.Unlock()
		if lags && !s.ship(ctx, upTo, row) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-s.retry():
		}
	}
}

// retry returns a channel for the time of the next attempt after a failed one, else nil.
func (s *Shipper) retry() <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err == nil:
		return nil
	case s.waiting > 0:
		return time.After(retryWhenWaited)
	}
	return time.After(retryAfter)
}

// ship ships the journal up to a position. It returns false if the Shipper has to stop.
func (s *Shipper) ship(ctx context.Context, upTo journal.Position, row any) bool {
	err := s.tryShip(ctx, upTo, row)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || ctx.Err() == nil {
		s.err = err
	}
	s.claimed = s.writer != nil && s.writer.Claimed()
	s.tried++
	if s.writer != nil {
		s.shipped = s.writer.At()
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return ctx.Err() == nil && !s.status().Final()
}

func (s *Shipper) tryShip(ctx context.Context, upTo journal.Position, row any) (err error) {
	if s.writer == nil {
		if s.writer, err = s.claim(ctx); err != nil {
			s.writer = nil
			return err
		}
	}
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	s.writer.SetRow(row)
	err = s.writer.Ship(ctx, r, upTo)
	s.keep(s.writer.Mark())
	return err
}
