package projection

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// previewLength is how much of a message stands for it in lists, in Unicode
// code points.
const previewLength = 50

var lineBreak = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// titleOf is the title that a session gets from its first human message.
func titleOf(content string) string {
	text := strings.TrimSpace(oneLine(content))
	if short, cut := cutRunes(text, previewLength); cut {
		return short + "…"
	}
	return text
}

// oneLine is the start of a text without its markers and line breaks.
func oneLine(content string) string { return lineBreak.Replace(marker.Strip(head(content))) }

// head keeps titles cheap: a long message is not searched to its end.
func head(content string) string {
	const enough = 16 << 10
	if len(content) <= enough {
		return content
	}
	return strings.ToValidUTF8(content[:enough], "")
}

// Preview is the beginning of the first message, as summaries quote it.
func Preview(content string) string {
	text := lineBreak.Replace(head(content))
	if short, cut := cutRunes(text, previewLength); cut {
		return short + "..."
	}
	return text
}

func cutRunes(s string, n int) (string, bool) {
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}
