package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/changes"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// elsewhere is what the hub said last. It may be used concurrently.
type elsewhere struct {
	mu       sync.Mutex
	found    *catalog.Elsewhere
	byName   map[string]*catalog.Entry // by TEAM/ID
	failure  string                    // why the hub does not answer
	versions int                       // is counted when any of these changes
	fetches  map[catalog.Key]*fetching
}

// TakeElsewhere takes what the hub says of the sessions that are not here, or why it does not answer: then the list
// stays as it is, and says so.
func (d *Server) TakeElsewhere(found *catalog.Elsewhere, err error) {
	d.app.ReportHub(err)
	failure := ""
	if err != nil {
		failure = d.text(err)
	}
	h := &d.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil || h.failure != failure {
		h.versions++
	}
	if h.failure = failure; err != nil {
		return
	}
	h.found, h.byName = found, map[string]*catalog.Entry{}
	for _, e := range found.Entries() {
		h.byName[e.Key().Name()] = e
	}
}

func (h *elsewhere) sessions() *catalog.Elsewhere {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.found
}

func (h *elsewhere) problem() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure
}

func (h *elsewhere) version() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.versions
}

// entry returns a session, TEAM/ID, that is only on the hub, or that another machine writes; nil: neither.
func (h *elsewhere) entry(name string) *catalog.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.byName[name]
}

// onHub returns a session that is only on the hub, if err says that it is not here; nil: it is here, in the trash, or
// nowhere.
func (d *Server) onHub(key catalog.Key, err error) *catalog.Entry {
	e := d.hub.entry(key.Name())
	if e == nil || !errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	if trashed, err := trash.Of(d.app.Catalog.At(key.Dir).Journals()).Reader(key.ID); err == nil {
		trashed.Close()
		return nil
	}
	return e
}

// countRemote counts the sessions of a list that are only on the hub.
func countRemote(list []*catalog.Entry) (n int) {
	for _, e := range list {
		if e.Remote() {
			n++
		}
	}
	return n
}

// A fetching is a session that is being fetched.
type fetching struct {
	ended chan struct{}
	err   error // is set when it has ended
}

// fetching begins to fetch a session, unless that is being done. It goes on if the client leaves.
func (d *Server) fetching(key catalog.Key) *fetching {
	h := &d.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.fetches[key]; f != nil {
		return f
	}
	f := &fetching{ended: make(chan struct{})}
	if h.fetches == nil {
		h.fetches = map[catalog.Key]*fetching{}
	}
	h.fetches[key] = f
	go func() {
		ctx, cancel := d.untilEndOf(context.Background())
		defer cancel()
		_, f.err = d.app.Remote.Session(ctx, d.app.Catalog.At(key.Dir), key.ID)
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.fetches, key)
		close(f.ended)
	}()
	return f
}

// A progressJSON is a line of the answer to a request that fetches a session.
type progressJSON struct {
	Bytes int64  `json:"bytes"` // that are here
	Ended bool   `json:"ended,omitempty"`
	Error string `json:"error,omitempty"`
}

// progressPause is the time between two lines.
const progressPause = 500 * time.Millisecond

// fetch fetches a session that is only on the hub, and says how far it is, as lines of JSON. An error before the first
// line is that of the request.
func (d *Server) fetch(w http.ResponseWriter, r *http.Request) {
	key, err := d.key(r)
	if err == nil {
		_, err = bodyOf[wantedJSON](r)
	}
	if err != nil {
		d.refuse(w, err)
		return
	}
	f := d.fetching(key)
	lines := json.NewEncoder(patientWriter(w))
	send := func(p progressJSON) error {
		w.Header().Set("Content-Type", "application/x-ndjson")
		p.Bytes = d.bytes(key)
		return lines.Encode(p)
	}
	for begun := false; ; begun = true {
		select {
		case <-f.ended:
			if f.err != nil && !begun {
				d.refuse(w, f.err)
				return
			}
			last := progressJSON{Ended: true}
			if f.err != nil {
				last.Error = d.text(f.err)
			}
			_ = send(last)
			return
		case <-time.After(progressPause):
			if send(progressJSON{}) != nil {
				return
			}
		}
	}
}

// bytes returns the size of what is here of a session.
func (d *Server) bytes(key catalog.Key) int64 {
	info, err := d.app.Catalog.At(key.Dir).Journals().Stat(key.ID)
	if err != nil {
		return 0
	}
	return info.Size
}

// refused returns why a session that is only on the hub cannot be moved to the trash; nil: it is here, or another
// change is requested.
func (d *Server) refused(r *http.Request, key catalog.Key) error {
	if filepath.Base(r.URL.Path) != "trash" {
		return nil
	}
	_, err := d.app.Catalog.At(key.Dir).Session(r.Context(), key.ID)
	if d.onHub(key, err) != nil {
		return app.Exit(app.ExitFailed, changes.OnlyOnHubText(key.ID))
	}
	return nil
}
