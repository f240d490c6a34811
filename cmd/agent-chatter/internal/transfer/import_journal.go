package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ImportJournal imports a journal from any directory; its name need not be its id.
func ImportJournal(ctx context.Context, a *app.App, path string) Imported {
	file := path
	if filepath.Ext(path) != ".jsonl" && !(app.IsArchive(path) && app.InArchive(path)) {
		copied, remove, err := copyJournal(path)
		if err != nil {
			return failed(path, err)
		}
		defer remove()
		file = copied
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return failed(path, err)
	}
	team, id, err := a.JournalAt(absolute)
	if err != nil {
		return failed(path, err)
	}
	reader, err := team.Journals().Reader(id, journal.Position{})
	if err != nil {
		return failed(path, err)
	}
	defer reader.Close()
	events := func(yield func(journal.Event, error) bool) {
		for e, err := range interchange.Validate(reader.All()) {
			if damage := (*journal.CorruptError)(nil); errors.As(err, &damage) {
				damage.Path = path // which may have been copied
			}
			if !yield(e, err) {
				return
			}
		}
	}
	r := importEvents(ctx, a, path, interchange.JournalFormat, events)
	if torn := reader.Torn(); torn.Bytes > 0 {
		a.Notice(view.TornText(id, torn))
	}
	return r
}

// copyJournal copies a journal whose name is not that of a journal, such as an archived one
// outside of an archive, to a temporary file with such a name.
func copyJournal(path string) (copied string, remove func(), err error) {
	source, err := openSource(path)
	if err != nil {
		return "", nil, err
	}
	defer source.Close()
	dir, err := os.MkdirTemp("", "agent-chatter-import-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	f, err := os.OpenFile(filepath.Join(dir, "copy.jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(f, source)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return f.Name(), remove, nil
}

// ImportBundle imports the sessions of a bundle. It returns at least one Imported.
func ImportBundle(ctx context.Context, a *app.App, path string) []Imported {
	f, err := os.Open(path)
	if err != nil {
		return []Imported{failed(path, err)}
	}
	defer f.Close()
	var results []Imported
	for events := range interchange.ReadBundle(f, a.LineLimit()) {
		results = append(results, importEvents(ctx, a, path, interchange.BundleFormat, events))
		if ctx.Err() != nil {
			break
		}
	}
	if len(results) == 0 {
		results = append(results, failed(path, errors.New("there is no session in "+path)))
	}
	return results
}

// importEvents imports the session that events describe.
func importEvents(
	ctx context.Context, a *app.App, path, format string, events iter.Seq2[journal.Event, error],
) Imported {
	r := Imported{Path: path}
	err := r.copyEvents(ctx, a, format, events)
	if err != nil && r.ID != "" {
		err = fmt.Errorf("session %s: %w", r.ID, err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	r.setAction(err)
	return r
}

func (r *Imported) copyEvents(
	ctx context.Context, a *app.App, format string, events iter.Seq2[journal.Event, error],
) error {
	absolute, err := filepath.Abs(r.Path)
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
	r.ID = created.SessionID
	secrets := a.Redactor(nil)
	defer a.ReportReplaced(secrets)
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
	source := projection.SessionImported{Source: format, Path: absolute}
	team := a.Catalog.Team(created.Team.ID)
	r.Taken, r.Total, err = sessioncopy.ImportEvents(ctx, team, r.ID, source, app.EventsWithout(secrets, all))
	return err
}
