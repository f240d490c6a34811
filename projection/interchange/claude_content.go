package interchange

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// claudeContent is the content of a message in the format of Anthropic's API: a
// text or a list of blocks. Anything else is empty.
type claudeContent jsonValue

// UnmarshalJSON returns no error.
func (c *claudeContent) UnmarshalJSON(data []byte) error {
	*c = bytes.Clone(data)
	return nil
}

// texts returns the texts, with placeholders for images and documents.
func (c claudeContent) texts() (texts []string) {
	if v := jsonValue(c); v.isString() {
		return []string{v.text()}
	}
	for block := range jsonValue(c).elements() {
		switch kind := string(block.field("type").plain()); kind {
		case "text":
			texts = append(texts, block.field("text").text())
		case "image", "document":
			source := block.field("source")
			texts = append(texts, attachmentText(kind, source.field("media_type").text(), source.field("data")))
		}
	}
	return texts
}

// message returns the text of a message.
func (c claudeContent) message() string { return trimBlankLines(strings.Join(c.texts(), "\n\n")) }

// person returns what a person wrote. It reports false if that is nothing.
func (c claudeContent) person() (string, bool) {
	return humanText(slices.DeleteFunc(c.texts(), isInterruption))
}

// ids yields the bytes of an id that blocks of a kind have.
func (c claudeContent) ids(kind, name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for block := range jsonValue(c).elements() {
			if string(block.field("type").plain()) == kind && !yield(block.field(name).plain()) {
				return
			}
		}
	}
}

// result returns what a block with the result of a tool has.
func (claudeContent) result(block jsonValue) (output, failure string) {
	var content claudeContent
	failed := false
	for name, v := range block.fields(nil) {
		switch string(name) {
		case "content":
			content = claudeContent(v)
		case "is_error":
			failed = v.isTrue()
		}
	}
	output = strings.Join(content.texts(), "\n")
	if failed {
		return "", output
	}
	return output, ""
}

// startTools adds the tool calls of a message. They follow it, as do their
// results.
func (t *transcript) startTools(content claudeContent, at time.Time) {
	for block := range jsonValue(content).elements() {
		if string(block.field("type").plain()) == "tool_use" {
			input := bytes.Clone(block.field("input"))
			t.startTool(block.field("id").text(), block.field("name").text(), input, at)
		}
	}
}

// completeTools adds the tool results of a message.
func (t *transcript) completeTools(message claudeContent, at time.Time) {
	for block := range jsonValue(message).elements() {
		if string(block.field("type").plain()) == "tool_result" {
			output, failure := message.result(block)
			t.completeTool(block.field("tool_use_id").text(), output, failure, at)
		}
	}
}

// attachmentText is in the place of an image or another file of a message. The
// data is a string in base64, or unknown.
func attachmentText(kind, mediaType string, data jsonValue) string {
	if mediaType == "" {
		return "[" + kind + "]"
	}
	encoded := data.plain()
	if len(encoded) == 0 {
		return fmt.Sprintf("[%s: %s]", kind, mediaType)
	}
	size := base64.RawStdEncoding.DecodedLen(len(bytes.TrimRight(encoded, "=")))
	return fmt.Sprintf("[%s: %s, %d bytes]", kind, mediaType, size)
}
