package acp

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/attach"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// maxPromptBytes is the length of the longest message, in bytes: that of the longest text that a chat takes from a
// paste.
const maxPromptBytes = 16 << 20

// errEmptyPrompt is the error of readPrompt for a prompt without text, links and embedded text.
var errEmptyPrompt = errors.New("the prompt has no text")

// promptTooLongError is the error of readPrompt for a prompt whose message would exceed maxPromptBytes.
type promptTooLongError struct {
	Bytes int // of the texts
}

func (e *promptTooLongError) Error() string {
	return fmt.Sprintf("the prompt has %d bytes of text, and a message at most %d; save the text in a file and link it",
		e.Bytes, maxPromptBytes)
}

// A promptMessage is a prompt as a person's message.
type promptMessage struct {
	Text    string
	Files   []coordinator.File // its pictures
	Omitted []omitted          // what it lacks
}

// An omitted is a block that is no text.
type omitted struct {
	Kind  omittedKind
	Name  string // of the file; "" if it has none
	MIME  string // "" if it is unknown
	Bytes int    // about
}

// A omittedKind is a kind of block.
type omittedKind string

// The kinds of blocks that are no text.
const (
	Image   omittedKind = "image"
	Audio   omittedKind = "audio"
	Data    omittedKind = "data" // an embedded file that is no text
	Unknown omittedKind = "unknown"
)

// readPrompt returns the message of a prompt. With errEmptyPrompt, it has what was omitted.
func readPrompt(blocks []sdk.ContentBlock) (promptMessage, error) {
	if n := size(blocks); n > maxPromptBytes {
		return promptMessage{}, &promptTooLongError{n}
	}
	var b builder
	for _, block := range blocks {
		b.add(block)
	}
	m := promptMessage{Text: b.message(), Omitted: b.omitted}
	m.Files = b.pictures.Files(m.Text)
	switch {
	case strings.TrimSpace(m.Text) == "":
		return promptMessage{Omitted: b.omitted}, errEmptyPrompt
	case len(m.Text) > maxPromptBytes:
		return promptMessage{}, &promptTooLongError{len(m.Text)}
	}
	return m, nil
}

// size returns the bytes of text in blocks.
func size(blocks []sdk.ContentBlock) (n int) {
	for _, block := range blocks {
		switch {
		case block.Text != nil:
			n += len(block.Text.Text)
		case block.ResourceLink != nil:
			n += len(block.ResourceLink.Uri) + len(block.ResourceLink.Name)
		case block.Resource != nil && block.Resource.Resource.TextResourceContents != nil:
			n += len(block.Resource.Resource.TextResourceContents.Text)
		}
	}
	return n
}

// A builder collects the parts of a message.
type builder struct {
	text    strings.Builder // with links
	spoken  bool            // a text was added
	early   []string        // the links and pictures before the first text
	embeds  []*sdk.TextResourceContents
	omitted []omitted

	pictures attach.Pasted
	count    int // of pictures
}

func (b *builder) add(block sdk.ContentBlock) {
	switch {
	case block.Text != nil:
		b.text.WriteString(block.Text.Text)
		b.spoken = b.spoken || strings.TrimSpace(block.Text.Text) != ""
	case block.ResourceLink != nil:
		b.addLink(cmp.Or(block.ResourceLink.Name, nameOf(block.ResourceLink.Uri)), block.ResourceLink.Uri)
	case block.Resource != nil && block.Resource.Resource.TextResourceContents != nil:
		embedded := block.Resource.Resource.TextResourceContents
		b.addLink(nameOf(embedded.Uri), embedded.Uri)
		b.embeds = append(b.embeds, embedded)
	case block.Image != nil && b.addPicture(block.Image):
	default:
		b.omitted = append(b.omitted, omission(block))
	}
}

// addPicture adds the label of a picture to the text, and reports whether it is one that agents can take.
func (b *builder) addPicture(block *sdk.ContentBlockImage) bool {
	data, err := base64.StdEncoding.DecodeString(block.Data)
	if err != nil || b.count == coordinator.MaxFiles {
		return false
	}
	name := ""
	if block.Uri != nil {
		name = nameOf(*block.Uri)
	}
	label, ok := b.pictures.Add(name, data)
	if !ok {
		return false
	}
	b.count++
	b.addMark(label)
	return true
}

// addLink adds a link to the text, if it has begun. Editors differ in whether the text before a link ends with a space.
func (b *builder) addLink(name, uri string) { b.addMark(link(name, uri)) }

// addMark adds a link, or the label of a picture.
func (b *builder) addMark(mark string) {
	if !b.spoken {
		b.early = append(b.early, mark)
		return
	}
	if last, _ := utf8.DecodeLastRuneInString(b.text.String()); !unicode.IsSpace(last) {
		b.text.WriteByte(' ')
	}
	b.text.WriteString(mark)
}

// message returns the texts with the links, then the links that preceded them, then the embedded texts.
func (b *builder) message() string {
	if len(b.early)+len(b.embeds) == 0 {
		return b.text.String()
	}
	text := strings.TrimRight(b.text.String(), " \t\r\n")
	if fence := markdown.OpenFence(text); fence != "" {
		text += "\n" + fence
	}
	// Removing a marker before a fence opens code that the fence of an embedded text would close.
	opens := markdown.OpenFence(marker.Parse(text).Content) != ""
	var m strings.Builder
	m.WriteString(text)
	if len(b.early) > 0 {
		m.WriteString("\n\n" + strings.Join(b.early, " "))
	}
	for _, e := range b.embeds {
		code := strings.TrimSuffix(markdown.AsCodeBlock("", e.Text), "\n")
		if opens {
			code = "    " + strings.ReplaceAll(strings.TrimSuffix(e.Text, "\n"), "\n", "\n    ")
		}
		m.WriteString("\n\n" + link(nameOf(e.Uri), e.Uri) + ":\n\n" + code)
	}
	return strings.TrimLeft(m.String(), "\n")
}

// omission describes a block that is no text.
func omission(block sdk.ContentBlock) omitted {
	var uri, mime *string
	o := omitted{Kind: Unknown}
	switch {
	case block.Image != nil:
		uri, mime = block.Image.Uri, &block.Image.MimeType
		o = omitted{Kind: Image, Bytes: decodedSize(block.Image.Data)}
	case block.Audio != nil:
		mime = &block.Audio.MimeType
		o = omitted{Kind: Audio, Bytes: decodedSize(block.Audio.Data)}
	case block.Resource != nil && block.Resource.Resource.BlobResourceContents != nil:
		blob := block.Resource.Resource.BlobResourceContents
		uri, mime = &blob.Uri, blob.MimeType
		o = omitted{Kind: Data, Bytes: decodedSize(blob.Blob)}
	}
	if uri != nil {
		o.Name = nameOf(*uri)
	}
	if mime != nil {
		o.MIME = *mime
	}
	return o
}

// decodedSize returns about how many bytes a base64 text encodes.
func decodedSize(data string) int { return len(data) / 4 * 3 }

// link returns a Markdown link. Its name is code, so that no marker is read in it.
func link(name, uri string) string {
	return "[" + cmp.Or(markdown.AsCodeSpan(name), "`link`") + "](" + escaped(uri) + ")"
}

// escaped returns a URI in which nothing ends a Markdown link, begins a marker or is a control character.
func escaped(uri string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#@!$&'*+,;=%"
	var b strings.Builder
	for i := range len(uri) {
		if strings.IndexByte(plain, uri[i]) >= 0 {
			b.WriteByte(uri[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", uri[i])
		}
	}
	return b.String()
}

// nameOf returns the name of the file that a URI names, or the URI.
func nameOf(uri string) string {
	if parsed, err := url.Parse(uri); err == nil && strings.Trim(parsed.Path, "/") != "" {
		return path.Base(parsed.Path)
	}
	return uri
}
