package interchange

import (
	"bytes"
	"encoding/base64"
	"fmt"
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
func (c claudeContent) message() string { return strings.TrimSpace(strings.Join(c.texts(), "\n\n")) }

// onlyResults reports whether all blocks are results of tools.
func (c claudeContent) onlyResults() bool {
	n := 0
	for block := range jsonValue(c).elements() {
		if string(block.field("type").plain()) != "tool_result" {
			return false
		}
		n++
	}
	return n > 0
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
