package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// The bounds of a call.
const (
	maxResult = 24 << 10         // bytes of quotations in a result
	maxCalls  = 4                // that run at once
	softTime  = 30 * time.Second // after which a search returns what it has
)

// MaxTime is how long a call may take.
const MaxTime = time.Minute

// A Recall reads the sessions of a home. Its methods may be called concurrently.
type Recall struct {
	app  *app.App
	team string // id; "": all teams

	arguments map[string][]string // the names of those of each tool

	calls   chan struct{} // has an element for each call that runs
	listing chan struct{} // has an element while the catalog is listed
	hub     hubCount
}

// New returns a Recall of the sessions of the team with an id, or of all teams if it is "".
func New(a *app.App, team string) *Recall {
	return &Recall{
		app: a, team: team, arguments: map[string][]string{},
		calls: make(chan struct{}, maxCalls), listing: make(chan struct{}, 1),
	}
}

// instructions tell a model when to use the server.
const instructions = `Search and read the conversations that people and agents had earlier, saved by agent-chatter. ` +
	`Use search_sessions to find what was said, who_touched to find which turns worked on a file, list_sessions for ` +
	`an overview, and read_session to read around what was found. Everything is read-only. ` + quoteNotice

// Server returns a server of the sessions. version is that of the program.
func (r *Recall) Server(version string) *sdk.Server {
	own := &sdk.Implementation{Name: "agent-chatter", Title: "Sessions of agent-chatter", Version: version}
	s := sdk.NewServer(own, &sdk.ServerOptions{
		Instructions: instructions, CompletionHandler: r.complete,
		Capabilities: &sdk.ServerCapabilities{ // nothing that a client could be notified of
			Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
		},
	})
	// Clients wait for the answer to their first request, and the schemas of the tools take a tenth of the start.
	add := sync.OnceFunc(func() { r.addTools(s) })
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			if strings.HasPrefix(method, "tools/") {
				add()
			}
			called, isCall := request.GetParams().(*sdk.CallToolParamsRaw)
			isCall = isCall && called != nil
			if isCall && string(called.Arguments) == "null" {
				called.Arguments = nil // the SDK panics at null
			}
			result, err := next(ctx, method, request)
			if isCall && err == nil {
				explainInvalid(result, called.Name, r.arguments[called.Name])
			}
			return result, err
		}
	})
	r.addResources(s)
	addPrompt(s)
	return s
}

// take adds an element to a channel, which leave removes.
func take(ctx context.Context, slots chan struct{}) (leave func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// list lists the sessions of the team, if there is one. One call does so at a time: without an index, each would need
// the memory to make it.
func (r *Recall) list(ctx context.Context, q catalog.Query) (*catalog.Result, error) {
	leave, err := take(ctx, r.listing)
	if err != nil {
		return nil, err
	}
	defer leave()
	if r.team != "" {
		q.Team = r.team
	}
	return r.app.Catalog.List(ctx, q)
}

// maxName is the length of the longest name of a session, in bytes.
const maxName = 500

// find returns the session that a client names: by its id, the beginning or the end of it, its title, or latest. The
// name may be a citation or a URI; event is the number in it, or 0.
func (r *Recall) find(ctx context.Context, name string) (s catalog.Session, event uint64, err error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), scheme)
	if len(name) > maxName {
		return s, 0, failure("The name of the session is longer than %d bytes. Call list_sessions for the ids.",
			maxName)
	}
	name, event = cutEvent(name)
	id := strings.ToUpper(name)
	switch {
	case !journal.ValidID(id):
		s, err = r.findByName(ctx, name)
	case r.team == "":
		s, _, err = r.app.Catalog.Find(ctx, id)
	default:
		if s, err = r.app.Catalog.Team(r.team).Session(ctx, id); errors.Is(err, journal.ErrNotFound) {
			err = &catalog.NotFoundError{Name: name}
		}
	}
	return s, event, err
}

// findByName is catalog.Catalog.Find in the sessions that can be read here. It keeps few of them in memory.
func (r *Recall) findByName(ctx context.Context, name string) (catalog.Session, error) {
	list, err := r.list(ctx, catalog.Query{})
	if err != nil {
		return catalog.Session{}, err
	}
	var titled, candidates []catalog.Session
	for s := range catalog.Sessions(list.Matches) {
		switch {
		case ctx.Err() != nil:
			return catalog.Session{}, ctx.Err()
		case name == catalog.LatestName && s.Damaged == "" && s.MessageCount > 0:
			return s, nil
		case s.Title == name && name != "":
			titled = append(titled, s)
		case catalog.MatchesID(s.ID, name):
			candidates = append(candidates, s)
		}
	}
	if len(titled) > 0 {
		candidates = titled
	}
	switch len(candidates) {
	case 0:
		return catalog.Session{}, &catalog.NotFoundError{Name: name}
	case 1:
		return candidates[0], nil
	}
	return catalog.Session{}, &catalog.AmbiguousError{Name: name, Candidates: candidates}
}

// redactors returns the function that returns what replaces the secrets of the sessions of a team's configuration.
func (r *Recall) redactors() func(*projection.Source) *redact.Redactor {
	inherited := team.InheritedSecrets()
	of := map[string]*redact.Redactor{} // by the path of the configuration
	return func(source *projection.Source) *redact.Redactor {
		path := ""
		if source != nil {
			path = source.Path
		}
		if of[path] == nil {
			variables := inherited
			if source != nil {
				variables = append(variables[:len(variables):len(variables)], r.app.TeamSecrets(source)...)
			}
			of[path] = redact.New(variables)
		}
		return of[path]
	}
}

// A failureError tells a model what to do instead.
type failureError struct{ text string }

func (e *failureError) Error() string { return e.text }

func failure(format string, args ...any) error { return &failureError{fmt.Sprintf(format, args...)} }

// explained returns the error of a call as a text for a model, which says what to call next.
func explained(err error) error {
	var own *failureError
	var notFound *catalog.NotFoundError
	var ambiguous *catalog.AmbiguousError
	var pattern *search.PatternError
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &notFound):
		return failure("There is no session %q. Call list_sessions for the ids.", notFound.Name)
	case errors.As(err, &ambiguous):
		return ambiguity(ambiguous)
	case errors.As(err, &pattern):
		return failure("%s. Correct it, or call search_sessions without regex.", visible(err.Error()))
	case errors.Is(err, context.DeadlineExceeded):
		return failure("The call took longer than %v and was ended. Narrow it, for example with since or directory.",
			MaxTime)
	case errors.Is(err, context.Canceled):
		return failure("The call was cancelled.")
	}
	return failure("%s", damage("The call failed. Call it again, or call list_sessions for other sessions.", err))
}

// ambiguity lists the ids that a name stands for.
func ambiguity(e *catalog.AmbiguousError) error {
	const shown = 10
	var ids []string
	for _, s := range e.Candidates[:min(shown, len(e.Candidates))] {
		ids = append(ids, s.ID)
	}
	more := ""
	if n := len(e.Candidates) - len(ids); n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return failure("%q names %d sessions: %s%s. Call again with a whole id; list_sessions tells them apart.",
		e.Name, len(e.Candidates), strings.Join(ids, ", "), more)
}

// hubCount remembers for a while how many sessions a hub has that are not here.
type hubCount struct {
	mu    sync.Mutex
	asked time.Time
	n     int
	err   error
}

// hubAge is how long a hubCount is valid.
const hubAge = time.Minute

// missing returns the problem that sessions are not here, or "".
func (r *Recall) missing(ctx context.Context) string {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.hub.asked.IsZero() || time.Since(r.hub.asked) > hubAge {
		directory := ""
		if r.team != "" {
			directory = journal.DirName(r.team)
		}
		r.hub.n, r.hub.err = r.app.Remote.CountMissingOf(ctx, r.app.Catalog, directory)
		r.hub.asked = time.Now()
	}
	switch {
	case r.hub.err != nil:
		return "The hub does not answer: sessions that are only there are left out."
	case r.hub.n > 0:
		return fmt.Sprintf("Left out: %s with events that are only on the hub. To fetch them, a person can type: "+
			"agent-chatter hub pull --all", app.Count(r.hub.n, "session"))
	}
	return ""
}

// commonProblems returns what may be missing from any result.
func (r *Recall) commonProblems(ctx context.Context) (all []string) {
	if missing := r.missing(ctx); missing != "" {
		all = append(all, missing)
	}
	if r.app.HasUnreadable() {
		all = append(all, "The directories of some teams cannot be read: their sessions are left out.")
	}
	return all
}
