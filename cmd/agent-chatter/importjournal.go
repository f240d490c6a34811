package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// The formats of whole sessions, as --format names them.
const (
	formatBundle  = "bundle"
	formatJournal = "journal"
)

// formatOf is what a file is: what somebody says, or what it begins like.
func (cmd *sessionsImport) formatOf(path string) string {
	if cmd.Format != "auto" {
		return cmd.Format
	}
	return beginning(path)
}

// longestBeginning is how much of a file tells what it is, in bytes: the first
// event of a session names all members of its team.
const longestBeginning = 1 << 20

// beginning is the format that a file begins like, "" when it is another or
// cannot be read.
func beginning(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, longestBeginning))
	if err != nil {
		return ""
	}
	var first journal.Event
	switch {
	case interchange.IsBundle(head):
		return formatBundle
	case json.NewDecoder(bytes.NewReader(head)).Decode(&first) == nil && first.Seq == 1 && (first.Type == "session.created" || first.Type == journal.TypeRecovered):
		return formatJournal
	}
	return transcriptFormat(head, f)
}

// transcriptFormat is the format of a transcript of which the head has been read.
// Some are one object: what it is may stand at its end.
func transcriptFormat(head []byte, rest io.Reader) string {
	format := interchange.DetectTranscript(head)
	if format != "" || len(head) < longestBeginning || bytes.Contains(head, []byte(`"schemaVersion"`)) {
		return format // of a snapshot, which is read as one
	}
	behind, err := io.ReadAll(rest)
	if err != nil {
		return ""
	}
	return interchange.DetectTranscript(append(head, behind...))
}

// takeTranscript imports what another program kept of a conversation.
func (a *app) takeTranscript(format, path, team string) imported {
	done := imported{Path: path, Action: "failed"}
	data, err := os.ReadFile(path)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	s, err := a.readTranscript(format, data, whole)
	if err != nil {
		done.Error = fmt.Sprintf("%s: %v", path, err)
		return done
	}
	if team != "" {
		s.In(team)
	}
	done = a.take(s)
	done.Path, done.Skipped = path, s.Imported.Skipped
	return done
}

// readTranscript reads a file of another program, and what lies beside it where
// that is needed.
func (a *app) readTranscript(format string, data []byte, path string) (*interchange.Session, error) {
	if format != "synapse" {
		return interchange.Transcript(format, data, path, a.identity())
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	index, err := os.ReadFile(filepath.Join(filepath.Dir(path), "sessions.json"))
	if err != nil {
		index = nil // the session stands without it
	}
	return interchange.Synapse(data, path, index, info.ModTime(), a.identity())
}

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
	done.Taken, done.Total, err = a.catalog().Team(created.Team.ID).TakeEvents(created.SessionID, from, eventsWithout(secrets, all))
	return done, err
}
