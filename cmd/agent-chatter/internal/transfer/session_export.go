package transfer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// An exporter writes sessions without secrets.
type exporter struct {
	app       *app.App
	variables []redact.Variable
	redactor  *redact.Redactor
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

// ReportRedacted prints the kinds of secrets that r replaced in an export, if any.
func ReportRedacted(a *app.App, r *redact.Redactor) {
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

// A sessionExport is a session up to the event that was the last when it was opened.
type sessionExport struct {
	exporter *exporter
	session  catalog.Session
	replay   *view.Replay
	state    *projection.State // without secrets
}

// open reads a session.
func (e *exporter) open(ctx context.Context, s catalog.Session) (*sessionExport, error) {
	r := view.NewReplay(e.app, s)
	x := &sessionExport{e, s, r, new(projection.State)}
	// The formats read the events again: only then are secrets counted.
	uncounted := redact.New(e.variables)
	for event, err := range app.EventsWithout(uncounted, r.Events(ctx)) {
		if err != nil {
			return nil, err
		}
		x.state.Apply(event)
	}
	return x, nil
}

// events reads the events again, without secrets and without those that were appended
// after open.
func (x *sessionExport) events(ctx context.Context) iter.Seq2[journal.Event, error] {
	span := view.Span{To: &view.Point{Seq: x.state.Seq}}
	return span.UpTo(app.EventsWithout(x.exporter.redactor, x.replay.Events(ctx)))
}

// formats are the formats of one session, by the value of --format.
var formats = map[string]func(ctx context.Context, x *sessionExport, w io.Writer) error{
	"snapshot": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return projection.WriteSnapshot(w, x.state, x.events(ctx))
	},
	"md": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return interchange.Markdown(w, x.page(), x.safeMessages(ctx))
	},
	"html": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return interchange.HTML(w, x.page(), x.safeMessages(ctx))
	},
	"json": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return x.writeJSON(ctx, w)
	},
	"claude": transcript("claude"),
	"codex":  transcript("codex"),
	"gemini": transcript("gemini"),
	"jsonl": func(ctx context.Context, x *sessionExport, w io.Writer) error {
		_, err := interchange.WriteJournal(w, x.events(ctx))
		return err
	},
}

func transcript(program string) func(ctx context.Context, x *sessionExport, w io.Writer) error {
	return func(ctx context.Context, x *sessionExport, w io.Writer) error {
		return interchange.WriteTranscript(program, w, x.state, x.events(ctx))
	}
}

// fileName returns the name of the session's file in a directory.
func (x *sessionExport) fileName(format string) string {
	switch format {
	case "snapshot":
		return SnapshotName(x.state.Row.UpdatedAt, x.replay.ID)
	case "claude", "codex", "gemini":
		return interchange.TranscriptName(format, x.state)
	}
	return x.replay.ID + "." + format
}

// SnapshotName returns the file name of a snapshot of a session.
func SnapshotName(updated time.Time, id string) string {
	return fmt.Sprintf("%d-%s.json", updated.UnixMilli(), id)
}

func (x *sessionExport) page() interchange.Page {
	row := x.state.Row
	p := interchange.Page{
		Title: tty.SafeLine(row.Title), ID: x.replay.ID, Team: tty.SafeLine(x.state.Team.Name),
		CreatedAt: projection.FormatTime(row.CreatedAt), Updated: projection.FormatTime(row.UpdatedAt),
	}
	if x.state.Task != nil {
		p.Task = tty.Safe(*x.state.Task)
	}
	return p
}

// safeMessages yields the messages without control characters.
func (x *sessionExport) safeMessages(ctx context.Context) iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		for entry, err := range projection.Replay(x.events(ctx)) {
			entry.Content, entry.Speaker.DisplayName = tty.Safe(entry.Content), tty.SafeLine(entry.Speaker.DisplayName)
			entry.Timestamp = tty.SafeLine(entry.Timestamp)
			if !yield(entry, err) {
				return
			}
		}
	}
}

// writeJSON writes the object that `sessions --output json` prints for the session, with
// those that `replay --output json` prints as "messages", one on a line.
func (x *sessionExport) writeJSON(ctx context.Context, w io.Writer) error {
	s := x.session
	s.Row, s.CWD = x.state.Row, x.state.CWD
	// put writes an object without the text at its end.
	put := func(before string, object any, end string) error {
		text := bytes.NewBufferString(before)
		err := app.WriteJSON(text, object)
		if err == nil {
			_, err = w.Write(bytes.TrimSuffix(text.Bytes(), []byte(end)))
		}
		return err
	}
	if err := put("", sessions.NewSessionJSON(s), "}\n"); err != nil {
		return err
	}
	if _, err := io.WriteString(w, `,"messages":[`); err != nil {
		return err
	}
	separator := "\n"
	for entry, err := range projection.Replay(x.events(ctx)) {
		if err != nil {
			return err
		}
		if err := put(separator, entry, "\n"); err != nil {
			return err
		}
		separator = ",\n"
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}
