package hub_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
)

var noAnswer = &hub.UnavailableError{Err: errors.New("no answer")}

// shipper returns a Shipper of a session of one event whose claim fails as fail says.
func shipper(t *testing.T, fail func() error) (*hubtest.Machine, *hub.Shipper) {
	t.Helper()
	return shipperOn(t, &hubtest.Memory{}, fail)
}

func shipperOn(t *testing.T, e hub.Engine, fail func() error) (*hubtest.Machine, *hub.Shipper) {
	t.Helper()
	ann := hubtest.NewMachine(t, e, session, "ann")
	ann.Write(t, "one")
	claim := func(ctx context.Context) (*hub.Writer, error) {
		if err := fail(); err != nil {
			return nil, err
		}
		return ann.Hub.Claim(ctx, session, ann.Reader(t), hub.Mark{}, false, ann.WriteMark)
	}
	open := func() (hub.Local, error) { return ann.Dir.Reader(session.ID, journal.Position{}) }
	s := hub.NewClaimingShipper(claim, open, func(m hub.Mark) { ann.Keep(t, m) }, journal.Position{})
	t.Cleanup(s.Stop)
	s.Synced(ann.End(t), "row")
	return ann, s
}

// TestWaitOutlastsFailedAttempts waits while the hub cannot be reached, as during the election of a leader.
func TestWaitOutlastsFailedAttempts(t *testing.T) {
	failures := 3
	_, s := shipper(t, func() error {
		if failures--; failures >= 0 {
			return noAnswer
		}
		return nil
	})
	if status := s.Wait(t.Context()); status.Lag > 0 || status.Err != nil || !status.Claimed {
		t.Errorf("%+v", status)
	}
}

func TestWaitEndsWithARefusal(t *testing.T) {
	refusal := &hub.RefusedError{Reason: "permission is missing"}
	_, s := shipper(t, func() error { return refusal })
	if status := s.Wait(t.Context()); status.Lag != 1 || status.Err != refusal {
		t.Errorf("%+v", status)
	}
}

// A machine without a connection does not delay the end of a session that it could not claim.
func TestReleaseOfUnclaimedSessionDoesNotWait(t *testing.T) {
	_, s := shipper(t, func() error { return noAnswer })
	if status := s.Release(t.Context()); status.Lag != 1 || status.Err != noAnswer || status.Claimed {
		t.Errorf("%+v", status)
	}
}

func TestReleaseReportsItsErrors(t *testing.T) {
	ann, s := shipper(t, func() error { return nil })
	if status := s.Wait(t.Context()); status.Err != nil {
		t.Fatal(status.Err)
	}
	ann.Close()
	if err := trash.Of(ann.Dir).Move(t.Context(), session.ID); err != nil {
		t.Fatal(err)
	}
	if status := s.Release(t.Context()); !errors.Is(status.Err, journal.ErrNotFound) {
		t.Errorf("the journal cannot be opened: %+v", status)
	}
}

// TestReleaseReportsTheLastAttempt stops an attempt that is under way, and succeeds nevertheless.
func TestReleaseReportsTheLastAttempt(t *testing.T) {
	slow := &slowEngine{Engine: &hubtest.Memory{}, began: make(chan bool)}
	ann, s := shipperOn(t, slow, func() error { return nil })
	if status := s.Wait(t.Context()); status.Err != nil {
		t.Fatal(status.Err)
	}
	ann.Write(t, "two")
	slow.slow.Store(true)
	s.Synced(ann.End(t), "row")
	<-slow.began
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if status := s.Release(ctx); status.Lag > 0 || status.Shipped.Seq != 2 {
		t.Errorf("%+v", status)
	}
}

// slowEngine stores messages when the context of a call is done.
type slowEngine struct {
	hub.Engine
	slow  atomic.Bool
	began chan bool
}

func (e *slowEngine) Publish(
	ctx context.Context, s hub.Session, last hub.Revision, m hub.Message,
) (hub.Revision, error) {
	if e.slow.Swap(false) {
		close(e.began)
		<-ctx.Done()
		ctx = context.WithoutCancel(ctx)
	}
	return e.Engine.Publish(ctx, s, last, m)
}
