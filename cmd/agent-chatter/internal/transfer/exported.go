package transfer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

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

// exportedWithoutText says which secrets did not leave.
func exportedWithoutText(kinds []string) string {
	return fmt.Sprintf("Secrets were replaced in what was written: %s. The sessions themselves stay as they are.", tty.SafeLine(strings.Join(kinds, ", ")))
}

// export is what leaves this machine: whatever a journal has, no secret does.
type export struct {
	app       *app.App
	Variables []redact.Variable
	Redactor  *redact.Redactor
}

// newExport knows the secrets of the environment, and those of the teams that the
// sessions come from, as far as their configurations are still there.
func NewExport(a *app.App, sessions ...catalog.Session) *export {
	e := &export{app: a, Variables: team.InheritedSecrets()}
	known := map[string]bool{}
	for _, s := range sessions {
		source := sourceOf(a.Catalog.At(s.Dir()), s.ID)
		if source == nil || known[source.Path] {
			continue
		}
		known[source.Path] = true
		if team, err := team.Load(source.Path, a.Home); err == nil {
			for _, m := range team.Members {
				e.Variables = append(e.Variables, m.Secrets()...)
			}
		}
	}
	e.Redactor = redact.New(e.Variables)
	return e
}

// sourceOf is the configuration that a session began with; nil when it does not
// say.
func sourceOf(t *catalog.Dir, id string) *projection.Source {
	reader, err := t.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil
	}
	defer reader.Close()
	for first, err := range reader.All() {
		if err != nil {
			return nil
		}
		if first.Type == journal.TypeRecovered {
			continue
		}
		created, err := interchange.Header(first)
		if err != nil {
			return nil
		}
		return created.Team.Source
	}
	return nil
}

func (e *export) SayReplaced() {
	if found := e.Redactor.Found(); len(found) > 0 {
		e.app.Notice(exportedWithoutText(redact.Kinds(found)))
	}
}

// write makes a file, or prints to standard output when path is "".
func (e *export) write(path string, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriter(e.app.Stdout)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := WriteTo(path, write); err != nil {
		return err
	}
	e.app.Notice("Written: " + tty.SafeLine(path))
	return nil
}

// exported is one session on its way out.
type exported struct {
	export  *export
	session catalog.Session
	replay  *view.Replay
	state   *projection.State // without secrets
}

func (e *export) open(s catalog.Session) (*exported, error) {
	r := view.NewReplay(e.app, s)
	x := &exported{e, s, r, new(projection.State)}
	uncounted := redact.New(e.Variables) // it is read again
	for event, err := range app.EventsWithout(uncounted, r.Events(context.Background())) {
		if err != nil {
			return nil, err
		}
		x.state.Apply(event)
	}
	return x, nil
}

// events are read again for each format, up to where the state stands: somebody may
// be talking.
func (x *exported) events() iter.Seq2[journal.Event, error] {
	return view.Span{To: &view.Point{Seq: x.state.Seq}}.UpTo(app.EventsWithout(x.export.Redactor, x.replay.Events(context.Background())))
}

// formats are what a session can be written as.
var formats = map[string]func(x *exported, w io.Writer) error{
	"snapshot": func(x *exported, w io.Writer) error { return projection.WriteSnapshot(w, x.state, x.events()) },
	"md":       func(x *exported, w io.Writer) error { return interchange.Markdown(w, x.page(), x.harmless()) },
	"html":     func(x *exported, w io.Writer) error { return interchange.HTML(w, x.page(), x.harmless()) },
	"json":     (*exported).json,
	"claude":   transcriptOf("claude"),
	"codex":    transcriptOf("codex"),
	"gemini":   transcriptOf("gemini"),
	"jsonl": func(x *exported, w io.Writer) error {
		_, err := interchange.WriteJournal(w, x.events())
		return err
	},
}

func transcriptOf(program string) func(x *exported, w io.Writer) error {
	return func(x *exported, w io.Writer) error {
		return interchange.WriteTranscript(program, w, x.state, x.events())
	}
}

// fileName is what the file of a session is called in a directory.
func (x *exported) fileName(format string) string {
	switch format {
	case "snapshot":
		return SnapshotName(x.state.Row.UpdatedAt, x.replay.ID)
	case "claude", "codex", "gemini":
		return interchange.TranscriptName(format, x.state)
	}
	return x.replay.ID + "." + format
}

func (x *exported) page() interchange.Page {
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

// harmless are the messages as people may look at them.
func (x *exported) harmless() iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		for entry, err := range projection.Replay(x.events()) {
			entry.Content, entry.Speaker.DisplayName = tty.Safe(entry.Content), tty.SafeLine(entry.Speaker.DisplayName)
			entry.Timestamp = tty.SafeLine(entry.Timestamp)
			if !yield(entry, err) {
				return
			}
		}
	}
}

// json writes the session as lists have it, with its messages as replay has them.
func (x *exported) json(w io.Writer) error {
	s := x.session
	s.Row, s.CWD = x.state.Row, x.state.CWD
	var frame strings.Builder
	if err := app.WriteJSON(&frame, sessions.NewSessionJSON(s)); err != nil {
		return err
	}
	if _, err := io.WriteString(w, strings.TrimSuffix(frame.String(), "}\n")+`,"messages":[`); err != nil {
		return err
	}
	separator := "\n"
	for entry, err := range projection.Replay(x.events()) {
		if err != nil {
			return err
		}
		var line strings.Builder
		line.WriteString(separator)
		if err := app.WriteJSON(&line, entry); err != nil {
			return err
		}
		if _, err := io.WriteString(w, strings.TrimSuffix(line.String(), "\n")); err != nil {
			return err
		}
		separator = ",\n"
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}
