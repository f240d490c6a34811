package app

import (
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
		events := EventsWithout(secrets, func(yield func(journal.Event, error) bool) {
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

func TestSecretInInvalidUTF8IsRedacted(t *testing.T) {
	const secret = "made-up-token-4711"
	secrets := redact.New([]redact.Variable{{Name: "DEPLOY_TOKEN", Value: secret}})
	said := projection.NewMessage("1",
		time.Now(), projection.Speaker{ID: "a", Name: "a", DisplayName: "A", Type: "human"}, "\xff "+secret, nil)
	if said.Raw == nil {
		t.Fatal("the exact bytes are not kept")
	}
	r := projection.Record(time.Now(), said)
	p, err := projection.Decode(
		journal.Event{Type: r.Type, Data: dataWithout(secrets, journal.Event{Type: r.Type, Data: r.Data}, nil)},
	)
	if err != nil {
		t.Fatal(err)
	}
	clean := p.(projection.MessageAppended)
	if strings.Contains(string(clean.Raw), secret) || strings.Contains(clean.Message.Content, secret) {
		t.Errorf("%q, %q", clean.Raw, clean.Message.Content)
	}
}
