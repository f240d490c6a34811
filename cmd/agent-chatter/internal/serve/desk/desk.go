package desk

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A Desk answers requests about the sessions of a catalog. Its methods may be called concurrently.
type Desk struct {
	app  *app.App
	done <-chan struct{} // closed when the server ends, which ends the streams
}

// New returns a Desk. done ends its streams.
func New(a *app.App, done <-chan struct{}) *Desk {
	return &Desk{app: a, done: done}
}

// Handler returns the handler of the requests below /api/.
func (d *Desk) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/sessions", answer(d, d.list))
	mux.HandleFunc("GET /api/sessions/{team}/{id}", answer(d, d.session))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/items", answer(d, d.items))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/text", answer(d, d.whole))
	mux.HandleFunc("GET /api/sessions/{team}/{id}/search", d.find)
	mux.HandleFunc("GET /api/stream", d.stream)
	return mux
}

// answer returns the handler that sends what a function returns as JSON, or its error.
func answer[T any](d *Desk, f func(r *http.Request) (T, error)) http.HandlerFunc {
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
func (d *Desk) refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var request *requestError
	switch {
	case errors.As(err, &request):
		status = http.StatusBadRequest
	case errors.Is(err, journal.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, journal.ErrLocked):
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
func (d *Desk) key(r *http.Request) (catalog.Key, error) {
	return d.named(r.PathValue("team"), r.PathValue("id"))
}

// named returns the session with an id in the directory of a team. It need not exist.
func (d *Desk) named(team, id string) (catalog.Key, error) {
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
	return catalog.Key{}, &catalog.NotFoundError{Name: id}
}

// redactor returns what replaces the secrets of a session, and of its team's configuration; nil if there is none.
func (d *Desk) redactor(source *projection.Source) *redact.Redactor {
	variables := team.InheritedSecrets()
	if source != nil {
		variables = append(variables, d.app.TeamSecrets(source)...)
	}
	return redact.New(variables)
}

// text explains an error.
func (d *Desk) text(err error) string { return d.app.Render(app.Explain(err)) }
