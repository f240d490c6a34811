package coordinator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A turn of a panel is cancelled alone: the others continue, and only it is rerun.
func TestATurnIsCancelled(t *testing.T) {
	cancelled := make(chan bool)
	f, p := panel(t, &store.Memory{}, map[string]turnFunc{
		"ada": waits("a part"),
		"bob": calls(func() { <-cancelled }, says("from bob")),
	})
	f.listener.onText = func() {
		done := make(chan bool)
		go func() { done <- f.CancelTurn("ada") }() // from another goroutine
		if !<-done {
			t.Error("the turn does not run")
		}
		f.listener.onText = nil
	}
	f.listener.onEvent = func(e coordinator.Event) {
		if _, ok := e.Payload.(projection.TurnEnded); ok {
			if f.listener.onEvent = nil; f.CancelTurn("ada") {
				t.Error("the turn has ended, and was cancelled once more")
			}
			close(cancelled)
		}
	}
	err := f.Say(context.Background(), "", "[NEXT: ada | bob] go")
	var turnErr *coordinator.TurnError
	if !errors.As(err, &turnErr) || turnErr.Member.ID != "ada" || turnErr.Reason != projection.Cancelled {
		t.Fatal(err)
	}
	ends := payloads[projection.TurnEnded](t, f.recorder.appended)
	if len(ends) != 2 || ends[0].FinishReason != projection.Cancelled || ends[0].Partial != "a part" ||
		ends[1].FinishReason != projection.Done {
		t.Errorf("the turns ended as %+v", ends)
	}
	p.plays["ada"] = says("from ada")
	if err := f.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"You: go", "Bob: from bob", "Ada: from ada"}, f.texts()); diff != "" {
		t.Error(diff)
	}
	if f.CancelTurn("ada") {
		t.Error("no turn runs, and one was cancelled")
	}
}
