package sessions

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

func TestInterruptEndsReadingWithExitCode130(t *testing.T) {
	home := t.TempDir()
	if _, err := (catalogtest.Sessions{Count: 3}).Fill(filepath.Join(home, "sessions")); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	latest, err := a.Find(t.Context(), "latest")
	if err != nil {
		t.Fatal(err)
	}
	r := view.NewReplay(a, latest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		run  func() error
	}{
		{"list", func() error { return (&List{Limit: 20}).Print(ctx, a, io.Discard) }},
		{"search", func() error { return (&Search{}).Search(ctx, a, io.Discard, search.Query{Text: "a"}) }},
		{"replay", func() error { return printSnapshot(ctx, io.Discard, r, view.Span{}) }},
		{"fork", func() error { _, err := ForkSession(ctx, a, latest, ""); return err }},
		{"tail", func() error { return (&Tail{N: 10}).Print(ctx, a, a.Catalog.At(latest.Dir()), latest.ID) }},
		{"tail --all", func() error { return (&Tail{N: 10}).printAll(ctx, a) }},
	} {
		err := test.run()
		if code := app.CodeOf(err); code != app.ExitInterrupted || app.Explain(err).Text != "" {
			t.Errorf("%s: got exit code %d, error %v", test.name, code, err)
		}
	}
}
