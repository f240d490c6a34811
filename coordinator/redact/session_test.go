package redact_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestSecretInTwoChunksIsRedacted(t *testing.T) {
	const secret = "made-up-token-4711"
	secrets := redact.New([]redact.Variable{{Name: "DEPLOY_TOKEN", Value: secret}})
	for cut := range len(secret) {
		var left strings.Builder
		events := secrets.Events(func(yield func(journal.Event, error) bool) {
			for _, text := range []string{"it is " + secret[:cut], secret[cut:] + ", I say", " and more of it all"} {
				r := projection.Record(time.Now(), projection.TurnText{TurnID: "1", Text: text})
				if !yield(journal.Event{Type: r.Type, Data: r.Data}, nil) {
					return
				}
			}
		})
		for event, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			p, err := projection.Decode(event)
			if err != nil {
				t.Fatal(err)
			}
			left.WriteString(p.(projection.TurnText).Text)
		}
		if want := "it is [REDACTED:DEPLOY_TOKEN], I say and more of it all"; left.String() != want {
			t.Errorf("cut at %d: %q, want %q", cut, left.String(), want)
		}
	}
}

func TestSnapshotIsRedacted(t *testing.T) {
	const secret = "made-up-token-4711"
	secrets := redact.New([]redact.Variable{{Name: "DEPLOY_TOKEN", Value: secret}})
	task := "deploy with " + secret
	s := &projection.Snapshot{}
	s.Metadata.Summary = "made-up-tok"
	secrets.Snapshot(s)
	if s.Context.TeamTask != nil || s.Metadata.Summary != "made-up-tok" {
		t.Errorf("without messages: %v, %q", s.Context.TeamTask, s.Metadata.Summary)
	}
	s.Context.TeamTask = &task
	s.Context.Messages = append(s.Context.Messages, projection.Message{Content: "it is " + secret})
	secrets.Snapshot(s)
	want := projection.Row{MessageCount: 1, Preview: "it is [REDACTED:DEPLOY_TOKEN]"}.Summary()
	if got := s.Context.Messages[0].Content; got != "it is [REDACTED:DEPLOY_TOKEN]" || s.Metadata.Summary != want {
		t.Errorf("the message is %q, the summary %q, want %q", got, s.Metadata.Summary, want)
	}
	if got := *s.Context.TeamTask; got != "deploy with [REDACTED:DEPLOY_TOKEN]" || !strings.HasSuffix(task, secret) {
		t.Errorf("the task is %q, it was %q", got, task)
	}
}

// After an error nothing follows.
func TestRedactedEventsEndWithTheirError(t *testing.T) {
	failed := errors.New("it failed")
	var got []error
	for _, err := range redact.New(nil).Events(func(yield func(journal.Event, error) bool) {
		_ = yield(journal.Event{Type: "x"}, nil) && yield(journal.Event{}, failed) && yield(journal.Event{Type: "y"}, nil)
	}) {
		got = append(got, err)
	}
	if !slices.Equal(got, []error{nil, failed}) {
		t.Errorf("got %v", got)
	}
}

func TestSecretInInvalidUTF8IsRedacted(t *testing.T) {
	const secret = "made-up-token-4711"
	secrets := redact.New([]redact.Variable{{Name: "DEPLOY_TOKEN", Value: secret}})
	said := projection.NewMessage("1",
		time.Now(), projection.Speaker{ID: "a", Name: "a", DisplayName: "A", Type: "human"}, "\xff "+secret, nil)
	if said.Raw == nil {
		t.Fatal("the exact bytes are not kept")
	}
	r := projection.Record(time.Now(), said)
	recorded := projection.DecodeEvent(journal.Event{Type: r.Type, Data: r.Data})
	clean := secrets.Session()(recorded).Payload.(projection.MessageAppended)
	if strings.Contains(string(clean.Raw), secret) || strings.Contains(clean.Message.Content, secret) {
		t.Errorf("%q, %q", clean.Raw, clean.Message.Content)
	}
}
