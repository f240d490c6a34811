package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/chart"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
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
	First   uint64            // event; an item to which it belongs is shown from its beginning
	Stats   projection.Stats  // of the events in the document
	LeftOut LeftOut
	Chart   *chart.Chart // of the events in the document; nil: it has none
}

// Write writes the document of events, which begin with session.created. Memory is bounded by the longest item.
func (d *Document) Write(w io.Writer, events iter.Seq2[journal.Event, error]) error {
	o := output{w: w, long: d.Stats.Messages > chapterAfter}
	head, err := d.head()
	if err == nil {
		err = o.template("head", head)
	}
	if err != nil {
		return err
	}
	for item, err := range o.fold.All(events) {
		if err != nil {
			return err
		}
		if item.End < d.First {
			continue
		}
		if err := o.item(item); err != nil {
			return err
		}
	}
	return o.template("foot", o.long && o.items > 0)
}

// A document of more than chapterAfter messages has chapters of chapterItems.
const (
	chapterAfter = 3000
	chapterItems = 1000
)

// An output writes a document.
type output struct {
	w     io.Writer
	long  bool
	fold  Fold
	items int    // that were written
	day   string // of the last item
	text  bytes.Buffer
}

// template writes a part of a document.
func (o *output) template(name string, data any) error {
	o.text.Reset()
	if err := documentTemplates().ExecuteTemplate(&o.text, name, data); err != nil {
		return err
	}
	return o.flush()
}

func (o *output) flush() error {
	_, err := o.w.Write(o.text.Bytes())
	if o.text.Cap() > maxBuffer {
		o.text = bytes.Buffer{}
	}
	return err
}

// maxBuffer is the size of the buffer that is kept after an item, in bytes.
const maxBuffer = 1 << 20

func (o *output) item(i *Item) error {
	if o.long && o.items%chapterItems == 0 {
		if err := o.template("chapter", o.chapter(i)); err != nil {
			return err
		}
	}
	o.items++
	if day := i.Time.Local().Format(time.DateOnly); day != o.day {
		o.day = day
		if err := o.template("day", i.Time.Local()); err != nil {
			return err
		}
	}
	o.text.Reset()
	if err := o.fold.HTML(&o.text, i, 0); err != nil {
		return err
	}
	o.text.WriteByte('\n')
	return o.flush()
}

// A chapter is the beginning of a part of a long document.
type chapter struct {
	Number      int // of chapters before it
	First       *Item
	Name, Words string // of the first item
}

func (o *output) chapter(first *Item) chapter {
	c := chapter{Number: o.items / chapterItems, First: first, Words: tty.SafeLine(first.Text)}
	if first.Member.ID != "" {
		c.Name = tty.SafeLine(first.Member.DisplayName)
	}
	return c
}
