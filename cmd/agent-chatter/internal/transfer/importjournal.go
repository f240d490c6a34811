package transfer

import (
	"context"
	"errors"
	"fmt"
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

// takeJournal imports a journal that lies anywhere, under any name.
func takeJournal(a *app.App, path string) Imported {
	done := Imported{Path: path, Action: "failed"}
	whole, err := filepath.Abs(path)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	team, id, err := a.JournalAt(whole)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	reader, err := team.Journals().Reader(id, journal.Position{})
	if err != nil {
		done.Error = err.Error()
		return done
	}
	defer reader.Close()
	done = takeSession(a, path, FormatJournal, whole, interchange.Validate(reader.All()))
	if torn := reader.Torn(); torn.Bytes > 0 {
		a.Notice(view.TornText(id, torn))
	}
	return done
}

// takeBundle imports the sessions of a bundle, one after another.
func TakeBundle(a *app.App, path string) []Imported {
	f, err := os.Open(path)
	if err != nil {
		return []Imported{{Path: path, Action: "failed", Error: err.Error()}}
	}
	defer f.Close()
	whole, err := filepath.Abs(path)
	if err != nil {
		return []Imported{{Path: path, Action: "failed", Error: err.Error()}}
	}
	var all []Imported
	for events := range interchange.ReadBundle(f, a.LineLimit()) {
		all = append(all, takeSession(a, path, FormatBundle, whole, events))
	}
	if len(all) == 0 {
		all = append(all, Imported{Path: path, Action: "failed", Error: "there is no session in " + path})
	}
	return all
}

// takeSession imports one session.
func takeSession(a *app.App, path, format, whole string, events iter.Seq2[journal.Event, error]) Imported {
	done, err := takeFrom(a, format, whole, events)
	if err != nil && done.ID != "" {
		err = fmt.Errorf("session %s: %w", done.ID, err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	done.Path = path
	done.judge(err)
	return done
}

func takeFrom(a *app.App, format, whole string, events iter.Seq2[journal.Event, error]) (done Imported, err error) {
	next, stop := iter.Pull2(events)
	defer stop()
	first, err, ok := next()
	for ok && first.Type == journal.TypeRecovered { // what is said of the other file
		first, err, ok = next()
	}
	if !ok {
		err = errors.New("there is no event in it")
	}
	if err != nil {
		return done, err
	}
	created, err := interchange.Header(first)
	if err != nil {
		return done, err
	}
	done.ID = created.SessionID
	secrets := a.Redactor(nil)
	defer a.ReportReplaced(secrets)
	all := func(yield func(journal.Event, error) bool) {
		for event, err, ok := first, error(nil), true; ok; event, err, ok = next() {
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
	from := projection.SessionImported{Source: format, Path: whole}
	done.Taken, done.Total, err = sessioncopy.ImportEvents(context.Background(), a.Catalog.Team(created.Team.ID), created.SessionID, from, app.EventsWithout(secrets, all))
	return done, err
}
