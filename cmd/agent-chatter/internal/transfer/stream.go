package transfer

import (
	"context"
	"io"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// WriteSession writes a session to w in a format of Export other than auto. Before the first byte it calls begin with
// the name of the file. Secrets are replaced. Before that it prints notices about what may be missing, and whether the
// file cannot be imported. Errors: those of reading the session; one of ExitUsage for an unknown format.
func WriteSession(
	ctx context.Context, a *app.App, s catalog.Session, format string, w io.Writer, begin func(name string),
) error {
	write, known := formats[format]
	if format == "bundle" {
		write, known = func(ctx context.Context, x *sessionExport, w io.Writer) error {
			return writeBundle(ctx, w, x.exporter.app, []*sessionExport{x})
		}, true
	}
	if !known {
		return app.UsageError("There is no format %q.", format)
	}
	e := newExporter(a, []catalog.Session{s})
	cmd := &Export{Format: format}
	x, err := cmd.open(ctx, e, s)
	if err != nil {
		return err
	}
	defer x.close()
	if err := cmd.importable(x, nil); err != nil {
		a.Show(app.Explain(err))
	}
	begin(x.fileName(format))
	return write(ctx, x, w)
}

// writeBundle writes sessions to a bundle.
func writeBundle(ctx context.Context, w io.Writer, a *app.App, sessions []*sessionExport) error {
	files := slices.ContainsFunc(sessions, func(x *sessionExport) bool { return x.hasFiles })
	b, err := interchange.NewBundle(w, a.Identity(), len(sessions), files)
	if err != nil {
		return err
	}
	for _, x := range sessions {
		files, err := newMessageFiles(x)
		if err != nil {
			return err
		}
		if err := b.Add(files.events(x.events(ctx)), files.content); err != nil {
			return err
		}
	}
	return b.Close()
}
