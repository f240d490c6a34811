package web

import (
	"context"
	"net/http"
)

// A Role is what a client may do. Each role includes the ones before it. The zero Role may do nothing.
type Role string

// The roles.
const (
	RoleRead   Role = "read"   // read everything
	RoleAnswer Role = "answer" // send messages, and answer questions of agents
	RoleAll    Role = "all"    // what the user at the terminal may
)

// Roles are all roles, the one that may least first.
var Roles = []Role{RoleRead, RoleAnswer, RoleAll}

// Permits reports whether a client with the role may do what needs another one.
func (r Role) Permits(needed Role) bool { return r.rank() >= needed.rank() && r.rank() > 0 }

// rank returns 0 for what is no role.
func (r Role) rank() int {
	for i, role := range Roles {
		if role == r {
			return i + 1
		}
	}
	return 0
}

// A Caller is the client that sent a request.
type Caller struct {
	ID     string // of a paired device; "": the client has the token of the server
	Device string // its name, which the device chose
	Role   Role
}

// callerKey is the key of the Caller in the context of a request.
type callerKey struct{}

// CallerOf returns the client that sent a request. If no Guard has admitted it, that is the zero Caller, which may do
// nothing.
func CallerOf(r *http.Request) Caller {
	c, _ := r.Context().Value(callerKey{}).(Caller)
	return c
}

// WithCaller returns a request that a Guard would have admitted for a client.
func WithCaller(r *http.Request, c Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// Permit reports whether the client that sent a request has a role. If it has not, it answers with status 403.
func Permit(w http.ResponseWriter, r *http.Request, needed Role) bool {
	c := CallerOf(r)
	if c.Role.Permits(needed) {
		return true
	}
	http.Error(w, roleText(c.Role, needed), http.StatusForbidden)
	return false
}

func roleText(has, needed Role) string {
	return "This needs the role " + string(needed) + ", and this device has the role " + string(has) + ".\n" +
		"To pair it with another role, type: agent-chatter serve --chat --pair --role " + string(needed)
}
