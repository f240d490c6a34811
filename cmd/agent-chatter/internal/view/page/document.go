package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/chart"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

//go:embed document.css document.js document.tmpl
var documentFiles embed.FS

// style returns what the element of the style sheet contains.
func style() string { return "\n" + Style + chart.Style + read("document.css") }

// script returns what the element of the script contains.
func script() string { return "\n" + read("document.js") }

func read(name string) string {
	text, err := documentFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// policy returns the content security policy of a document.
func policy() string {
	return "default-src 'none'; style-src " + hashOf(style()) + "; script-src " + hashOf(script())
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var documentTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"policy": policy,
		"style":  func() template.HTML { return template.HTML("<style>" + style() + "</style>") },
		"script": func() template.HTML { return template.HTML("<script>" + script() + "</script>") },
		"date":   dateText,
	}).ParseFS(documentFiles, "document.tmpl"))
})

// dateText returns a time to the minute.
func dateText(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// A Document is what a file says of a session besides its items.
type Document struct {
	ID      string
	Session *projection.State // as of the last event
	First   uint64            // event; the item to which it belongs is shown from its beginning
	Stats   projection.Stats  // of the events in the document
	LeftOut LeftOut
	Chart   *chart.Chart // of the events in the document; nil: it has none
}

// Write writes the document. body reads what the Body has written.
func (d *Document) Write(w io.Writer, b *Body, body io.Reader) error {
	head, err := d.head()
	if err == nil {
		err = writeTemplate(w, "head", head)
	}
	long := d.Stats.Messages > chapterAfter && b.items > 0
	if err == nil && long {
		err = b.copyChapters(w, body)
	} else if err == nil {
		_, err = io.Copy(w, body)
	}
	if err != nil {
		return err
	}
	return writeTemplate(w, "foot", long)
}

// writeTemplate writes a part of a document at once.
func writeTemplate(w io.Writer, name string, data any) error {
	var text bytes.Buffer
	if err := documentTemplates().ExecuteTemplate(&text, name, data); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

// A Body writes the items of a document. They are written before its head, which says what is known after the last one.
// Memory is bounded by the longest item.
type Body struct {
	Members Members

	w        io.Writer
	written  int64 // bytes
	items    int   // that were written
	day      string
	chapters []chapter // if the document is long
	text     bytes.Buffer
}

// NewBody returns a Body that writes to w.
func NewBody(w io.Writer) *Body { return &Body{w: w} }

// A document of more than chapterAfter messages has chapters of chapterItems.
const (
	chapterAfter = 3000
	chapterItems = 1000
)

// A chapter is a part of a long document.
type chapter struct {
	at      int64  // where it begins in what the Body writes
	heading string // HTML
}

// Add writes an item.
func (b *Body) Add(i *conversation.Item) error {
	if b.items%chapterItems == 0 {
		if err := b.beginChapter(i); err != nil {
			return err
		}
	}
	b.items++
	b.text.Reset()
	if day := i.Time.Local().Format(time.DateOnly); day != b.day {
		b.day = day
		if err := documentTemplates().ExecuteTemplate(&b.text, "day", i.Time.Local()); err != nil {
			return err
		}
	}
	if err := b.Members.HTML(&b.text, i, 0); err != nil {
		return err
	}
	b.text.WriteByte('\n')
	n, err := b.w.Write(b.text.Bytes())
	b.written += int64(n)
	if b.text.Cap() > maxBuffer {
		b.text = bytes.Buffer{}
	}
	return err
}

// maxBuffer is the size of the buffer that is kept after an item, in bytes.
const maxBuffer = 1 << 20

// beginChapter adds the chapter that begins with an item.
func (b *Body) beginChapter(first *conversation.Item) error {
	var heading strings.Builder
	err := documentTemplates().ExecuteTemplate(&heading, "chapter", map[string]any{
		"Number": len(b.chapters), "First": first, "Name": tty.SafeLine(first.Speaker.DisplayName),
		"Words": words(first),
	})
	b.chapters = append(b.chapters, chapter{b.written, heading.String()})
	return err
}

// words returns the first words of an item, in one line.
func words(i *conversation.Item) string {
	if i.Change != nil {
		return tty.SafeLine(i.Text)
	}
	return tty.SafeLine(projection.FirstWords(i.Text))
}

// copyChapters writes the items in chapters.
func (b *Body) copyChapters(w io.Writer, items io.Reader) error {
	for i, c := range b.chapters {
		if _, err := io.WriteString(w, c.heading); err != nil {
			return err
		}
		end := b.written
		if i+1 < len(b.chapters) {
			end = b.chapters[i+1].at
		}
		if _, err := io.CopyN(w, items, end-c.at); err != nil {
			return err
		}
	}
	return nil
}
