package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// A block is a piece of content.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Name     string `json:"name"` // of a link
	URI      string `json:"uri"`
	MimeType string `json:"mimeType"`
	Resource struct {
		Text     string `json:"text"`
		URI      string `json:"uri"`
		MimeType string `json:"mimeType"`
	} `json:"resource"`
}

// contentText returns the text of content: a block, or a list of blocks.
func contentText(content json.RawMessage) string {
	content = bytes.TrimSpace(content)
	if !bytes.HasPrefix(content, []byte("[")) {
		var b block
		jsonlines.Decode(content, &b)
		return b.text()
	}
	var list []json.RawMessage
	_ = json.Unmarshal(content, &list)
	var text strings.Builder
	for _, item := range list {
		var b block
		jsonlines.Decode(item, &b)
		text.WriteString(b.text())
	}
	return text.String()
}

// text returns the text of a block. A link has its name and address, and what a text cannot show is a placeholder.
func (b block) text() string {
	switch {
	case b.Type == "resource_link" && b.Name != "" && b.URI != "":
		return fmt.Sprintf("[%s](%s)", oneLine(b.Name), oneLine(b.URI))
	case b.Type == "resource_link":
		return oneLine(b.Name + b.URI)
	case b.Type == "resource" && b.Resource.Text != "":
		return "\n\n" + b.Resource.Text + "\n\n"
	case b.Type == "resource":
		return placeholder("resource", b.Resource.URI, b.Resource.MimeType)
	case b.Type == "image", b.Type == "audio":
		return placeholder(b.Type, b.URI, b.MimeType)
	}
	return b.Text
}

// placeholder returns what stands for a block without a text, such as [image: file:///a.png, image/png].
func placeholder(kind, uri, mimeType string) string {
	var about []string
	for _, part := range []string{uri, mimeType} {
		if part != "" {
			about = append(about, oneLine(part))
		}
	}
	if len(about) == 0 {
		return "[" + kind + "]"
	}
	return "[" + kind + ": " + strings.Join(about, ", ") + "]"
}

// oneLine returns a text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
