package projection_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/projection"
)

func TestLegacySpeakersAreDecoded(t *testing.T) {
	for _, test := range []struct {
		name, data string
		want       projection.Speaker
	}{
		{"current", `{"id":"a","name":"ada","displayName":"Ada","type":"ai"}`,
			projection.Speaker{ID: "a", Name: "ada", DisplayName: "Ada", Type: "ai"}},
		{"with a title", `{"roleId":"a","roleName":"ada","roleTitle":"Ada, engineer","type":"ai"}`,
			projection.Speaker{ID: "a", Name: "ada", DisplayName: "Ada, engineer", Type: "ai"}},
		{"without a title", `{"roleId":"a","roleName":"ada","type":"human"}`,
			projection.Speaker{ID: "a", Name: "ada", DisplayName: "ada", Type: "human"}},
		{"with a null title", `{"roleId":"a","roleName":"ada","roleTitle":null,"type":"human"}`,
			projection.Speaker{ID: "a", Name: "ada", DisplayName: "ada", Type: "human"}},
		{"with an empty title", `{"roleId":"a","roleName":"ada","roleTitle":"","type":"human"}`,
			projection.Speaker{ID: "a", Name: "ada", Type: "human"}},
		{"the system", `{"roleId":"system","roleName":"System","type":"system"}`,
			projection.Speaker{ID: "system", Name: "System", DisplayName: "System", Type: "system"}},
		{"both: the current fields win",
			`{"id":"a","name":"ada","displayName":"Ada","roleId":"b","roleName":"bo","roleTitle":"Bo","type":"ai"}`,
			projection.Speaker{ID: "a", Name: "ada", DisplayName: "Ada", Type: "ai"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := []byte(test.data)
			var got projection.Speaker
			if err := json.Unmarshal(input, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(input) != test.data {
				t.Error("decoding changed the data")
			}
			if written := string(marshal(t, got)); strings.Contains(written, "role") {
				t.Errorf("written as %s", written)
			}
		})
	}
}

func TestLegacyAddresseesAreDecoded(t *testing.T) {
	a, ada := "a", "ada"
	for _, test := range []struct {
		name, data string
		want       projection.Addressee
	}{
		{
			"current", `{"identifier":"Ada","memberId":"a","memberName":"ada"}`,
			projection.Addressee{Identifier: "Ada", MemberID: &a, MemberName: &ada},
		},
		{
			"legacy", `{"identifier":"Ada","roleId":"a","roleName":"ada"}`,
			projection.Addressee{Identifier: "Ada", MemberID: &a, MemberName: &ada},
		},
		{"no member", `{"identifier":"x","memberId":null,"memberName":null}`, projection.Addressee{Identifier: "x"}},
		{
			"no member, legacy", `{"identifier":"x","roleId":null,"roleName":null}`,
			projection.Addressee{Identifier: "x"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := []byte(test.data)
			var got projection.Addressee
			if err := json.Unmarshal(input, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(input) != test.data {
				t.Error("decoding changed the data")
			}
			if written := string(marshal(t, got)); strings.Contains(written, "role") {
				t.Errorf("written as %s", written)
			}
		})
	}
}

func TestMalformedSpeakersAndAddresseesAreErrors(t *testing.T) {
	for _, data := range []string{`"ada"`, `{"id":5}`, `{"roleId":[]}`, `[]`} {
		if err := json.Unmarshal([]byte(data), &projection.Speaker{}); err == nil {
			t.Errorf("%s is a speaker", data)
		}
	}
	for _, data := range []string{`"ada"`, `{"memberId":5}`, `{"roleId":[]}`, `[]`} {
		if err := json.Unmarshal([]byte(data), &projection.Addressee{}); err == nil {
			t.Errorf("%s is an addressee", data)
		}
	}
}

func TestLegacyMessagesCountForTheirSpeakers(t *testing.T) {
	r := record(projection.TurnText{})
	r.Type, r.Data = "message.appended", json.RawMessage(
		`{"message":{"id":"m1","timestamp":"2026-11-21T02:30:00.000Z",`+
			`"speaker":{"roleId":"ada","roleName":"ada","roleTitle":"Ada","type":"ai"},"content":"hello"}}`,
	)
	s := fold(session(t, r)...)
	if diff := cmp.Diff([]projection.Speaker{ada}, s.Speakers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Row.LastSpeakerID != "ada" || s.Row.LastSpeaker != "Ada" || s.Stats.ByMember["ada"] != 1 {
		t.Errorf("%+v, %+v", s.Row, s.Stats)
	}
}

func TestRoutingAlwaysHasLists(t *testing.T) {
	var read projection.Routing
	if err := json.Unmarshal([]byte(`{"rawNextMarkers":["ada"]}`), &read); err != nil {
		t.Fatal(err)
	}
	if got, want := string(marshal(t, &read)), `{"rawNextMarkers":["ada"],"resolvedAddressees":[]}`; got != want {
		t.Errorf("written as %s, not %s", got, want)
	}
	built := &projection.Routing{}
	m := projection.NewMessage("m1", created, mia, "", built)
	if got, want := string(marshal(t, m)), `"routing":{"rawNextMarkers":[],"resolvedAddressees":[]}`; !strings.Contains(
		got,
		want,
	) {
		t.Errorf("%s does not contain %s", got, want)
	}
	if built.RawNextMarkers != nil {
		t.Error("the caller's routing was changed")
	}
}

func TestContentThatIsNotUTF8IsKeptInRaw(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"an incomplete rune at the end", "h\xc3", "h\uFFFD"},
		{"bytes in the middle", "a \xff\xfe b", "a \uFFFD b"},
		{"a surrogate", "\xed\xa0\x80", "\uFFFD"},
		{"Latin-1", "caf\xe9", "caf\uFFFD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := throughEvent(t, projection.NewMessage("m1", created, mia, test.content, nil))
			if p.Message.Content != test.want {
				t.Errorf("the content is %q, not %q", p.Message.Content, test.want)
			}
			if string(p.Raw) != test.content {
				t.Errorf("the bytes are %q, not %q", p.Raw, test.content)
			}
			if !utf8.ValidString(p.Message.Content) {
				t.Error("the content is not UTF-8")
			}
		})
	}
}

func TestContentThatIsUTF8IsUnchanged(t *testing.T) {
	for _, content := range []string{
		"", "hello", "a\x00b", "\x1b[31mred\x1b[0m\a\b\x7f\u009b", "\u2028\u2029", "<b>&amp;</b>", `"\`, "\uFFFD",
		"水壶 🫖", "\r\n\t", "e\u0301",
	} {
		p := throughEvent(t, projection.NewMessage("m1", created, mia, content, nil))
		if p.Message.Content != content || p.Raw != nil {
			t.Errorf("%q came back as %q, with the bytes %q", content, p.Message.Content, p.Raw)
		}
	}
}

func TestMessageTimesAreUTCInMilliseconds(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 30, 1, 987_654_321, time.FixedZone("", 3600))
	got, want := projection.NewMessage("m", at, mia, "", nil).Message.Timestamp, "2026-11-21T02:30:01.987Z"
	if got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// throughEvent returns a message after encoding it as an event and decoding it.
func throughEvent(t *testing.T, m projection.MessageAppended) projection.MessageAppended {
	t.Helper()
	p, err := projection.Decode(numbered(t, record(m))[0])
	if err != nil {
		t.Fatal(err)
	}
	return p.(projection.MessageAppended)
}
