package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"
)

// An object is a JSON object.
type object = map[string]any

// A scripted server hosts conversations as a test says. It is in front of a real server, which has the sessions.
type scripted struct {
	*server
	t      testing.TB
	target *url.URL
	posts  chan post

	mu      sync.Mutex
	host    object
	answers map[string]answer     // by the last element of the path of a request
	live    map[string]object     // by session: what a stream begins with
	streams map[*liveStream]bool  // are open
	away    bool                  // every request fails
	revoked bool                  // no client is admitted
	gets    map[string]func() any // more answers to GET, by the last element of the path
}

// A post is a request of the page that changes something.
type post struct {
	Path string
	Body object
}

// An answer is a status and a body.
type answer struct {
	status int
	body   object
}

// A liveStream is a stream of a page.
type liveStream struct {
	sessions []string
	lines    chan string
}

// script starts a scripted server in front of a server.
func script(t testing.TB, s *server) *scripted {
	t.Helper()
	target, err := url.Parse(s.Origin)
	if err != nil {
		t.Fatal(err)
	}
	c := &scripted{t: t, target: target, posts: make(chan post, 100), answers: map[string]answer{},
		live: map[string]object{}, streams: map[*liveStream]bool{}, gets: map[string]func() any{},
		host: object{"chat": true, "role": "all", "device": "page", "directories": []string{"/home/eva/shop", "/home/eva/site"},
			"teams": []object{
				{"name": "review", "title": "Review", "trusted": true, "members": []object{
					{"id": "ada", "name": "Ada", "class": "fg5"}, {"id": "bo", "name": "Bo", "class": "fg2"}}},
				{"name": "deploy", "title": "Deploy", "trusted": false, "members": []object{}},
			}}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &http.Server{Handler: c}
	go func() { _ = front.Serve(listener) }()
	t.Cleanup(func() { front.Close() })
	c.server = &server{Origin: "http://" + listener.Addr().String(), Token: s.Token}
	return c
}

// ServeHTTP implements http.Handler.
func (c *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	c.mu.Lock()
	away, revoked, get, host := c.away, c.revoked, c.gets[name], maps.Clone(c.host)
	c.mu.Unlock()
	switch {
	case away:
		panic(http.ErrAbortHandler)
	case revoked && strings.HasPrefix(r.URL.Path, "/api/"):
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/api/host":
		send(w, answer{200, host})
	case r.URL.Path == "/api/stream":
		c.stream(w, r)
	case r.Method == http.MethodGet && get != nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(get())
	case r.Method == http.MethodPost && c.acts(name):
		c.post(w, r, name)
	default:
		c.proxy(w, r)
	}
}

// acts reports whether a change is one of a conversation, which the server in front answers.
func (c *scripted) acts(name string) bool {
	return strings.Contains(" say takeback answer cancel continue conversations rewind ", " "+name+" ")
}

func (c *scripted) proxy(w http.ResponseWriter, r *http.Request) {
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(c.target) // and the host
		p.Out.Header.Del("Origin")
	}}
	proxy.ServeHTTP(w, r)
}

func (c *scripted) post(w http.ResponseWriter, r *http.Request, name string) {
	var body object
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		c.t.Errorf("%s: %v", r.URL.Path, err)
	}
	c.posts <- post{r.URL.Path, body}
	c.mu.Lock()
	given, ok := c.answers[name]
	c.mu.Unlock()
	if !ok {
		given = answer{200, object{"id": body["id"], "key": "review/" + first, "text": "taken back"}}
	}
	send(w, given)
}

func send(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

// posted returns the body of the next change, which has a name.
func (c *scripted) posted(name string) object {
	c.t.Helper()
	var p post
	select {
	case p = <-c.posts:
	case <-time.After(patience):
		c.t.Fatalf("the page sent nothing, want %s", name)
	}
	if path.Base(p.Path) != name {
		c.t.Fatalf("the page sent %s, want %s", p.Path, name)
	}
	return p.Body
}

// answer sets the answer to a change.
func (c *scripted) answer(name string, status int, body object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[name] = answer{status, body}
}

// get sets the answer to a request.
func (c *scripted) get(name string, answer func() any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gets[name] = answer
}

// set changes what the server hosts.
func (c *scripted) set(name string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host[name] = value
}

// revoke ends the access of all clients.
func (c *scripted) revoke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked = true
}

// leave makes the server fail, and closes its streams; or ends that.
func (c *scripted) leave(away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
	if away {
		for s := range c.streams {
			close(s.lines)
			delete(c.streams, s)
		}
	}
}

// tell sends what is new in a session.
func (c *scripted) tell(key string, news object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := c.live[key]
	if whole == nil {
		whole = object{}
		c.live[key] = whole
	}
	if state, ok := news["state"]; ok {
		whole["state"] = state
	}
	if text, ok := news["text"].([]object); ok {
		before, _ := whole["text"].([]object)
		whole["text"] = append(before, text...)
	}
	for s := range c.streams {
		if strings.Contains(strings.Join(s.sessions, "\n"), key) {
			s.lines <- liveLine(key, news)
		}
	}
}

func liveLine(key string, news object) string {
	data, err := json.Marshal(object{"key": key, "live": news})
	if err != nil {
		panic(err)
	}
	return "data: " + string(data)
}

// stream sends the stream of the real server, and what happens live.
func (c *scripted) stream(w http.ResponseWriter, r *http.Request) {
	s := &liveStream{sessions: r.URL.Query()["live"], lines: make(chan string, 1000)}
	c.mu.Lock()
	for _, key := range s.sessions {
		if whole := c.live[key]; whole != nil {
			s.lines <- liveLine(key, whole)
		}
	}
	c.streams[s] = true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.streams, s)
	}()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	real := c.realStream(ctx, r)
	w.Header().Set("Content-Type", "text/event-stream")
	line := ": hello"
	for ok := true; ok; {
		fmt.Fprintf(w, "%s\n\n", line)
		w.(http.Flusher).Flush()
		select {
		case line, ok = <-real:
		case line, ok = <-s.lines:
		}
	}
}

// realStream returns the lines of the stream of the real server.
func (c *scripted) realStream(ctx context.Context, r *http.Request) <-chan string {
	lines := make(chan string)
	query := r.URL.Query()
	query.Del("live")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.target.String()+"/api/stream?"+query.Encode(), nil)
	if err != nil {
		c.t.Error(err)
	}
	request.Header.Set("Authorization", r.Header.Get("Authorization"))
	go func() {
		defer close(lines)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return
		}
		defer answer.Body.Close()
		for in := bufio.NewScanner(answer.Body); in.Scan(); {
			if in.Text() == "" {
				continue
			}
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
