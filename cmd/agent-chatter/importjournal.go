package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// takeJournal imports a journal that lies anywhere, under any name.
func (a *app) takeJournal(path string) imported {
	done := imported{Path: path, Action: "failed"}
	whole, err := filepath.Abs(path)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	team, id, err := a.journalAt(whole)
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
	done = a.takeSession(path, formatJournal, whole, interchange.Fitting(reader.All()))
	if torn := reader.Torn(); torn.Bytes > 0 {
		a.notice(tornText(id, torn))
	}
	return done
}

// takeBundle imports the sessions of a bundle, one after another.
func (a *app) takeBundle(path string) []imported {
	f, err := os.Open(path)
	if err != nil {
		return []imported{{Path: path, Action: "failed", Error: err.Error()}}
	}
	defer f.Close()
	whole, err := filepath.Abs(path)
	if err != nil {
		return []imported{{Path: path, Action: "failed", Error: err.Error()}}
	}
	var all []imported
	for events := range interchange.ReadBundle(f, a.lineLimit()) {
		all = append(all, a.takeSession(path, formatBundle, whole, events))
	}
	if len(all) == 0 {
		all = append(all, imported{Path: path, Action: "failed", Error: "there is no session in " + path})
	}
	return all
}

// takeSession imports one session.
func (a *app) takeSession(path, format, whole string, events iter.Seq2[journal.Event, error]) imported {
	done, err := a.takeFrom(format, whole, events)
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

func (a *app) takeFrom(format, whole string, events iter.Seq2[journal.Event, error]) (done imported, err error) {
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
	created, err := interchange.CreatedBy(first)
	if err != nil {
		return done, err
	}
	done.ID = created.SessionID
	secrets := a.redactor(nil)
	defer a.sayReplaced(secrets)
	all := func(yield func(journal.Event, error) bool) {
		for event, err, ok := first, error(nil), true; ok; event, err, ok = next() {
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
	from := projection.SessionImported{Source: format, Path: whole}
	done.Taken, done.Total, err = sessioncopy.ImportEvents(context.TODO(), a.catalog().Team(created.Team.ID), created.SessionID, from, eventsWithout(secrets, all))
	return done, err
}
