package maintain

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestVerifyStopsWhenInterrupted(t *testing.T) {
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := verifySession(t.Context(), a, a.Catalog.At(s.Dir()), s, false); err != nil || !v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, chainOnly := range []bool{false, true} {
		_, err := verifySession(ctx, a, a.Catalog.At(s.Dir()), s, chainOnly)
		if !errors.Is(err, context.Canceled) || app.CodeOf(err) != app.ExitInterrupted {
			t.Errorf("chain only %v: %v", chainOnly, err)
		}
	}
}
