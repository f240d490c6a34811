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
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// A Server answers requests about the sessions of a catalog. Its methods may be called concurrently.
type Server struct {
	app   *app.App
	hosts Hosts           // of conversations; nil: the page is read-only
	done  <-chan struct{} // closed when the server ends, which ends the streams

	listing   sync.Mutex // held while the catalog is listed
	changes   *changes.Changes
	undo      undoList
	timelines timelines
	readers   fileReaders
	hub       elsewhere
}

// New returns a Server. hosts run the conversations; nil: the page is read-only. done ends the streams.
func New(a *app.App, hosts Hosts, done <-chan struct{}) *Server {
	return &Server{app: a, hosts: hosts, done: done, changes: changes.New(a), undo: undoList{of: map[int]undo{}}}
}

// Handler returns the handler of the requests below /api/.
func (d *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/sessions", answer(d, d.list))
	mux.HandleFunc("GET /api/sessions/{team}/{id}", answer(d, d.session))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/items", answer(d, d.items))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/text", answer(d, d.whole))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/search", d.find)
	mux.HandleFunc("GET /api/sessions/{team}/{id}/export", d.export)
	mux.HandleFunc("POST /api/sessions/{team}/{id}/fetch", d.fetch)
	for name, begin := range d.actions() {
		mux.HandleFunc("POST /api/sessions/{team}/{id}/"+name, answer(d, d.changed(begin)))
	}
	mux.HandleFunc("GET /api/host", answer(d, d.chat))
	mux.HandleFunc("POST /api/conversations", answer(d, d.begin))
	mux.HandleFunc("POST /api/sessions/{team}/{id}/continue", answer(d, d.goOn))
	mux.HandleFunc("POST /api/sessions/{team}/{id}/say", answer(d, d.say))
	mux.HandleFunc("POST /api/sessions/{team}/{id}/takeback", answer(d, d.takeBack))
	mux.HandleFunc("POST /api/sessions/{team}/{id}/answer", answer(d, d.answerQuestion))
	mux.HandleFunc("POST /api/sessions/{team}/{id}/cancel", answer(d, d.cancelTurn))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/complete", answer(d, d.complete))
	mux.HandleFunc("POST /api/sessions/{team}/{id}/rewind", answer(d, d.rewindPlan))
	mux.HandleFunc("POST /api/undo", answer(d, d.undone))
	mux.HandleFunc("GET /api/trash", answer(d, d.trash))
	mux.HandleFunc("GET /api/usage", answer(d, d.usage))
	mux.HandleFunc("GET /api/search", d.search)
	mux.HandleFunc("GET /api/sessions/{team}/{id}/timeline", answer(d, d.timeline))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/files", answer(d, d.files))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/files/diff", answer(d, d.fileDiff))
	mux.HandleFunc("GET /api/compare", answer(d, d.compare))
	mux.HandleFunc("GET /api/stream", d.stream)
	return mux
}

// answer returns the handler that sends what a function returns as JSON, or its error.
func answer[T any](d *Server, f func(r *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result, err := f(r)
		if err != nil {
			d.refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result)
	}
}

// refuse sends an error.
func (d *Server) refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var request *requestError
	var refused *app.ExitError
	var large *http.MaxBytesError
	var noEvent *sessioncopy.NoEventError
	switch code := app.CodeOf(err); {
	case errors.As(err, &large):
		status = http.StatusRequestEntityTooLarge
	case errors.As(err, &request), code == app.ExitUsage:
		status = http.StatusBadRequest
	case code == app.ExitNotFound, errors.As(err, &noEvent):
		status = http.StatusNotFound
	case code == app.ExitLocked, errors.As(err, &refused): // such as a pinned session
		status = http.StatusConflict
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": d.text(err)})
}

// A requestError says what is wrong with a request.
type requestError struct{ text string }

func (e *requestError) Error() string { return e.text }

// key returns the session that a request names.
func (d *Server) key(r *http.Request) (catalog.Key, error) {
	return d.named(r.PathValue("team"), r.PathValue("id"))
}

// named returns the session with an id in the directory of a team. It need not exist.
func (d *Server) named(team, id string) (catalog.Key, error) {
	dirs, err := d.app.Catalog.Teams()
	if err != nil {
		return catalog.Key{}, err
	}
	for _, dir := range dirs {
		path := dir.Journals().Path()
		if filepath.Base(path) == team && journal.ValidID(id) {
			return catalog.Key{Dir: path, ID: id}, nil
		}
	}
	if e := d.hub.entry(team + "/" + id); e != nil { // of a team without a directory
		return e.Key(), nil
	}
	return catalog.Key{}, &catalog.NotFoundError{Name: id}
}

// listed lists the catalog. One request does so at a time: without an index, each would need the memory to make it.
func (d *Server) listed(ctx context.Context, q catalog.Query) (*catalog.Result, error) {
	d.listing.Lock()
	defer d.listing.Unlock()
	if err := ctx.Err(); err != nil { // the client has gone meanwhile
		return nil, err
	}
	return d.app.Catalog.List(ctx, q)
}

// untilEnd returns a context that is done when the client closes the connection, or the server ends.
func (d *Server) untilEnd(r *http.Request) (context.Context, context.CancelFunc) {
	return d.untilEndOf(r.Context())
}

func (d *Server) untilEndOf(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-d.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// A patient writer sends what it is given at once, and lets the client take writeTime for each piece.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

const writeTime = time.Minute

func patientWriter(w http.ResponseWriter) *patient { return &patient{w, http.NewResponseController(w)} }

func (p *patient) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime))
	n, err := p.w.Write(data)
	if err == nil {
		err = p.control.Flush()
	}
	return n, err
}

// redactor returns what replaces the secrets of a session, and of its team's configuration; nil if there is none.
func (d *Server) redactor(source *projection.Source) *redact.Redactor {
	variables := team.InheritedSecrets()
	if source != nil {
		variables = append(variables, d.app.TeamSecrets(source)...)
	}
	return redact.New(variables)
}

// text explains an error.
func (d *Server) text(err error) string { return d.rendered(app.Explain(err)) }

// rendered returns a message with the commands that help, without secrets: a title may be in it.
func (d *Server) rendered(m app.Message) string { return d.redactor(nil).Text(d.app.Render(m)) }
