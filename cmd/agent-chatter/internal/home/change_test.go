package home

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

func TestFailedChangeReleasesTheClaim(t *testing.T) {
	w := newWorld(t)
	w.write()
	if err := w.remote.Refresh(t.Context(), w.here, id); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no space left")
	problem, err := w.remote.Change(t.Context(), w.dir, id, func() error { return failure })
	if problem != nil || !errors.Is(err, failure) {
		t.Errorf("the problem is %v, the error %v", problem, err)
	}
	row, err := w.there.Hub.Row(t.Context(), hub.Session{Team: "kitchen", ID: id})
	if err != nil || row.Claim == nil || row.Claim.Host == "mill" || !row.Claim.Released {
		t.Errorf("the claim is %+v: %v", row.Claim, err)
	}
}

func TestTextIsReportedOnce(t *testing.T) {
	c := &Connection{}
	if !c.First("one") || !c.First("two") || c.First("one") {
		t.Error("a text was reported twice, or not at all")
	}
}
