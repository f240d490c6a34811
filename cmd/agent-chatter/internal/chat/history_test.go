package chat

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// newCatalog returns a Catalog of sessions with messages of a person and an agent, the oldest session first.
func newCatalog(t *testing.T, sessions ...[]string) *catalog.Catalog {
	t.Helper()
	root := t.TempDir()
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	ada := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for i, messages := range sessions {
		id := []string{apptest.AliceID, apptest.BobID}[i]
		log, err := journal.NewDir(filepath.Join(root, "review"), journal.Options{}).Create(id)
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Hour)
		records := []journal.Record{projection.Record(at, projection.SessionCreated{
			Format: projection.Format, SessionID: id, Team: projection.Team{ID: "review", Name: "review"},
		})}
		for _, text := range messages {
			records = append(records, projection.Record(at, projection.NewMessage("m", at, you, text, nil)),
				projection.Record(at, projection.NewMessage("m", at, ada, "reply to "+text, nil)))
		}
		if _, err := log.Append(records...); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return catalog.New(root, journal.Options{})
}

// numbers returns a message for each number from first to last, in either direction.
func numbers(first, last int) (messages []string) {
	for n := min(first, last); n <= max(first, last); n++ {
		messages = append(messages, fmt.Sprint("message ", n))
	}
	if first > last {
		slices.Reverse(messages)
	}
	return messages
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name     string
		sessions [][]string
		text     string
		want     []string
		own      string
	}{
		{"the newest first", [][]string{{"message one", "two", "message three"}}, "message", []string{"message three", "message one"}, ""},
		{"the newest session first", [][]string{{"message one", "message two"}, {"message three", "message four"}}, "message",
			[]string{"message four", "message three", "message two", "message one"}, ""},
		{"each once", [][]string{{"message one", "message two", "message one"}, {"message two"}}, "message",
			[]string{"message two", "message one"}, ""},
		{"nothing", [][]string{{"message one"}}, "two", nil, ""},
		{"as many as are returned", [][]string{numbers(1, maxFound)}, "message", numbers(maxFound, 1), ""},
		{"more than are returned", [][]string{numbers(1, maxFound+1)}, "message", numbers(maxFound+1, 2), ""},
		{"more in two sessions", [][]string{numbers(1, 30), numbers(31, 60)}, "message", numbers(60, 11), ""},
		{"as many in the newest session", [][]string{{"message 0"}, numbers(1, maxFound)}, "message", numbers(maxFound, 1), ""},
		{"the own session first", [][]string{{"message one"}, {"message two", "message one"}}, "message",
			[]string{"message one", "message two"}, apptest.AliceID},
	} {
		h := history{catalog: newCatalog(t, tt.sessions...), own: tt.own}
		if got := h.find(t.Context(), tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	h := history{catalog: newCatalog(t, []string{"message one"})}
	if got := h.find(cancelled, "message"); got != nil {
		t.Errorf("after the cancellation: %q", got)
	}
}
