package transfer

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// An export decodes each event once, besides the first one, which names the file of the team's secrets. A snapshot begins
// with what is known at the end of the session, and a transcript names its agents if several spoke: the former decodes
// the messages again, the latter what it has besides streamed text.
func TestExportsDecodeEachEventOnce(t *testing.T) {
	home := t.TempDir()
	payloads, _ := conversationtest.AtOnce(4)
	dir := journal.NewDir(filepath.Join(home, "sessions", "kitchen"), journal.Options{})
	if err := conversationtest.Write(dir, apptest.AliceID, payloads...); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := a.Catalog.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	texts, messages := 0, 0
	for _, p := range payloads {
		switch p.(type) {
		case projection.TurnText:
			texts++
		case projection.MessageAppended:
			messages++
		}
	}
	again := map[string]int{"snapshot": messages}
	for _, format := range []string{"claude", "codex", "gemini"} {
		again[format] = len(payloads) - texts
	}
	for format := range formats {
		before := projection.Decodings()
		e := newExporter(a, []catalog.Session{session})
		if _, err := (&Export{Format: format}).export(t.Context(), e, session); err != nil {
			t.Fatal(err)
		}
		if got, want := projection.Decodings()-before, uint64(1+len(payloads)+again[format]); got != want {
			t.Errorf("%s: %d decodings of %d events, want %d", format, got, len(payloads), want)
		}
	}
}
