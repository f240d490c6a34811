package chat

import (
	"context"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// slashSearch is sessions search, without its flags.
func (t *talk) slashSearch(text string) error {
	if text == "" {
		t.refuse("/search TEXT: what shall be looked for?")
		return nil
	}
	find := &sessions.Search{Text: text, Limit: 20, Output: "text"}
	t.judge(find.Search(context.Background(), t.app, t.results(), search.Query{Text: text}))
	return nil
}
