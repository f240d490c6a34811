package agent

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// What is known of the permission for a use of a tool.
const (
	notAsked int32 = iota
	asked
	granted
	refused
)

// maxPending is how many bytes the requests that wait for an answer may have.
const maxPending = jsonlines.Limit

// openRequests are the requests of a turn's agent that wait for Turn.Permit, each on a goroutine of its own.
type openRequests struct {
	ctx  context.Context    // of all requests
	stop context.CancelFunc // withdraws all of them, and those to come

	running sync.WaitGroup
	mu      sync.Mutex
	open    map[string]*openRequest // by id, which an agent may use twice
	count   int
	size    int // bytes of all of them
}

// An openRequest waits for an answer.
type openRequest struct {
	tool      *atomic.Int32 // what is known of its permission
	cancel    context.CancelFunc
	withdrawn bool
}

// begin prepares for requests, which end with ctx, or with stop before.
func (o *openRequests) begin(ctx context.Context) {
	o.ctx, o.stop = context.WithCancel(ctx)
	o.open = map[string]*openRequest{}
}

// end withdraws all requests and blocks until nothing waits for an answer.
func (o *openRequests) end() {
	o.stop()
	o.running.Wait()
}

// takes reports whether one more request, of that many bytes, may wait.
func (o *openRequests) takes(size int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count < maxQuestions && o.size+size <= maxPending
}

// serve calls f in the background. tool is what is known of the permission for what is requested.
func (o *openRequests) serve(id string, size int, tool *atomic.Int32, f func(context.Context, *openRequest)) {
	ctx, cancel := context.WithCancel(o.ctx)
	request := &openRequest{tool: tool, cancel: cancel}
	o.mu.Lock()
	o.open[id] = request
	o.count++
	o.size += size
	o.mu.Unlock()
	o.running.Go(func() {
		defer func() {
			cancel()
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.open[id] == request {
				delete(o.open, id)
			}
			o.count--
			o.size -= size
		}()
		f(ctx, request)
	})
}

// ask calls permit in the background, notes the grant for the tool, and then calls answer, so that it is noted before
// the agent knows it. Of a request that was withdrawn, or whose turn is stopped, answer gets inTime false: the agent
// does not wait for it.
func (o *openRequests) ask(
	id string, size int, tool *atomic.Int32,
	permit func(ctx context.Context) Grant, answer func(grant Grant, inTime bool),
) {
	tool.Store(asked)
	o.serve(id, size, tool, func(ctx context.Context, request *openRequest) {
		grant := permit(ctx)
		if ctx.Err() != nil {
			grant = Refused
		}
		o.note(request, grant)
		answer(grant, ctx.Err() == nil)
	})
}

// note notes what is granted, unless the request was withdrawn.
func (o *openRequests) note(request *openRequest, grant Grant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case request.withdrawn:
	case grant.Scope == Nothing:
		request.tool.Store(refused)
	default:
		request.tool.Store(granted)
	}
}

// withdraw ends the wait for the answer to a request: the agent decides without it.
func (o *openRequests) withdraw(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if request := o.open[id]; request != nil {
		request.tool.CompareAndSwap(asked, notAsked)
		request.withdrawn = true
		request.cancel()
	}
}

// permit is Turn.Permit, which may be nil.
func (t Turn) permit(ctx context.Context, p Permission) Grant {
	if t.Permit == nil {
		return Refused
	}
	if len(p.Questions) > 0 {
		if err := checkQuestions(p.Questions); err != nil {
			return Grant{Reason: err.Error()}
		}
	}
	return p.answered(t.Permit(ctx, p))
}
