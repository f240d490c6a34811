package transfer

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// noPipeText is for a destination that is not a regular file: writing to a pipe would
// block the chat.
func noPipeText(path string) app.Message {
	return app.Text("%s is not a regular file. A chat exports only to files.", tty.SafeLine(path)).
		With(app.To("export elsewhere", "sessions", "export", "latest", "-o", path))
}

// WriteRunning writes the session of a running conversation to a file, or to a file in a directory: as a document or as
// Markdown if the path ends like one, otherwise as a snapshot. The secrets of its team are replaced. stored is the
// session on the disk; zero: it is not on the disk. WriteRunning returns a text that names the file.
func WriteRunning(
	ctx context.Context, a *app.App, c *coordinator.Coordinator, stored catalog.Session, path string,
) (text string, err error) {
	e := &exporter{app: a, variables: team.InheritedSecrets(), writeFile: writeRegularFile}
	for _, m := range c.Team().Members {
		e.variables = append(e.variables, m.Secrets()...)
	}
	e.redactor = redact.New(e.variables)
	defer func() { reportRedacted(a, e.redactor) }()
	cmd := &Export{Format: FormatOf(path), To: path}
	if cmd.Format != "html" && cmd.Format != "md" {
		cmd.Format = "snapshot"
	}
	e.written = func(path string) { text = WrittenText(path, cmd.Format) }
	if cmd.Format == "snapshot" {
		s, err := c.Snapshot(ctx)
		if err != nil {
			return "", err
		}
		err = e.writeSnapshot(s, path)
		return text, err
	}
	if stored.ID == "" {
		stored.ID = c.Session().ID
		for event, err := range c.Backward() {
			if err != nil {
				return "", err
			}
			e.events = append(e.events, event)
		}
		slices.Reverse(e.events)
	}
	_, err = cmd.export(ctx, e, stored)
	return text, err
}

// writeSnapshot writes a snapshot to a file, or to a file in a directory. It removes the secrets from s.
func (e *exporter) writeSnapshot(s *projection.Snapshot, path string) error {
	e.redactor.Snapshot(s)
	updated, err := time.Parse(time.RFC3339Nano, s.UpdatedAt)
	if err != nil {
		return err
	}
	if path, err = outputPath(path, snapshotName(updated, s.SessionID)); err != nil {
		return err
	}
	return e.write(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	})
}

func writeRegularFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return app.Exit(app.ExitFailed, noPipeText(path))
	}
	return WriteFile(path, write)
}

// inMemory are the events of a session without a journal.
type inMemory []journal.Event

func (m inMemory) Events(ctx context.Context) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range m {
			if !yield(e, ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

func (inMemory) CheckSpan(context.Context, view.Span) error { return nil }
func (inMemory) Torn() journal.Torn                         { return journal.Torn{} }
