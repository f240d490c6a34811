package projection

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// previewLength is the length of a title or preview, in code points.
const previewLength = 50

var lineBreak = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// Title returns the title of a session whose first message of a person is content.
func Title(content string) string {
	text := strings.TrimSpace(oneLine(content))
	if short, cut := cutRunes(text, previewLength); cut {
		return short + "…"
	}
	return text
}

// oneLine returns the start of a text without markers and line breaks.
func oneLine(content string) string { return lineBreak.Replace(marker.Strip(head(content))) }

// head returns the start of a message that is long enough for a title, so that long
// messages are not searched to their end.
func head(content string) string {
	const enough = 16 << 10
	if len(content) <= enough {
		return content
	}
	return strings.ToValidUTF8(content[:enough], "")
}

// Preview returns the start of a message, as Row.Summary quotes it.
func Preview(content string) string {
	text := lineBreak.Replace(head(content))
	if short, cut := cutRunes(text, previewLength); cut {
		return short + "..."
	}
	return text
}

// cutRunes returns the first n code points of s, and whether there are more.
func cutRunes(s string, n int) (string, bool) {
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}
