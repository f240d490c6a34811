package remote

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// maxBody is how long the body of a request may be, in bytes: that of an input with pictures.
const maxBody = 64 << 20

// Find returns the conversation of a session, as catalog.Key.Name names it, that this process hosts; nil: it does not.
type Find func(session string) *live.Conversation

// Listen lets the other processes of the user that have the same home take part in the conversations of this process,
// until end is called.
func Listen(home string, find Find) (end func(), err error) {
	dir, err := directory(home)
	if err != nil {
		return nil, err
	}
	if err := prepare(dir); err != nil {
		return nil, err
	}
	l, err := listen(dir)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: find.handler(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(own{l}) })
	return func() {
		_ = server.Close()
		serving.Wait()
	}, nil
}

// A Server lets other processes take part in conversations from the first one that they can find. If it cannot listen,
// the conversations run all the same.
type Server struct {
	home string
	log  *slog.Logger
	find Find

	start sync.Once
	end   func() // nil: it does not listen
}

// NewServer returns a Server for a home, in which nothing is made before Start.
func NewServer(home string, log *slog.Logger, find Find) *Server {
	return &Server{home: home, log: log, find: find}
}

// Start begins to listen, unless that was done. The home exists.
func (s *Server) Start() {
	s.start.Do(func() {
		var err error
		if s.end, err = Listen(s.home, s.find); err != nil {
			s.log.Warn("other processes cannot take part in conversations", "error", err)
		}
	})
}

// Close ends the connections. Start does nothing after that.
func (s *Server) Close() {
	s.start.Do(func() {})
	if s.end != nil {
		s.end()
	}
}

// own accepts only connections of processes of the user.
type own struct{ net.Listener }

// Accept implements net.Listener.
func (o own) Accept() (net.Conn, error) {
	for {
		c, err := o.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if checkPeer(c.(*net.UnixConn), 0) == nil {
			return c, nil
		}
		c.Close()
	}
}

// A request is the body of each request. It has the fields that its path needs.
type request struct {
	Session  string      `json:"session"`
	Input    live.Input  `json:"input,omitzero"`
	Line     string      `json:"line,omitempty"`
	Question string      `json:"question,omitempty"`
	Answer   live.Answer `json:"answer,omitzero"`
	Member   string      `json:"member,omitempty"`
	Role     web.Role    `json:"role,omitempty"`
	Text     string      `json:"text,omitempty"`
}

// A response is the body of each response but that of watch.
type response struct {
	Error      string          `json:"error,omitempty"`
	Kind       string          `json:"kind,omitempty"` // of the error: a name of errorKinds; "": another one
	By         string          `json:"by,omitempty"`   // of an AnsweredError
	Text       string          `json:"text,omitempty"`
	Completion live.Completion `json:"completion,omitzero"`
}

// errorKinds are the errors that a front end tells apart.
var errorKinds = map[string]error{
	"sent": live.ErrSent, "ended": live.ErrEnded, "full": live.ErrFull, "answered": &live.AnsweredError{},
}

// kindOf returns the name of an error, and who has answered.
func kindOf(err error) (kind, by string) {
	if answered, ok := errors.AsType[*live.AnsweredError](err); ok {
		return "answered", answered.By
	}
	for kind, known := range errorKinds {
		if errors.Is(err, known) {
			return kind, ""
		}
	}
	return "", ""
}

func (find Find) handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, do func(c *live.Conversation, r request) (response, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			c, body, err := find.of(w, r)
			var answer response
			if err == nil {
				answer, err = do(c, body)
			}
			if err != nil {
				answer = response{Error: err.Error()}
				answer.Kind, answer.By = kindOf(err)
			}
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	handle("/enter", func(c *live.Conversation, r request) (response, error) { return response{}, c.Enter(r.Input) })
	handle("/takeback", func(c *live.Conversation, r request) (response, error) {
		text, err := c.TakeBack(r.Line)
		return response{Text: text}, err
	})
	handle("/answer", func(c *live.Conversation, r request) (response, error) {
		return response{}, c.Answer(r.Question, r.Answer)
	})
	handle("/cancel", func(c *live.Conversation, r request) (response, error) { return response{}, c.Cancel(r.Member) })
	handle("/complete", func(c *live.Conversation, r request) (response, error) {
		return response{Completion: c.Complete(r.Role, r.Text)}, nil
	})
	mux.HandleFunc("POST /watch", find.watch)
	return mux
}

// of decodes a request and returns the conversation that it names.
func (find Find) of(w http.ResponseWriter, r *http.Request) (c *live.Conversation, body request, err error) {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		return nil, body, err
	}
	if c = find(body.Session); c == nil {
		return nil, body, live.ErrEnded
	}
	return c, body, nil
}

// watch sends the updates of a conversation, each as a line.
func (find Find) watch(w http.ResponseWriter, r *http.Request) {
	c, _, err := find.of(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines, out := json.NewEncoder(w), http.NewResponseController(w)
	for u := range c.Watch(ctx) {
		if lines.Encode(u) != nil || out.Flush() != nil {
			return
		}
	}
}
