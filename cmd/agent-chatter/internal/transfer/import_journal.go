package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// ImportJournal imports a journal from any directory; its name need not be its id.
func ImportJournal(ctx context.Context, a *app.App, path string, asNew bool) Imported {
	return importJournal(ctx, a, path, path, asNew)
}

// importJournal imports a journal from a file that has another path than its name.
func importJournal(ctx context.Context, a *app.App, path, name string, asNew bool) Imported {
	file := path
	if filepath.Ext(path) != ".jsonl" && !(app.IsArchive(path) && app.InArchive(path)) {
		copied, remove, err := copyJournal(path)
		if err != nil {
			return failed(name, err)
		}
		defer remove()
		file = copied
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return failed(name, err)
	}
	dir, id, err := a.JournalAt(absolute)
	if err != nil {
		return failed(name, err)
	}
	var torn journal.Torn
	read := func(use func(iter.Seq2[journal.Event, error])) error {
		reader, err := dir.Journals().Reader(id, journal.Position{})
		if err != nil {
			return err
		}
		defer reader.Close()
		use(func(yield func(journal.Event, error) bool) {
			for e, err := range interchange.Validate(reader.All()) {
				if damage := (*journal.CorruptError)(nil); errors.As(err, &damage) {
					damage.Path = name // which may have been copied
				}
				if !yield(e, err) {
					return
				}
			}
		})
		torn = reader.Torn()
		return nil
	}
	i := eventImport{app: a, path: name, format: interchange.JournalFormat, asNew: asNew, again: read}
	if i.files, err = dir.Attachments(id); err != nil {
		return failed(name, err)
	}
	var r Imported
	if err := read(func(events iter.Seq2[journal.Event, error]) { r = i.run(ctx, events) }); err != nil {
		return failed(name, err)
	}
	if torn.Bytes > 0 {
		a.Notice(view.TornText(id, torn))
	}
	return r
}

// copyJournal copies a journal whose name is not that of a journal, such as an archived one
// outside of an archive, to a temporary file with such a name.
func copyJournal(path string) (copied string, remove func(), err error) {
	original, _, err := openSource(path)
	if err != nil {
		return "", nil, err
	}
	defer original.Close()
	dir, err := os.MkdirTemp("", "agent-chatter-import-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	f, err := os.OpenFile(filepath.Join(dir, "copy.jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(f, original)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return f.Name(), remove, nil
}

// ImportBundle imports the sessions of a bundle. It returns at least one Imported.
func ImportBundle(ctx context.Context, a *app.App, path string, asNew bool) []Imported {
	return importBundle(ctx, a, path, path, asNew)
}

// importBundle imports the sessions of a bundle in a file that has another path than its name.
func importBundle(ctx context.Context, a *app.App, path, name string, asNew bool) []Imported {
	var results []Imported
	files, remove, err := bundledFiles()
	if err != nil {
		return []Imported{failed(name, err)}
	}
	defer remove()
	err = eachBundled(a, path, &files, func(n int, events iter.Seq2[journal.Event, error]) bool {
		i := eventImport{app: a, path: name, format: interchange.BundleFormat, asNew: asNew, files: files}
		i.again = func(use func(iter.Seq2[journal.Event, error])) error {
			return eachBundled(a, path, nil, func(m int, events iter.Seq2[journal.Event, error]) bool {
				if m == n {
					use(events)
				}
				return m < n
			})
		}
		results = append(results, i.run(ctx, events))
		return ctx.Err() == nil
	})
	if err != nil {
		results = append(results, failed(name, err))
	}
	if len(results) == 0 {
		results = append(results, failed(name, errors.New("there is no session in "+name)))
	}
	return results
}

// bundledFiles returns a temporary directory for the files of a bundle.
func bundledFiles() (files attachment.Dir, remove func(), err error) {
	tmp, err := os.MkdirTemp("", "agent-chatter-import-")
	if err != nil {
		return files, nil, err
	}
	files, err = attachment.Of(journal.NewDir(tmp, journal.Options{}), "bundle")
	return files, func() { os.RemoveAll(tmp) }, err
}

// eachBundled passes the sessions of a bundle to a function until that returns false. It keeps the files of their
// messages in a directory; nil: nowhere.
func eachBundled(
	a *app.App, path string, files *attachment.Dir, each func(n int, events iter.Seq2[journal.Event, error]) bool,
) error {
	f, err := regularfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n := 0
	keep := func(data []byte) error {
		_, err := files.Write(data)
		return err
	}
	if files == nil {
		keep = nil
	}
	for events := range interchange.ReadBundle(f, a.LineLimit(), keep) {
		if !each(n, events) {
			break
		}
		n++
	}
	return nil
}

// eventImport imports a session of a journal or a bundle.
type eventImport struct {
	app          *app.App
	path, format string
	asNew        bool
	files        attachment.Dir // of the messages
	// again reads the events once more.
	again func(use func(iter.Seq2[journal.Event, error])) error

	team string // of the session
}

// run imports the session that events describe. If it has diverged from the existing
// session, it becomes, or continues, a copy of that.
func (i *eventImport) run(ctx context.Context, events iter.Seq2[journal.Event, error]) Imported {
	r := Imported{Path: i.path}
	err := i.copyEvents(ctx, &r, 0, events)
	id, diverged := r.ID, err
	for n := 1; errors.Is(err, sessioncopy.ErrDiverged); n++ {
		if _, found := i.app.Catalog.Team(i.team).Session(ctx, interchange.CopyID(id, n)); found != nil && !i.asNew {
			err, r.ID = app.Exit(app.ExitFailed, divergedText(i.path, diverged)), id
			break
		}
		failure := i.again(func(events iter.Seq2[journal.Event, error]) { err = i.copyEvents(ctx, &r, n, events) })
		err = cmp.Or(failure, err)
	}
	var exit *app.ExitError
	var invalid *schemas.InvalidError
	switch {
	case errors.As(err, &invalid) && r.ID != "":
		err = app.Exit(app.ExitFailed, i.invalidText(r.ID, err))
	case err != nil && !errors.As(err, &exit):
		if r.ID != "" {
			err = fmt.Errorf("session %s: %w", r.ID, err)
		}
		err = fmt.Errorf("%s: %w", i.path, err)
	}
	r.setAction(err)
	return r
}

// invalidText is for a session with an event that does not match its schema.
func (i *eventImport) invalidText(id string, err error) app.Message {
	m := app.Text("%s: session %s: %s", tty.SafeLine(i.path), id, app.Reason(err))
	if i.format == interchange.BundleFormat {
		return m.With(app.To("repair it where it was exported, before the next export", "repair", id))
	}
	return m.With(app.To("repair it", "repair", i.path))
}

// copyEvents writes the events to the nth copy of their session; 0 is the session.
func (i *eventImport) copyEvents(
	ctx context.Context, r *Imported, n int, events iter.Seq2[journal.Event, error],
) error {
	absolute, err := filepath.Abs(i.path)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(events)
	defer stop()
	first, err, ok := next()
	for ok && err == nil && first.Type == journal.TypeRecovered { // it describes the other file
		first, err, ok = next()
	}
	if !ok {
		err = errors.New("there is no event in it")
	}
	if err != nil {
		return err
	}
	created, err := interchange.Header(first)
	if err != nil {
		return err
	}
	i.app.ReportHub(i.app.Remote.RefreshDeleted(ctx, i.app.Catalog, created.SessionID)) // it may be there
	i.team, r.ID = created.Team.ID, interchange.CopyID(created.SessionID, n)
	if n > 0 {
		if err := i.app.Remote.MarkCopy(i.app.Catalog.Team(i.team), r.ID, created.SessionID); err != nil {
			return err
		}
		created.SessionID = r.ID
		first.Data = projection.Record(first.Time, created).Data
	}
	secrets := i.app.Redactor(team.InheritedSecrets())
	defer i.app.ReportReplaced(secrets)
	all := func(yield func(journal.Event, error) bool) {
		for event, err, ok := first, error(nil), true; ok; event, err, ok = next() {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
	source := projection.SessionImported{Source: i.format, Path: absolute}
	dir := i.app.Catalog.Team(i.team)
	r.Taken, r.Total, err = sessioncopy.ImportEvents(ctx, dir, r.ID, source, secrets.Events(all), i.files)
	if err == nil && r.Taken > 0 && n == 0 {
		err = i.app.Remote.MarkCopy(dir, r.ID, r.ID) // what it got may be sealed on the hub
	}
	return err
}
