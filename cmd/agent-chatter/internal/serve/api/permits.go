package api

import (
	"net/http"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// A permit is what a client needs for a request, and how many bytes it may send.
type permit struct {
	role web.Role
	body int64
}

// filesTime is how long a message with files may take to arrive.
const filesTime = 5 * time.Minute

// The bounds of the body of a request, in bytes.
const (
	maxBody  = 64 << 10
	maxFiles = 32 << 20 // of a message with files
)

// permits are the requests that change something and that a client with a lesser role than all may send, and those that
// have files.
var permits = map[string]permit{
	"POST /api/sessions/{team}/{id}/say":      {web.RoleAnswer, maxFiles},
	"POST /api/sessions/{team}/{id}/answer":   {web.RoleAnswer, maxBody},
	"POST /api/sessions/{team}/{id}/cancel":   {web.RoleAnswer, maxBody},
	"POST /api/sessions/{team}/{id}/takeback": {web.RoleAnswer, maxBody},
	"POST /api/sessions/{team}/{id}/continue": {web.RoleAnswer, maxBody},
	"POST /api/conversations":                 {web.RoleAll, maxFiles},
}

// permitMux finds the pattern of permits that a request matches.
var permitMux = func() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern := range permits {
		mux.Handle(pattern, http.NotFoundHandler())
	}
	return mux
}()

// permitOf returns what a request needs: reading needs the role read, and a change that is not in permits the role all.
func permitOf(r *http.Request) permit {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return permit{web.RoleRead, maxBody}
	}
	if _, pattern := permitMux.Handler(r); pattern != "" {
		return permits[pattern]
	}
	return permit{web.RoleAll, maxBody}
}

// MaxBody returns how many bytes the body of a request may have.
func MaxBody(r *http.Request) int64 { return permitOf(r).body }

// Permitted passes on the requests of clients that may send them. A web.Guard has admitted these clients.
func Permitted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		permit := permitOf(r)
		if !web.Permit(w, r, permit.role) {
			return
		}
		if permit.body == maxFiles { // a phone may send them slowly
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(filesTime))
		}
		next.ServeHTTP(w, r)
	})
}
