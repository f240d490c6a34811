package interchange_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The importer of the manual is registered in telegram_test.go.
func TestRegisteredFormatIsDetectedAndRead(t *testing.T) {
	const text = `{"from":"you","telegram":"Is it off?"}` + "\n" + `{"from":"ada","telegram":"It is off."}` + "\n"
	if got := detect(t, []byte(text)); got != "telegram" {
		t.Errorf("it is detected as %q", got)
	}
	s := mustReadTranscript(t, "telegram", "/chat.jsonl", text)
	if first := messagesOf(t, s)[0]; first.ID != "chat-1" {
		t.Errorf("the first message is %+v", first)
	}
	got := summary(t, s)
	if diff := cmp.Diff("you: Is it off?\ntelegram: It is off.\n", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
