package coordinator_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A vendor is an engine whose agents keep sessions, as the program of a vendor does: they outlive the engine's processes
// and the coordinator.
type vendor struct {
	mu       sync.Mutex
	sessions map[string]*vendorSession
	created  int
	opened   []agent.Origin // successfully
	refusals []error        // of the next calls of Open; nil: none
	resident bool           // sessions cannot be resumed
	script   []turnFunc     // of the next turns, which then reply "ok N"
	turns    int
	prompts  []string
	images   []string // the labels of those of the last prompt
	ephemera int      // sessions that are not kept
	running  int      // programs
	silent   bool     // it reports no usage
	unseen   bool     // the next prompts do not arrive
	deaf     bool     // it takes no message in a turn
	late     bool     // a new session has its id from its first turn on, and a program runs for one turn
}

// A vendorSession is what the model sees of a session.
type vendorSession struct {
	id    string
	turns []vendorTurn
	cost  float64
}

type vendorTurn struct{ prompt, reply, point string }

// text returns everything in the session.
func (s *vendorSession) text() string {
	var b strings.Builder
	for _, t := range s.turns {
		b.WriteString(t.prompt + "\n" + t.reply + "\n")
	}
	return b.String()
}

func newVendor(script ...turnFunc) *vendor {
	return &vendor{sessions: map[string]*vendorSession{}, script: script}
}

func (v *vendor) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		s, err := v.Open(ctx, turn, agent.Origin{})
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close()
		for e, err := range s.Turn(ctx, turn) {
			if !yield(e, err) {
				return
			}
		}
	}
}

func (v *vendor) Open(_ context.Context, turn agent.Turn, origin agent.Origin) (agent.Session, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.refusals) > 0 {
		err := v.refusals[0]
		v.refusals = v.refusals[1:]
		if err != nil {
			return nil, err
		}
	}
	s := v.sessions[origin.ID]
	switch {
	case origin.Way == agent.New:
		s = v.add(nil)
	case v.resident:
		return nil, fmt.Errorf("vendor: %w", agent.ErrUnsupported)
	case s == nil:
		return nil, fmt.Errorf("vendor: %w", agent.ErrGone)
	case origin.Way == agent.Fork, origin.Point != "" && s.turns[len(s.turns)-1].point != origin.Point:
		at := slices.IndexFunc(s.turns, func(t vendorTurn) bool { return t.point == origin.Point })
		if at < 0 {
			return nil, fmt.Errorf("vendor: %w", agent.ErrGone)
		}
		cost := s.cost
		s = v.add(s.turns[:at+1])
		s.cost = cost
	}
	if turn.Ephemeral {
		v.ephemera++
	}
	v.opened = append(v.opened, origin)
	v.running++
	return &vendorProcess{v: v, s: s, alive: true, named: origin.Way != agent.New || !v.late}, nil
}

func (v *vendor) add(turns []vendorTurn) *vendorSession {
	v.created++
	s := &vendorSession{id: fmt.Sprintf("session-%d", v.created), turns: slices.Clone(turns)}
	v.sessions[s.id] = s
	return s
}

func (v *vendor) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.sessions)
}

// prompt returns the last prompt.
func (v *vendor) prompt() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.prompts[len(v.prompts)-1]
}

// A vendorProcess is a program with a session.
type vendorProcess struct {
	v     *vendor
	s     *vendorSession
	alive bool
	named bool

	running bool // a turn
	steered []agent.Taken
}

// Steer implements agent.Steerable.
func (p *vendorProcess) Steer(id, text string) bool {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if !p.running {
		return false
	}
	if !p.v.deaf {
		p.s.turns[len(p.s.turns)-1].prompt += "\n" + text
		p.steered = append(p.steered, agent.Taken{ID: id})
	}
	return true
}

// taken returns the next message that was taken in the turn.
func (p *vendorProcess) taken() (t agent.Taken, ok bool) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if len(p.steered) == 0 {
		return t, false
	}
	t, p.steered = p.steered[0], p.steered[1:]
	return t, true
}

func (p *vendorProcess) Alive() bool { return p.alive && !p.v.late }

func (p *vendorProcess) ID() string {
	if !p.named {
		return ""
	}
	return p.s.id
}

func (p *vendorProcess) Close() {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if p.alive {
		p.v.running--
	}
	p.alive = false
}

func (p *vendorProcess) Turn(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if p.v.unseen {
			yield(nil, context.Cause(ctx))
			return
		}
		next := p.begin(turn)
		defer p.end()
		if p.v.late {
			p.named = true
			if !yield(agent.SessionStarted{ID: p.s.id}, nil) {
				return
			}
		}
		reply := ""
		for e, err := range next(ctx, turn) {
			if text, ok := e.(agent.Text); ok {
				reply += text.Text
			}
			for taken, ok := p.taken(); ok; taken, ok = p.taken() {
				if !yield(taken, nil) {
					return
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		point, cost := p.finish(reply)
		_ = (p.v.silent || yield(agent.Usage{Total: &agent.Cost{Amount: cost, Currency: "USD"}}, nil)) &&
			yield(agent.Point{ID: point}, nil)
	}
}

func (p *vendorProcess) begin(turn agent.Turn) turnFunc {
	v := p.v
	v.mu.Lock()
	defer v.mu.Unlock()
	v.turns++
	p.running = true
	v.prompts, v.images = append(v.prompts, turn.Prompt), nil
	for _, i := range turn.Images {
		v.images = append(v.images, i.Label)
	}
	p.s.turns = append(p.s.turns, vendorTurn{prompt: turn.Prompt})
	p.s.cost += 0.05
	if len(v.script) == 0 {
		return says(fmt.Sprint("ok ", v.turns))
	}
	next := v.script[0]
	v.script = v.script[1:]
	return next
}

func (p *vendorProcess) end() {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.running, p.steered = false, nil
}

func (p *vendorProcess) finish(reply string) (point string, cost float64) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	last := &p.s.turns[len(p.s.turns)-1]
	last.reply, last.point = reply, fmt.Sprintf("point-%d", p.v.turns)
	return last.point, p.s.cost
}
