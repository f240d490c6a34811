package page

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// htmlOf returns the HTML of each item, as a page shows them.
func htmlOf(t rapid.TB, items []*conversation.Item) (shown []string) {
	t.Helper()
	members := NewMembers(conversationtest.Team().Members)
	for _, item := range items {
		var b bytes.Buffer
		if err := members.HTML(&b, item, 0); err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b.String())
	}
	return shown
}

// drawReader returns a reader of a drawn session.
func drawReader(t *rapid.T, dir string) *journal.Reader {
	const id = "01KAJ000000000000000000000"
	texts := []string{"Boil the water.", "One.\n\n- two\n", "", "\n ", "[NEXT: bo] go on", strings.Repeat("many words ", 60)}
	payloads := append([]projection.Payload{projection.SessionCreated{Format: projection.Format, SessionID: id, Team: conversationtest.Team()}},
		conversationtest.Draw(t, texts)...)
	s := &session{}
	s.add(payloads...)
	var at journal.Position
	var lines []byte
	for _, e := range s.events {
		next, after, err := at.Next(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
		if err != nil {
			t.Fatal(err)
		}
		at, lines = after, append(append(lines, next.Line()...), '\n')
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := journal.NewDir(dir, journal.Options{}).Reader(id, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// collected adds events to a chunk.
func collected(c *conversation.Chunk, events iter.Seq2[projection.Event, error]) iter.Seq2[projection.Event, error] {
	return func(yield func(projection.Event, error) bool) {
		for e, err := range events {
			e.Data = slices.Clone(e.Data)
			if c.Add(e); !yield(e, err) {
				return
			}
		}
	}
}

// withoutEnds returns HTML without the last events of items: a document does not continue an open one.
func withoutEnds(items []string) (without []string) {
	for _, html := range items {
		without = append(without, regexp.MustCompile(`data-end="\d+"`).ReplaceAllString(html, ""))
	}
	return without
}

// The items of a session do not depend on the chunks in which they are read, nor on whether a document has them.
func TestItemsOfChunksAreThoseOfTheSession(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(t *rapid.T) {
		r := drawReader(t, dir)
		defer r.Close()
		var whole conversation.Chunk
		var document []*conversation.Item
		var c conversation.Conversation
		for i, err := range c.Read(collected(&whole, projection.Decoded(r.ScanAfter(journal.Position{})))) {
			if err != nil {
				t.Fatal(err)
			}
			document = append(document, i)
		}
		want := htmlOf(t, whole.Items(conversationTeam))
		if diff := cmp.Diff(withoutEnds(want), withoutEnds(htmlOf(t, document))); diff != "" {
			t.Fatalf("the document (-page +document):\n%s", diff)
		}
		end, err := r.End()
		if err != nil {
			t.Fatal(err)
		}
		least := rapid.IntRange(0, 3000)
		var forward, backward []string
		for next := (projection.Event{Event: journal.Event{Seq: 1}}); next.Seq > 0; {
			var c conversation.Chunk
			at, err := r.Find(next.Seq)
			if err == nil {
				c, next, err = conversation.After(t.Context(), r, at, least.Draw(t, "least"), 0)
			}
			if err != nil || len(c.Events) == 0 {
				t.Fatalf("%d events, %v", len(c.Events), err)
			}
			c.FollowOpen(t.Context(), r)
			forward = append(forward, htmlOf(t, c.Items(conversationTeam))...)
		}
		for at := end; at.Seq > 0; {
			c, err := conversation.Before(t.Context(), r, at, least.Draw(t, "least"))
			if err != nil || len(c.Events) == 0 {
				t.Fatalf("%d events, %v", len(c.Events), err)
			}
			c.FollowOpen(t.Context(), r)
			backward, at = slices.Concat(htmlOf(t, c.Items(conversationTeam)), backward), c.From
		}
		if diff := cmp.Diff(want, forward); diff != "" {
			t.Fatalf("forwards (-session +chunks):\n%s", diff)
		}
		if diff := cmp.Diff(want, backward); diff != "" {
			t.Fatalf("backwards (-session +chunks):\n%s", diff)
		}
	})
}

var conversationTeam = NewMembers(conversationtest.Team().Members).Speakers()
