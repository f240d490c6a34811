package transfer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/chart"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// An exporter writes sessions without secrets.
type exporter struct {
	app       *app.App
	variables []redact.Variable
	redactor  *redact.Redactor
	span      view.Span       // the part of a session that is exported
	texts     bool            // traces have the texts, too
	events    []journal.Event // of the session, which has no journal; nil: it has one
	writeFile func(path string, write func(io.Writer) error) error
	written   func(path string) // called after writeFile
}

// newExporter returns an exporter that replaces the secrets of the environment and those
// in the configurations of the sessions' teams, as far as these still exist.
func newExporter(a *app.App, sessions []catalog.Session) *exporter {
	e := &exporter{app: a, variables: team.InheritedSecrets(), writeFile: WriteFile}
	e.written = func(path string) { a.Notice("Written: " + tty.SafeLine(path)) }
	read := map[string]bool{}
	for _, s := range sessions {
		if source := app.TeamSource(a.Catalog.At(s.Dir()), s.ID); source != nil && !read[source.Path] {
			read[source.Path] = true
			e.variables = append(e.variables, a.TeamSecrets(source)...)
		}
	}
	e.redactor = redact.New(e.variables)
	return e
}

// reportRedacted prints the kinds of secrets that r replaced in an export, if any.
func reportRedacted(a *app.App, r *redact.Redactor) {
	if found := r.Found(); len(found) > 0 {
		a.Notice(redactedText(redact.Kinds(found)))
	}
}

func redactedText(kinds []string) string {
	return fmt.Sprintf("Secrets were replaced in the output: %s. The sessions were not changed.",
		tty.SafeLine(strings.Join(kinds, ", ")))
}

// write writes a file, or to standard output if path is "".
func (e *exporter) write(path string, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriter(e.app.Stdout)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := e.writeFile(path, write); err != nil {
		return err
	}
	e.written(path)
	return nil
}

// A sessionExport is a session, or a part of it, up to the event that was the last when it was opened.
type sessionExport struct {
	exporter *exporter
	session  catalog.Session
	replay   replay
	state    *projection.State // as of the last event of the part, without secrets
	first    uint64            // event of the part
	part     *projection.State // of the events of the part only
	marks    map[string]int    // of secrets that were replaced in the part, by kind
	damage   error             // that ends the session early
	hasFiles bool              // a message has files

	rows  projection.Timeline // not in chart yet
	chart *chart.Chart        // of the part; nil: none is drawn
	body  *spool              // what follows the head of the file; nil: the format reads the events again
	items *page.Body          // of a document, in body
}

// A replay reads the events of a session, as view.Replay does.
type replay interface {
	Events(ctx context.Context) iter.Seq2[journal.Event, error]
	CheckSpan(ctx context.Context, s view.Span) error
	Torn() journal.Torn
}

// replay returns what reads a session.
func (e *exporter) replay(s catalog.Session) replay {
	if e.events != nil {
		return inMemory(e.events)
	}
	return view.NewReplay(e.app, s)
}

// open reads a session for a format. Damage after the first event is no error. The caller closes what it returns.
func (e *exporter) open(ctx context.Context, s catalog.Session, format string) (*sessionExport, error) {
	r := e.replay(s)
	if err := r.CheckSpan(ctx, e.span); err != nil {
		return nil, err
	}
	x := &sessionExport{exporter: e, session: s, replay: r, state: new(projection.State), marks: map[string]int{}}
	var err error
	if x.first, err = e.span.FirstSeq(r.Events(ctx)); err != nil {
		return nil, err
	}
	if x.part = x.state; x.first != 1 {
		x.part = new(projection.State)
	}
	if format == "html" {
		x.chart = new(chart.Chart)
	}
	if err := x.read(ctx, bodies[format]); err != nil {
		x.close()
		return nil, err
	}
	if x.first == 0 || x.first > x.state.Seq {
		x.close()
		return nil, app.Exit(app.ExitFailed, emptyPartText(s.ID))
	}
	x.draw(len(x.rows.Rows))
	if x.first > 1 { // The title and the task may be of events before it.
		x.count([]byte(x.state.Row.Title))
		if x.state.Task != nil {
			x.count([]byte(*x.state.Task))
		}
	}
	return x, nil
}

// close removes the temporary file.
func (x *sessionExport) close() {
	if x != nil && x.body != nil {
		x.body.close()
	}
}

// read reads the events. With write, it writes the body of the file.
func (x *sessionExport) read(ctx context.Context, write writeBody) error {
	if write == nil {
		// The format reads the events again: only then are secrets counted for the notice.
		for _, err := range x.added(ctx, redact.New(x.exporter.variables)) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if x.body, err = newSpool(); err != nil {
		return err
	}
	if err := write(x, x.added(ctx, x.exporter.redactor)); err != nil {
		return err
	}
	return x.body.Flush()
}

// items returns a writeBody that writes the items of the part one by one.
func items(begin func(*sessionExport) func(*conversation.Item) error) writeBody {
	return func(x *sessionExport, events iter.Seq2[projection.Event, error]) error {
		write := begin(x)
		for item, err := range new(conversation.Conversation).Read(events) {
			if err == nil && item.Last >= x.first {
				err = write(item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// writeEvents writes the events as lines of a journal.
func writeEvents(x *sessionExport, events iter.Seq2[projection.Event, error]) error {
	_, err := interchange.WriteJournal(x.body, func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if !yield(e.Event, err) {
				return
			}
		}
	})
	return err
}

// added yields the events, without secrets, after it has added them to the states. secrets counts those in the part.
func (x *sessionExport) added(ctx context.Context, secrets *redact.Redactor) iter.Seq2[projection.Event, error] {
	return func(yield func(projection.Event, error) bool) {
		without := redact.New(x.exporter.variables).Session()
		for event, err := range x.exporter.span.UpTo(x.replay.Events(ctx)) {
			var corrupt *journal.CorruptError
			if errors.As(err, &corrupt) && x.state.Seq > 0 {
				x.damage = err
				return
			}
			if err != nil {
				yield(projection.Event{}, err)
				return
			}
			if event.Seq == x.first {
				without = secrets.Session()
			}
			clean := without(projection.DecodeEvent(event))
			x.add(clean)
			if !yield(clean, nil) {
				return
			}
		}
	}
}

// add adds an event to the states, and counts its marks.
func (x *sessionExport) add(event projection.Event) {
	x.state.ApplyEvent(event)
	x.hasFiles = x.hasFiles || len(projection.FilesOf(event.Type, event.Data)) > 0
	if x.chart != nil {
		x.rows.ApplyEvent(event)
		if final := x.rows.Final(); final >= 64 {
			x.draw(final)
			x.rows.Forget()
		}
	}
	inPart := event.Seq >= x.first
	if x.part != x.state && (inPart || event.Type == projection.TypeOf(projection.SessionCreated{})) {
		x.part.ApplyEvent(event)
	}
	// What is streamed is in the message or at the end of the turn, too.
	if inPart && event.Type != textType {
		x.count(event.Data)
	}
}

// count counts the marks in a text.
func (x *sessionExport) count(text []byte) {
	for kind := range redact.Marks(text) {
		if x.marks[kind] > 0 || len(x.marks) < maxKinds {
			x.marks[kind]++
		}
	}
}

// draw adds the first rows to the chart, if they belong to the part.
func (x *sessionExport) draw(n int) {
	for _, row := range x.rows.Rows[:n] {
		if row.End >= x.first {
			x.chart.Add(row)
		}
	}
}

// maxKinds bounds sessionExport.marks.
const maxKinds = 1000

// emptyPartText is for a part of a session without events.
func emptyPartText(id string) app.Message {
	return app.Text("Session %s has no event between --from and --to.", tty.SafeLine(id)).
		With(app.To("see its last events", "tail", id))
}

// events reads the events of the whole session again, without secrets and without those that were appended after open.
func (x *sessionExport) events(ctx context.Context) iter.Seq2[journal.Event, error] {
	return x.exporter.redactor.Events(x.again(ctx))
}

// again reads the events of the whole session again, without those that were appended after open.
func (x *sessionExport) again(ctx context.Context) iter.Seq2[journal.Event, error] {
	last := view.Span{To: &view.Point{Seq: x.state.Seq}}
	return last.UpTo(x.replay.Events(ctx))
}

// only yields the events whose type is needed.
func only(
	events iter.Seq2[journal.Event, error], needed func(eventType string) bool,
) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if (err != nil || needed(e.Type)) && !yield(e, err) {
				return
			}
		}
	}
}

var (
	messageType = projection.TypeOf(projection.MessageAppended{})
	textType    = projection.TypeOf(projection.TurnText{})
)

// A writeBody writes events, or what they make, to the body of a file.
type writeBody func(x *sessionExport, events iter.Seq2[projection.Event, error]) error

// bodies are the formats whose files have what the events make after a head, which says what is known at their end.
// The others read the events again.
var bodies = map[string]writeBody{
	"jsonl": writeEvents, // without a head, but nothing is written of a session that is damaged
	"otlp": func(x *sessionExport, events iter.Seq2[projection.Event, error]) error { // as jsonl
		return interchange.WriteOTLP(x.body, x.state, events, interchange.OTLPOptions{
			Version: app.ThisBuild().Version, Texts: x.exporter.texts,
		})
	},
	"md": items(func(x *sessionExport) func(*conversation.Item) error {
		return x.entries(func(entry projection.Entry) error {
			entry.Content = projection.WithFiles(entry.Content, entry.Attachments)
			entry.Content, entry.Speaker.DisplayName = tty.Safe(entry.Content), tty.SafeLine(entry.Speaker.DisplayName)
			entry.Timestamp = tty.SafeLine(entry.Timestamp)
			return interchange.Markdown(x.body, entry)
		})
	}),
	"html": items(func(x *sessionExport) func(*conversation.Item) error {
		x.items = page.NewBody(x.body)
		return func(item *conversation.Item) error {
			x.items.Members.AddMembers(x.state.Team.Members)
			return x.items.Add(item)
		}
	}),
	"json": items(func(x *sessionExport) func(*conversation.Item) error {
		separator := "\n"
		return x.entries(func(entry projection.Entry) error {
			err := writeObject(x.body, separator, entry, "\n")
			separator = ",\n"
			return err
		})
	}),
}

// entries returns what writes the message or the partial reply of an item, if it is in the part.
func (x *sessionExport) entries(write func(projection.Entry) error) func(*conversation.Item) error {
	return func(item *conversation.Item) error {
		entry, ok := item.Entry()
		if !ok || entry.Seq < x.first {
			return nil
		}
		return write(entry)
	}
}

// formats are the formats of one session, by the value of --format.
var formats = map[string]func(ctx context.Context, x *sessionExport, w io.Writer) error{
	"snapshot": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		messages := only(x.again(ctx), func(eventType string) bool { return eventType == messageType })
		return projection.WriteSnapshot(w, x.state, x.exporter.redactor.Events(messages))
	},
	"md": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		if err := x.page().Markdown(w); err != nil {
			return err
		}
		_, err := io.Copy(w, x.body.reader(ctx))
		return err
	},
	"html": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return x.document().Write(w, x.items, x.body.reader(ctx))
	},
	"json": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return x.writeJSON(ctx, w)
	},
	"claude": transcript("claude"),
	"codex":  transcript("codex"),
	"gemini": transcript("gemini"),
	"otlp":   onlyBody,
	"jsonl":  onlyBody,
}

// onlyBody writes a file without a head.
func onlyBody(ctx context.Context, x *sessionExport, w io.Writer) error {
	_, err := io.Copy(w, x.body.reader(ctx))
	return err
}

func transcript(program string) func(ctx context.Context, x *sessionExport, w io.Writer) error {
	return func(ctx context.Context, x *sessionExport, w io.Writer) error {
		events := only(x.again(ctx), func(eventType string) bool { return eventType != textType }) // messages repeat it
		return interchange.WriteTranscript(program, w, x.state, x.exporter.redactor.Decoded(events))
	}
}

// fileName returns the name of the session's file in a directory.
func (x *sessionExport) fileName(format string) string {
	switch format {
	case "snapshot":
		return snapshotName(x.state.Row.UpdatedAt, x.session.ID)
	case "claude", "codex", "gemini":
		return interchange.TranscriptName(format, x.state)
	case "otlp":
		return x.session.ID + otlpSuffix
	}
	return x.session.ID + "." + format
}

// otlpSuffix ends the name of a trace.
const otlpSuffix = ".otlp.json"

// snapshotName returns the file name of a snapshot of a session.
func snapshotName(updated time.Time, id string) string {
	return fmt.Sprintf("%d-%s.json", updated.UnixMilli(), id)
}

func (x *sessionExport) page() interchange.Page {
	row := x.state.Row
	p := interchange.Page{
		Title: tty.SafeLine(row.Title), ID: x.session.ID, Team: tty.SafeLine(x.state.Team.Name),
		CreatedAt: projection.FormatTime(row.CreatedAt), Updated: projection.FormatTime(row.UpdatedAt),
	}
	if x.state.Task != nil {
		p.Task = tty.Safe(*x.state.Task)
	}
	return p
}

// writeJSON writes the object that `sessions --output json` prints for the session, with
// those that `replay --output json` prints as "messages", one on a line.
func (x *sessionExport) writeJSON(ctx context.Context, w io.Writer) error {
	s := x.session
	s.Row, s.CWD = x.state.Row, x.state.CWD
	if err := writeObject(w, "", sessions.NewSessionJSON(s), "}\n"); err != nil {
		return err
	}
	if _, err := io.WriteString(w, `,"messages":[`); err != nil {
		return err
	}
	if _, err := io.Copy(w, x.body.reader(ctx)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}

// writeObject writes an object after a text and without the text at its end.
func writeObject(w io.Writer, before string, object any, end string) error {
	text := bytes.NewBufferString(before)
	err := app.WriteJSON(text, object)
	if err == nil {
		_, err = w.Write(bytes.TrimSuffix(text.Bytes(), []byte(end)))
	}
	return err
}
