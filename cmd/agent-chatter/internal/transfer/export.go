package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Export is the command that writes sessions to files.
type Export struct {
	ID     []string `arg:"" optional:"" help:"The sessions, or paths of journals (default: latest)."`
	Format string   `help:"Output format: ${enum} (${default}: of the file's extension, or snapshot)." enum:"auto,md,html,json,jsonl,snapshot,bundle,claude,codex,gemini,otlp" default:"auto"`
	To     string   `name:"output-file" short:"o" help:"A file or directory (default: standard output)." placeholder:"PATH"`
	All    bool     `help:"Export all sessions."`
	Sealed []string `name:"encrypt-to" help:"Encrypt a bundle to this age recipient; may be repeated." placeholder:"AGE1"`
	Texts  bool     `help:"Traces (otlp) have the texts of messages and tools, too."`
	First  string   `name:"from" help:"First event (md, html, json): number, time or turn:N." placeholder:"X"`
	Last   string   `name:"to" help:"Last event (md, html, json): number, time or turn:N." placeholder:"X"`
}

// Help shows examples.
func (Export) Help() string {
	return `Examples:
  agent-chatter sessions export -o talk.md
  agent-chatter sessions export --all --format html -o pages/
  agent-chatter sessions export 7QN3 --from turn:1 --to turn:2 -o part.html
  agent-chatter sessions export --all --format bundle -o everything.bundle
  agent-chatter sessions export --all -o backup/
  agent-chatter sessions export 7QN3 -o trace.otlp.json

Secrets are replaced in the output, even if the sessions contain them.`
}

// Run implements the command.
func (cmd *Export) Run(a *app.App) error {
	ctx := context.Background()
	// Opening a pipe blocks until it has a reader, so there a signal ends the process.
	if info, err := os.Stat(cmd.To); err != nil || info.Mode().IsRegular() || info.IsDir() {
		var stop func()
		ctx, stop = app.UntilSignal()
		defer stop()
	}
	named := cmd.Format
	if cmd.Format == "auto" {
		cmd.Format = FormatOf(cmd.To)
		named = ""
	}
	names := cmd.ID
	if cmd.To == "-" {
		cmd.To = "" // standard output
	}
	switch {
	case cmd.Texts && cmd.Format != "otlp":
		return app.UsageError("--texts is for traces: add --format otlp.")
	case len(cmd.Sealed) > 0 && cmd.Format != "bundle":
		return app.UsageError("--encrypt-to encrypts a bundle: add --format bundle.")
	case cmd.All && len(names) > 0:
		return app.UsageError("Name sessions or use --all, not both.")
	case len(names) == 0 && !cmd.All:
		names = []string{catalog.LatestName}
	}
	span, err := cmd.span()
	if err != nil {
		return err
	}
	sessions, err := a.Named(ctx, names, a.FindOrOpen)
	if err != nil {
		return err
	}
	e := newExporter(a, sessions)
	e.span, e.texts = span, cmd.Texts
	if named == "" {
		e.written = func(path string) { a.Notice(WrittenText(path, cmd.Format)) }
	}
	defer func() { reportRedacted(a, e.redactor) }()
	switch {
	case cmd.Format == "bundle":
		return cmd.bundle(ctx, e, sessions)
	case len(sessions) > 1 && !app.IsDirectory(cmd.To):
		return app.UsageError("%d sessions need a directory: -o DIR/", len(sessions))
	case cmd.All:
		return cmd.all(ctx, e, sessions)
	}
	var invalid error
	for i, s := range sessions {
		x, err := cmd.export(ctx, e, s)
		if err != nil {
			return app.WithName(names[i], err)
		}
		invalid = cmd.importable(x, invalid)
	}
	return invalid
}

// ExportSession writes a session to a new file, in the format of its extension, and returns the path of the file. If to
// is a directory, Export's name for the file is added. Secrets are replaced. It prints notices about that, and about
// what may be missing. Errors: those of app.CreateFile, one of which matches fs.ErrExist; those of reading the session,
// with the path if the file has what precedes damage; and one of ExitFailed, with the path, for a file that cannot be
// imported.
func ExportSession(ctx context.Context, a *app.App, s catalog.Session, to string) (path string, err error) {
	if to == "" || to == "-" { // standard output
		return "", app.UsageError("Name a file.")
	}
	e := newExporter(a, []catalog.Session{s})
	e.writeFile = func(path string, write func(io.Writer) error) error {
		err := app.CreateFile(path, write)
		if errors.Is(err, fs.ErrExist) {
			return existsError{app.Exit(app.ExitFailed, existsText(path, s.ID))}
		}
		return err
	}
	e.written = func(at string) { path = at }
	defer func() { reportRedacted(a, e.redactor) }()
	cmd := &Export{Format: FormatOf(to), To: to}
	if cmd.Format == "bundle" {
		err = cmd.bundle(ctx, e, []catalog.Session{s})
		return path, err
	}
	x, err := cmd.export(ctx, e, s)
	if err == nil {
		err = cmd.importable(x, nil)
	}
	return path, err
}

// span returns the part of the session that --from and --to name.
func (cmd *Export) span() (view.Span, error) {
	switch {
	case cmd.First == "" && cmd.Last == "":
		return view.Span{}, nil
	case cmd.Format != "md" && cmd.Format != "html" && cmd.Format != "json":
		return view.Span{}, app.UsageError("--from and --to need --format md, html or json: "+
			"a file of format %s has the whole session.", cmd.Format)
	case cmd.All || len(cmd.ID) > 1:
		return view.Span{}, app.UsageError("--from and --to take one session.")
	}
	return view.ParseSpan(cmd.First, cmd.Last, "")
}

// FormatOf returns the format for the extension of a file.
func FormatOf(path string) string {
	if strings.HasSuffix(strings.ToLower(path), otlpSuffix) {
		return "otlp"
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md":
		return "md"
	case ".html", ".htm":
		return "html"
	case ".jsonl":
		return "jsonl"
	case ".bundle":
		return "bundle"
	}
	return "snapshot"
}

// all exports every session that can be read.
func (cmd *Export) all(ctx context.Context, e *exporter, sessions []catalog.Session) error {
	var skipped skippedSessions
	var invalid error
	for _, s := range sessions {
		x, err := cmd.open(ctx, e, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			skipped.add(e.app, err)
			continue
		}
		err = cmd.one(ctx, e, x)
		x.close()
		if err != nil {
			return err
		}
		if x.damage != nil {
			skipped.add(e.app, x.damage)
			continue
		}
		invalid = cmd.importable(x, invalid)
	}
	if err := skipped.err(e.app, len(sessions)); err != nil {
		if invalid != nil {
			e.app.Show(app.Explain(invalid))
		}
		return err
	}
	return invalid
}

// importable returns err, or the error of an export that cannot be imported. If both exist, it prints the latter.
func (cmd *Export) importable(x *sessionExport, err error) error {
	row := x.state.Row
	if row.Invalid == 0 || cmd.Format != "jsonl" && cmd.Format != "bundle" {
		return err
	}
	refused := notImportableText(x.session.ID, row.Invalid, row.FirstInvalid)
	if err != nil {
		x.exporter.app.Show(refused)
		return err
	}
	return app.Exit(app.ExitFailed, refused)
}

// skippedSessions counts the sessions that could not be read.
type skippedSessions struct{ n, exitCode int }

// add prints the error of a session.
func (s *skippedSessions) add(a *app.App, err error) {
	a.Show(app.Explain(err))
	s.n, s.exitCode = s.n+1, max(s.exitCode, app.CodeOf(err))
}

// err returns nil if all sessions were read.
func (s *skippedSessions) err(a *app.App, of int) error {
	switch {
	case s.n > 0:
		return app.Exit(s.exitCode, app.Message{Text: notExportedText(s.n, of)})
	case a.HasUnreadable():
		return app.Exit(app.ExitFailed, app.NotAllReadText())
	}
	return nil
}

// open reads a session for the format of the command.
func (cmd *Export) open(ctx context.Context, e *exporter, s catalog.Session) (*sessionExport, error) {
	x, err := e.open(ctx, s, cmd.Format)
	if err == nil && x.damage != nil && cmd.Format != "html" {
		x.close()
		err = x.damage
	}
	return x, err
}

// export reads a session and exports it. Of a damaged session, a document has what precedes the damage; the damage is
// the error.
func (cmd *Export) export(ctx context.Context, e *exporter, s catalog.Session) (*sessionExport, error) {
	x, err := cmd.open(ctx, e, s)
	if err == nil {
		err = cmd.one(ctx, e, x)
		x.close()
	}
	if err == nil {
		err = x.damage
	}
	return x, err
}

// one exports a session to its own file, or to standard output.
func (cmd *Export) one(ctx context.Context, e *exporter, x *sessionExport) error {
	path, err := outputPath(cmd.To, x.fileName(cmd.Format))
	if err != nil {
		return err
	}
	return e.write(path, func(w io.Writer) error { return formats[cmd.Format](ctx, x, w) })
}

// bundle exports all sessions to one file.
func (cmd *Export) bundle(ctx context.Context, e *exporter, sessions []catalog.Session) error {
	readable, skipped, err := cmd.readable(ctx, e, sessions)
	if err != nil {
		return err
	}
	if len(readable) == 0 && skipped.n > 0 {
		return skipped.err(e.app, len(sessions))
	}
	name := "sessions.bundle"
	if len(sessions) == 1 {
		name = sessions[0].ID + ".bundle"
	}
	path, err := outputPath(cmd.To, name)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return writeBundle(ctx, w, e.app, readable) }
	if len(cmd.Sealed) > 0 {
		if write, err = sealedWriter(cmd.Sealed, write); err != nil {
			return err
		}
	}
	err = e.write(path, write)
	if err == nil && cmd.All {
		err = skipped.err(e.app, len(sessions))
	}
	for _, x := range readable {
		err = cmd.importable(x, err)
	}
	return err
}

// readable returns the sessions that can be read to the end: a bundle starts with their
// number. Only --all skips the others.
func (cmd *Export) readable(
	ctx context.Context, e *exporter, sessions []catalog.Session,
) (readable []*sessionExport, skipped skippedSessions, err error) {
	for _, s := range sessions {
		x, err := cmd.open(ctx, e, s)
		switch {
		case ctx.Err() != nil:
			return nil, skipped, ctx.Err()
		case err != nil && !cmd.All:
			return nil, skipped, err
		case err != nil:
			skipped.add(e.app, err)
		default:
			// A bundle needs little of the state, and there may be thousands.
			x.state = &projection.State{Seq: x.state.Seq, Row: x.state.Row}
			readable = append(readable, x)
		}
	}
	return readable, skipped, nil
}

// notImportableText is for a session that was exported to a journal or a bundle.
func notImportableText(id string, invalid int, first uint64) app.Message {
	return app.Text("Session %s was exported, but cannot be imported: it has %s, first event %d.",
		id, app.Count(invalid, "invalid event"), first).With(app.To("repair it before the next export", "repair", id))
}

func notExportedText(n, of int) string {
	if n == of {
		return fmt.Sprintf("Nothing was exported: none of %s can be read.", app.Count(of, "session"))
	}
	return fmt.Sprintf("Cannot read %d of %s. The others were exported.",
		n, app.Count(of, "session"))
}
