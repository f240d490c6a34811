package main

import (
	"iter"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// redactor replaces the secrets in what a command writes outside of a chat; nil, which replaces
// nothing, when the configuration says so. Without one that can be read they are replaced.
func (a *app) redactor(variables []redact.Variable) *redact.Redactor {
	if c, err := readConfig(filepath.Join(a.home, "config.json")); err == nil && c.keepSecrets() {
		return nil
	}
	return redact.New(variables)
}

// sayReplaced says what was replaced.
func (a *app) sayReplaced(r *redact.Redactor) {
	if found := r.Found(); len(found) > 0 {
		a.notice(secretsReplacedText(redact.Counted(found), len(found)))
	}
}

// titleWithoutSecrets is a title as it may be kept.
func (a *app) titleWithoutSecrets(title string) string {
	r := a.redactor(team.InheritedSecrets())
	defer a.sayReplaced(r)
	return r.Text(title)
}

// takeSecrets replaces the secrets in a session of another program: those that have a shape,
// since whose environment it came from is not known, and a later save of it has to give the
// same.
func (a *app) takeSecrets(s *interchange.Session) {
	r := a.redactor(nil)
	defer a.sayReplaced(r)
	for i, m := range s.Messages {
		s.Messages[i].Content = r.Text(m.Content)
	}
	for _, turn := range s.Turns {
		for i, tool := range turn.Tools {
			turn.Tools[i].Input, turn.Tools[i].Output, turn.Tools[i].Error = r.JSON(tool.Input), r.Text(tool.Output), r.Text(tool.Error)
		}
	}
	s.Title = r.Text(s.Title)
	if s.Task != nil {
		task := r.Text(*s.Task)
		s.Task = &task
	}
}

// eventsWithout replaces the secrets in events.
func eventsWithout(secrets *redact.Redactor, events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		replies := map[string]*redact.Stream{}
		for event, err := range events {
			if err == nil {
				event.Data = dataWithout(secrets, event, replies)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// dataWithout is the payload of an event without secrets. A reply that is written down
// while it comes is in pieces, which may cut a secret: what may become one is held
// back, and goes with the next piece or, at its end, nowhere. A whole reply is in its
// message, and what is left of a broken one in the end of its turn.
func dataWithout(secrets *redact.Redactor, event journal.Event, replies map[string]*redact.Stream) []byte {
	payload, err := projection.Decode(event)
	if err != nil {
		return secrets.JSON(event.Data)
	}
	switch p := payload.(type) {
	case projection.TurnText:
		if replies[p.TurnID] == nil {
			replies[p.TurnID] = secrets.Stream()
		}
		if text := replies[p.TurnID].Next(p.Text); text != p.Text {
			p.Text = text
			return projection.Record(event.Time, p).Data
		}
		return event.Data
	case projection.TurnEnded:
		delete(replies, p.TurnID)
	case projection.MessageAppended:
		if raw := secrets.Text(string(p.Raw)); raw != string(p.Raw) { // base64 hides them
			p.Raw = []byte(raw)
			event.Data = projection.Record(event.Time, p).Data
		}
	}
	return secrets.JSON(event.Data)
}

// snapshotWithout replaces the secrets in a snapshot.
func snapshotWithout(secrets *redact.Redactor, s *projection.Snapshot) {
	for i, m := range s.Context.Messages {
		s.Context.Messages[i].Content = secrets.Text(m.Content)
	}
	if s.Context.TeamTask != nil {
		task := secrets.Text(*s.Context.TeamTask)
		s.Context.TeamTask = &task
	}
	if len(s.Context.Messages) > 0 { // the old one may end in half a secret
		s.Metadata.Summary = projection.SummaryText(len(s.Context.Messages), projection.Preview(s.Context.Messages[0].Content))
	}
}
