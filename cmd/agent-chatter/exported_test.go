package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestWhatIsSaidDuringAnExportIsNotHalfOfIt(t *testing.T) {
	home := t.TempDir()
	crashedSession(t, home)
	a := &app{home: home, stdout: io.Discard, stderr: io.Discard}
	session, _, err := a.catalog().Find(aliceID)
	if err != nil {
		t.Fatal(err)
	}
	for format := range formats {
		x, err := newExport(a, session).open(session)
		if err != nil {
			t.Fatal(err)
		}
		var before, after strings.Builder
		if err := formats[format](x, &before); err != nil {
			t.Fatal(err)
		}
		you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
		if err := a.catalog().At(session.Dir()).Append(session.ID, projection.Record(now(), projection.NewMessage("m5", now(), you, "and five", nil))); err != nil {
			t.Fatal(err)
		}
		if err := formats[format](x, &after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before.String(), after.String()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", format, diff)
		}
	}
}

func TestASecretInTwoPiecesOfAReplyDoesNotLeave(t *testing.T) {
	const secret = "made-up-token-4711"
	e := &export{redactor: redact.New([]redact.Variable{{Name: "DEPLOY_TOKEN", Value: secret}})}
	for cut := range len(secret) {
		var left strings.Builder
		events := e.clean(func(yield func(journal.Event, error) bool) {
			for _, text := range []string{"it is " + secret[:cut], secret[cut:] + ", I say", " and more of it all"} {
				r := projection.Record(now(), projection.TurnText{TurnID: "1", Text: text})
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

func TestASecretInBytesThatAreNoTextDoesNotLeave(t *testing.T) {
	const secret = "made-up-token-4711"
	e := &export{redactor: redact.New([]redact.Variable{{Name: "DEPLOY_TOKEN", Value: secret}})}
	said := projection.NewMessage("1", now(), projection.Speaker{ID: "a", Name: "a", DisplayName: "A", Type: "human"}, "\xff "+secret, nil)
	if said.Raw == nil {
		t.Fatal("the exact bytes are not kept")
	}
	r := projection.Record(now(), said)
	p, err := projection.Decode(journal.Event{Type: r.Type, Data: e.data(journal.Event{Type: r.Type, Data: r.Data}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	clean := p.(projection.MessageAppended)
	if strings.Contains(string(clean.Raw), secret) || strings.Contains(clean.Message.Content, secret) {
		t.Errorf("%q, %q", clean.Raw, clean.Message.Content)
	}
}
