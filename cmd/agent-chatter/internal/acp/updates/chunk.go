package updates

import (
	"crypto/sha256"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// maxChunk limits the text of an update, in bytes.
const maxChunk = 32 << 10

// metaKey is the member of _meta that has a meta.
const metaKey = "agent-chatter"

// A meta is what the _meta of an update says. Zero values are left out.
type meta struct {
	Member, Name, TurnID string
	Seq                  uint64
	Added                bool           // no member wrote the text
	Notice               bool           // the text is no part of the session
	More                 map[string]any // further values
}

// values returns the _meta of an update.
func (m meta) values() map[string]any {
	values := map[string]any{}
	for key, text := range map[string]string{"member": m.Member, "name": m.Name, "turnId": m.TurnID} {
		if text != "" {
			values[key] = text
		}
	}
	if m.Seq > 0 {
		values["seq"] = m.Seq
	}
	for key, set := range map[string]bool{"added": m.Added, "notice": m.Notice} {
		if set {
			values[key] = true
		}
	}
	for key, value := range m.More {
		values[key] = value
	}
	return map[string]any{metaKey: values}
}

// messageID returns the UUID of a message, which the protocol requires, for the ID that the journal has. It is always
// the same for the same ID.
func messageID(id string) *string {
	sum := sha256.Sum256([]byte(id))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8, of RFC 9562
	uuid := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return &uuid
}

// addAgentText adds text of a message. It is made safe and divided; a text that ends in the middle of "\r\n" or of a
// rune must not be passed.
func (t *Translator) addAgentText(m meta, message, text string) {
	for _, chunk := range chunks(text) {
		t.out = append(t.out, sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{
			Content: sdk.TextBlock(chunk), MessageId: messageID(message), Meta: m.values(),
		}})
	}
}

// addUserText adds a message of a person.
func (t *Translator) addUserText(m meta, message, text string) {
	for _, chunk := range chunks(text) {
		t.out = append(t.out, sdk.SessionUpdate{UserMessageChunk: &sdk.SessionUpdateUserMessageChunk{
			Content: sdk.TextBlock(chunk), MessageId: messageID(message), Meta: m.values(),
		}})
	}
}

// addQuote adds a text of the program as a quote, after a blank line if a text precedes it.
func (t *Translator) addQuote(m meta, message, text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = markdown.Escape(line)
	}
	quote := quoted(warningSign, lines)
	if t.spoken {
		quote = "\n\n" + quote
	}
	t.spoken = true
	t.addAgentText(m, message, quote)
}

// warningSign begins the quote of a text that the user did not ask for.
const warningSign = "⚠️ "

// quoted returns lines of Markdown as a quote that begins with a sign.
func quoted(sign string, lines []string) string { return "> " + sign + strings.Join(lines, "  \n> ") }

// chunks makes a text safe for a terminal and divides it into pieces of at most maxChunk bytes.
func chunks(text string) (pieces []string) {
	for text = tty.Safe(text); text != ""; {
		piece := runecut.Prefix(text, maxChunk)
		pieces, text = append(pieces, piece), text[len(piece):]
	}
	return pieces
}
