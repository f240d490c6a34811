package projection

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// install adds upcasters to a type of event until the test ends.
func install(t *testing.T, eventType string, steps ...upcaster) {
	t.Helper()
	before, was := upcasters[eventType]
	upcasters[eventType] = steps
	t.Cleanup(func() {
		if delete(upcasters, eventType); was {
			upcasters[eventType] = before
		}
	})
}

// becomes returns an upcaster that prepends the new version to the text.
func becomes(version string) upcaster {
	return func(data json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.Replace(string(data), `"text":"`, `"text":"`+version+` `, 1)), nil
	}
}

func TestUpcastersRunInOrder(t *testing.T) {
	install(t, "turn.text", becomes("2"), becomes("3"))
	for data, want := range map[string]string{
		`{"turnId":"t","text":"first"}`:           "3 2 first",
		`{"v":1,"turnId":"t","text":"said so"}`:   "3 2 said so",
		`{"v":2,"turnId":"t","text":"second"}`:    "3 second",
		`{"turnId":"t","text":"third","v" : 3 }`:  "third",
		`{"turnId":"t","text":"x","m":{"v":3}}`:   "3 2 x",
		`{"turnId":"t","text":"x","other":"v:3"}`: "3 2 x",
	} {
		p, err := Decode(journal.Event{Type: "turn.text", Data: json.RawMessage(data)})
		if err != nil {
			t.Errorf("%s: %v", data, err)
			continue
		}
		if got := p.(TurnText).Text; got != want {
			t.Errorf("%s is read as %q, not %q", data, got, want)
		}
	}
	if _, err := Decode(journal.Event{Type: "turn.text", Data: json.RawMessage(`{"v":4}`)}); !errors.Is(err, ErrNewer) {
		t.Errorf("version 4 of 3: %v", err)
	}
	if _, err := Decode(journal.Event{Type: "turn.started", Data: json.RawMessage(`{"v":2}`)}); !errors.Is(
		err,
		ErrNewer,
	) {
		t.Errorf("another type: %v", err)
	}
}

func TestUpcastDoesNotChangeTheEvent(t *testing.T) {
	install(t, "turn.text", becomes("2"))
	e := journal.Event{Type: "turn.text", Data: json.RawMessage(`{"text":"first"}`)}
	if _, err := Decode(e); err != nil {
		t.Fatal(err)
	}
	if string(e.Data) != `{"text":"first"}` {
		t.Errorf("it is %s now", e.Data)
	}
}

func TestFailedUpcastIsReported(t *testing.T) {
	broken := errors.New("no such field")
	install(t, "turn.text", becomes("2"), func(json.RawMessage) (json.RawMessage, error) { return nil, broken })
	e := journal.Event{Seq: 5, Type: "turn.text", Data: json.RawMessage(`{}`)}
	if _, err := Decode(e); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "event 5, turn.text: upcast from version 2") {
		t.Errorf("%v", err)
	}
	var s State
	if s.Apply(e); s.Row.Invalid != 1 || s.Newer {
		t.Errorf("%+v", s)
	}
}
