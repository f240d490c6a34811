package projection

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A File is attached to a message. Package attachment has its content, by the SHA-256.
type File struct {
	// Name is for people and agents: the name of a file, or its path in the directory of the session, and perhaps the
	// lines of a part of it, as in main.go:10-40. It may be any text, and is never a path that is opened.
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"` // of the content, in hex
}

// FilesOf returns the files of a message, by the type and the data of its event; none for other events.
func FilesOf(eventType string, data []byte) []File {
	if eventType != (MessageAppended{}).eventType() || !bytes.Contains(data, []byte(`"attachments":`)) {
		return nil
	}
	p, _ := payloadAs[MessageAppended](journal.Event{Type: eventType, Data: data}, true)
	return p.Attachments
}

// maxFileName bounds a name in a label, in bytes.
const maxFileName = 120

// valid reports whether a file matches the schema.
func (f File) valid() bool {
	return f.Name != "" && f.Bytes >= 0 && isSHA256(f.SHA256)
}

// IsImage reports whether the content is a picture of a type that agents can take.
func (f File) IsImage() bool {
	switch f.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// IsText reports whether the content is text.
func (f File) IsText() bool { return strings.HasPrefix(f.MediaType, "text/") }

// Label describes the file in one line, such as [picture.png, image/png, 12 kB].
func (f File) Label() string {
	return "[" + FileName(f.Name) + ", " + FileName(f.MediaType) + ", " + fileSize(f.Bytes) + "]"
}

// FileName returns a name as it is shown: in one line, of bounded length, and without what a marker or a link could be
// made of.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("[]()<>`|*\\", r) || !unicode.IsPrint(r):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if len(name) > maxFileName {
		name = runecut.Prefix(name, maxFileName) + "…"
	}
	return name
}

func fileSize(bytes int64) string {
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < 1000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 999_500:
		return fmt.Sprintf("%.0f kB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1_000_000)
}

// WithFiles returns the text of a message followed by the labels of its files, each in a line, as people see it.
func WithFiles(content string, files []File) string {
	if len(files) == 0 {
		return content
	}
	var b strings.Builder
	if content = strings.TrimRight(content, " \t\r\n"); content != "" {
		b.WriteString(content + "\n\n")
	}
	for i, f := range files {
		if i > 0 {
			b.WriteString("  \n") // a line break in Markdown
		}
		b.WriteString(f.Label())
	}
	return b.String()
}
