package api

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/changes"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A doneJSON is what a change did.
type doneJSON struct {
	Key     string `json:"key"` // of the session; of a fork: the new one
	Text    string `json:"text"`
	Notices string `json:"notices,omitempty"`
	Undo    int    `json:"undo,omitempty"` // takes the change back; 0: nothing does
}

// A wantedJSON is the body of a request for a change. Each change takes one of the fields, or none.
type wantedJSON struct {
	Title  string `json:"title"`
	Pinned bool   `json:"pinned"`
	Seq    uint64 `json:"seq"` // the last event that a fork copies; 0: all
	Undo   int    `json:"undo"`
}

// A beginning begins a change of a session.
type beginning func(ctx context.Context, key catalog.Key, wanted wantedJSON) changes.Change

// actions are the changes by their names in requests.
func (d *Server) actions() map[string]beginning {
	return map[string]beginning{
		"rename": func(ctx context.Context, key catalog.Key, wanted wantedJSON) changes.Change {
			return d.changes.Rename(ctx, key, wanted.Title)
		},
		"pin": func(ctx context.Context, key catalog.Key, wanted wantedJSON) changes.Change {
			return d.changes.Pin(ctx, key, wanted.Pinned)
		},
		"fork": func(ctx context.Context, key catalog.Key, wanted wantedJSON) changes.Change {
			return d.changes.Fork(ctx, key, wanted.Seq)
		},
		"trash": func(ctx context.Context, key catalog.Key, _ wantedJSON) changes.Change {
			return d.changes.Trash(ctx, key)
		},
		"restore": func(ctx context.Context, key catalog.Key, _ wantedJSON) changes.Change {
			return d.changes.Restore(ctx, key)
		},
	}
}

// changed returns the function that makes a change and waits for its end.
func (d *Server) changed(begin beginning) func(r *http.Request) (doneJSON, error) {
	return func(r *http.Request) (doneJSON, error) {
		key, err := d.key(r)
		if err != nil {
			return doneJSON{}, err
		}
		wanted, err := bodyOf[wantedJSON](r)
		if err != nil {
			return doneJSON{}, err
		}
		if err := d.refused(r, key); err != nil {
			return doneJSON{}, err
		}
		return d.ended(key, func() changes.Change { return begin(r.Context(), key, wanted) })
	}
}

// ended makes a change of a session and waits for its end.
func (d *Server) ended(key catalog.Key, begin func() changes.Change) (doneJSON, error) {
	before := app.TeamSource(d.app.Catalog.At(key.Dir), key.ID) // the change may move the session to the trash
	result, err := begin()()
	if err != nil {
		return doneJSON{}, err
	}
	secrets := d.redactor(cmp.Or(before, app.TeamSource(d.app.Catalog.At(key.Dir), key.ID)))
	done := doneJSON{
		Key: result.Session.Name(), Text: secrets.Text(result.Text), Notices: secrets.Text(result.Notices),
	}
	if result.Undo != nil {
		done.Undo = d.undo.add(undo{key, result.Undo})
	}
	return done, nil
}

// undone takes a change back.
func (d *Server) undone(r *http.Request) (doneJSON, error) {
	wanted, err := bodyOf[wantedJSON](r)
	if err != nil {
		return doneJSON{}, err
	}
	taken, ok := d.undo.take(wanted.Undo)
	if !ok {
		return doneJSON{}, app.Exit(app.ExitNotFound, app.Text("This change cannot be undone any more."))
	}
	done, err := d.ended(taken.key, func() changes.Change { return taken.begin(r.Context()) })
	if errors.Is(err, journal.ErrLocked) {
		d.undo.put(wanted.Undo, taken) // it may be unlocked later
	}
	done.Undo = 0
	return done, err
}

// An undo begins the change that takes another one back.
type undo struct {
	key   catalog.Key
	begin func(ctx context.Context) changes.Change
}

// maxUndo is how many changes can be undone.
const maxUndo = 100

// An undoList has the newest changes by their numbers, which begin with 1.
type undoList struct {
	mu   sync.Mutex
	of   map[int]undo
	last int
}

func (l *undoList) add(u undo) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	l.of[l.last] = u
	delete(l.of, l.last-maxUndo)
	return l.last
}

func (l *undoList) put(n int, u undo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[n] = u
}

// take removes a change: it can be undone once.
func (l *undoList) take(n int) (u undo, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u, ok = l.of[n]
	delete(l.of, n)
	return u, ok
}

// export sends a session as a file. The header Agent-Chatter-Notice, encoded as in a URL, says what may be missing.
func (d *Server) export(w http.ResponseWriter, r *http.Request) {
	key, err := d.key(r)
	if err != nil {
		d.refuse(w, err)
		return
	}
	ctx, cancel := d.untilEnd(r)
	defer cancel()
	s, err := d.app.Catalog.At(key.Dir).Session(ctx, key.ID)
	if err != nil {
		d.refuse(w, err)
		return
	}
	var notices strings.Builder
	out := bufio.NewWriterSize(patientWriter(w), 64<<10)
	begun := false
	err = transfer.WriteSession(ctx, d.app.WithStderr(&notices), s, cmp.Or(r.FormValue("format"), "md"), out,
		func(name string) {
			begun = true
			h := w.Header()
			h.Set("Content-Type", "application/octet-stream")
			h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
			if text := strings.TrimSpace(notices.String()); text != "" {
				h.Set("Agent-Chatter-Notice", url.PathEscape(d.redactor(s.Source).Text(text)))
			}
		})
	if err == nil {
		err = out.Flush()
	}
	switch {
	case err != nil && begun:
		panic(http.ErrAbortHandler) // the client has to notice that the file is not complete
	case err != nil:
		d.refuse(w, err)
	}
}
