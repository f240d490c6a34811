package api

import (
	"bytes"
	"context"
	"net/http"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/chart"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A timelineJSON is the chart of a session.
type timelineJSON struct {
	HTML   string `json:"html"`
	To     uint64 `json:"to"`               // the last event
	Notice string `json:"notice,omitempty"` // why the rest of the session cannot be read
}

// timelines are the charts that were requested last. Reading a session continues where it ended.
type timelines struct {
	mu   sync.Mutex
	kept []*timeline // the newest last
}

// maxTimelines is the number of charts that are kept.
const maxTimelines = 4

// A timeline is the chart of a session up to a position.
type timeline struct {
	key catalog.Key

	mu      sync.Mutex // is held while the session is read
	at      journal.Position
	rows    projection.Timeline // that are not final
	members *page.Members       // has the colours; nil: nothing was read
	chart   chart.Chart         // of the final rows
}

// of returns the timeline of a session.
func (t *timelines) of(key catalog.Key) *timeline {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, kept := range t.kept {
		if kept.key == key {
			t.kept = append(append(t.kept[:i:i], t.kept[i+1:]...), kept)
			return kept
		}
	}
	fresh := &timeline{key: key}
	t.kept = append(t.kept, fresh)
	if len(t.kept) > maxTimelines {
		t.kept = t.kept[1:]
	}
	return fresh
}

// timeline returns the chart of a session as it is now.
func (d *Server) timeline(r *http.Request) (timelineJSON, error) {
	key, err := d.key(r)
	if err != nil {
		return timelineJSON{}, err
	}
	dir := d.app.Catalog.At(key.Dir)
	reader, err := dir.Journals().Reader(key.ID, journal.Position{})
	if err != nil {
		return timelineJSON{}, err
	}
	defer reader.Close()
	reader.StopWith(r.Context())
	t := d.timelines.of(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	err = t.read(r.Context(), reader)
	if r.Context().Err() != nil {
		return timelineJSON{}, r.Context().Err()
	}
	answer := timelineJSON{To: t.at.Seq}
	if err != nil {
		answer.Notice = d.app.Render(view.ReadFailure(catalog.Session{ID: key.ID}, err))
	}
	whole := t.chart.Clone()
	for _, row := range t.rows.Rows {
		whole.Add(row)
	}
	secrets := d.redactor(app.TeamSource(dir, key.ID))
	var html bytes.Buffer
	err = whole.HTML(&html, t.members.ColorClass, secrets.Text)
	answer.HTML = html.String()
	return answer, err
}

// read reads what follows. A journal that was replaced is read again.
func (t *timeline) read(ctx context.Context, r *journal.Reader) error {
	if !r.Holds(t.at) {
		t.at, t.rows, t.chart, t.members = journal.Position{}, projection.Timeline{}, chart.Chart{}, nil
	}
	if t.members == nil {
		first := conversation.Until(ctx, r.ScanAfter(journal.Position{}))
		team, err := conversation.Team(projection.Decoded(first))
		if err != nil {
			return err
		}
		t.members = page.NewMembers(team)
	}
	for e, err := range conversation.Until(ctx, r.ScanAfter(t.at)) {
		if err != nil {
			return err
		}
		t.rows.Apply(e)
		t.at = r.Position()
		if final := t.rows.Final(); final >= 64 {
			for _, row := range t.rows.Rows[:final] {
				t.chart.Add(row)
			}
			t.rows.Forget()
		}
	}
	return nil
}
