package main

import (
	"bufio"
	"io"
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// export is what leaves this machine: whatever a journal has, no secret does.
type export struct {
	app       *app
	variables []redact.Variable
	redactor  *redact.Redactor
}

// newExport knows the secrets of the environment, and those of the teams that the
// sessions come from, as far as their configurations are still there.
func newExport(a *app, sessions ...catalog.Session) *export {
	e := &export{app: a, variables: team.InheritedSecrets()}
	known := map[string]bool{}
	for _, s := range sessions {
		source := sourceOf(a.catalog().At(s.Dir()), s.ID)
		if source == nil || known[source.Path] {
			continue
		}
		known[source.Path] = true
		if team, err := team.Load(source.Path, a.home); err == nil {
			for _, m := range team.Members {
				e.variables = append(e.variables, m.Secrets()...)
			}
		}
	}
	e.redactor = redact.New(e.variables)
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
		created, err := interchange.CreatedBy(first)
		if err != nil {
			return nil
		}
		return created.Team.Source
	}
	return nil
}

func (e *export) sayReplaced() {
	if found := e.redactor.Found(); len(found) > 0 {
		e.app.notice(exportedWithoutText(redact.Counted(found)))
	}
}

// write makes a file, or prints to standard output when path is "".
func (e *export) write(path string, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriter(e.app.stdout)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := writeTo(path, write); err != nil {
		return err
	}
	e.app.notice("Written: " + safeLine(path))
	return nil
}

// exported is one session on its way out.
type exported struct {
	export  *export
	session catalog.Session
	replay  *replay
	state   *projection.State // without secrets
}

func (e *export) open(s catalog.Session) (*exported, error) {
	r := e.app.replayOf(e.app.catalog(), s)
	x := &exported{e, s, r, new(projection.State)}
	uncounted := redact.New(e.variables) // it is read again
	for event, err := range eventsWithout(uncounted, r.events()) {
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
	return span{to: &place{seq: x.state.Seq}}.upTo(eventsWithout(x.export.redactor, x.replay.events()))
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
		_, err := interchange.Journal(w, x.events())
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
		return snapshotName(x.state.Row.UpdatedAt, x.replay.id)
	case "claude", "codex", "gemini":
		return interchange.TranscriptName(format, x.state)
	}
	return x.replay.id + "." + format
}

func (x *exported) page() interchange.Page {
	row := x.state.Row
	p := interchange.Page{
		Title: safeLine(row.Title), ID: x.replay.id, Team: safeLine(x.state.Team.Name),
		CreatedAt: projection.FormatTime(row.CreatedAt), Updated: projection.FormatTime(row.UpdatedAt),
	}
	if x.state.Task != nil {
		p.Task = safe(*x.state.Task)
	}
	return p
}

// harmless are the messages as people may look at them.
func (x *exported) harmless() iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		for entry, err := range projection.Replay(x.events()) {
			entry.Content, entry.Speaker.DisplayName = safe(entry.Content), safeLine(entry.Speaker.DisplayName)
			entry.Timestamp = safeLine(entry.Timestamp)
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
	if err := writeJSON(&frame, newSessionJSON(s)); err != nil {
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
		if err := writeJSON(&line, entry); err != nil {
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
