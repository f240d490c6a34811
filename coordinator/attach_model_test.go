package coordinator_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// world is homes with conversations, and a vendor whose program has the sessions of their members.
type world struct {
	t      *rapid.T
	test   *testing.T
	vendor *vendor
	homes  int
	said   int // messages and replies so far

	dir      string // of the home
	key      string
	sessions []string // in the home
	open     *coordinator.Coordinator
	listener *recorder
	onPrompt func()
}

var token = regexp.MustCompile(`\bm\d+m\b`)

// TestAgentsSeeEachMessageOnce talks, forks, restarts, crashes and copies homes at random, with agents that forget,
// refuse and are stopped. What an agent's session has seen is at each turn what the journal has, each message once.
func TestAgentsSeeEachMessageOnce(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(rt *rapid.T) {
		w := &world{t: rt, test: t, vendor: newVendor(), dir: t.TempDir(), key: "home"}
		defer func() { w.stop() }()
		w.begin("")
		rt.Repeat(map[string]func(*rapid.T){
			"say":     func(*rapid.T) { w.say(w.reply()) },
			"say 2":   func(*rapid.T) { w.say(w.reply()) },
			"steer":   func(*rapid.T) { w.steer() },
			"cancel":  func(*rapid.T) { w.cancel() },
			"fail":    func(*rapid.T) { w.say(yields(fmt.Errorf("no credit"), agent.Text{Text: "half"})) },
			"die":     func(*rapid.T) { w.say(w.dies()) },
			"restart": func(*rapid.T) { w.restart(w.oneOf(w.sessions)) },
			"crash":   func(*rapid.T) { w.crash() },
			"fork":    func(*rapid.T) { w.fork() },
			"copy":    func(*rapid.T) { w.copyHome() },
			"new":     func(*rapid.T) { w.restart("") },
			"forget":  func(*rapid.T) { w.vendor.forget() },
			"refuse": func(*rapid.T) {
				w.vendor.refusals = []error{rapid.SampledFrom([]error{
					agent.ErrGone, agent.ErrBusy, agent.ErrUnsupported, fmt.Errorf("not logged in"),
				}).Draw(w.t, "refusal")}
			},
		})
	})
}

func (w *world) store() store.Store { return store.NewFiles(catalog.New(w.dir, journal.Options{})) }

// begin opens a session in the home; "" is a new one.
func (w *world) begin(id string) {
	w.listener = &recorder{}
	o := (&fixture{engine: &scriptedEngine{}}).options(w.store())
	o.Listener, o.Window.Messages = prompted{w.listener, w}, 1000
	o.Engines, o.HomeKey = map[string]agent.Engine{"scripted": w.vendor}, homeKey(w.key)
	w.open = coordinator.New(o)
	err := w.open.SetTeam(context.Background(), without(testTeam(), "eve"), coordinator.SetTeamOptions{ResumeSessionID: id})
	if err != nil {
		w.t.Fatalf("open %q: %v", id, err)
	}
}

// prompted is a listener that calls world.onPrompt between the attachment and the prompt.
type prompted struct {
	*recorder
	w *world
}

func (p prompted) Notice(n coordinator.Notice) {
	if _, ok := n.(coordinator.Prompt); ok && p.w.onPrompt != nil {
		p.w.onPrompt()
	}
	p.recorder.Notice(n)
}

func (w *world) stop() {
	if w.open == nil {
		return
	}
	if s := w.open.Session(); s != nil && !slices.Contains(w.sessions, s.ID) {
		w.sessions = append(w.sessions, s.ID)
	}
	if err := w.open.Stop("end"); err != nil {
		w.t.Fatal(err)
	}
	w.open = nil
}

func (w *world) restart(id string) {
	w.stop()
	w.begin(id)
}

func (w *world) oneOf(ids []string) string {
	if s := w.open.Session(); s != nil && !slices.Contains(ids, s.ID) {
		ids = append(slices.Clone(ids), s.ID)
	}
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(w.t, "session")
}

func (w *world) token() string {
	w.said++
	return fmt.Sprintf("m%dm", w.said)
}

func (w *world) reply() turnFunc { return says("reply " + w.token()) }

// dies is a turn whose program ends.
func (w *world) dies() turnFunc {
	return func(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			yield(nil, fmt.Errorf("it exited"))
		}
	}
}

// say sends a message to some members; the first of their turns is the given one.
func (w *world) say(first turnFunc) {
	to := rapid.SampledFrom([]string{"", "[NEXT: ada]", "[NEXT: bob]", "[NEXT: ada, bob]", "[NEXT: bob, ada]"}).Draw(w.t, "to")
	w.vendor.script = []turnFunc{first, w.reply()}
	_ = w.open.Say(context.Background(), "you", w.token()+" "+to) // turns may fail
	w.vendor.script = nil
	w.check()
}

// steer sends messages to the member whose turn runs, who may not take them.
func (w *world) steer() {
	w.vendor.deaf = rapid.Bool().Draw(w.t, "deaf")
	messages := rapid.IntRange(1, 3).Draw(w.t, "messages")
	w.say(calls(func() {
		for range messages {
			if !w.open.Steer("", w.token()) {
				w.t.Errorf("the turn takes no message")
			}
		}
	}, w.reply()))
	w.vendor.deaf = false
}

func (w *world) cancel() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.vendor.script = []turnFunc{cancels(cancel, "half")}
	if rapid.Bool().Draw(w.t, "steered") {
		w.vendor.script[0] = calls(func() { w.open.Steer("", w.token()) }, w.vendor.script[0])
	}
	_ = w.open.Say(ctx, "you", w.token())
	w.vendor.script = nil
	w.check()
}

// crash continues with the home as it was at some moment of a turn, in which the program was killed.
func (w *world) crash() {
	w.vendor.refusals = nil
	image := w.image()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	die := calls(func() {
		w.copyTo(image)
		cancel()
	}, cancels(cancel, "half"))
	switch rapid.SampledFrom([]string{"before the prompt", "in the reply", "after a message in the turn"}).Draw(w.t, "moment") {
	case "before the prompt":
		w.onPrompt = func() {
			w.copyTo(image)
			cancel()
		}
		w.vendor.unseen = true
	case "in the reply":
		w.vendor.script = []turnFunc{die}
	case "after a message in the turn":
		w.vendor.script = []turnFunc{calls(func() { w.open.Steer("", w.token()) }, die)}
	}
	_ = w.open.Say(ctx, "you", w.token())
	w.onPrompt, w.vendor.script, w.vendor.unseen = nil, nil, false
	id := w.open.Session().ID
	w.stop()
	w.dir = image
	w.begin(id)
}

func (w *world) image() string {
	w.homes++
	return fmt.Sprintf("%s-%d", w.test.TempDir(), w.homes)
}

func (w *world) copyTo(dir string) {
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		w.t.Fatal(err)
	}
}

// copyHome continues in a copy of the home, which has another key.
func (w *world) copyHome() {
	id := w.oneOf(w.sessions)
	w.stop()
	dir := w.image()
	w.copyTo(dir)
	w.dir, w.key = dir, w.key+"'"
	w.begin(id)
}

func (w *world) fork() {
	s := w.open.Session()
	if s == nil {
		return
	}
	var ends []uint64
	for e := range w.open.Backward() {
		ends = append(ends, e.Seq)
	}
	w.stop()
	dir := catalog.New(w.dir, journal.Options{}).Team("ensemble")
	at := rapid.SampledFrom(ends).Draw(w.t, "at")
	id, err := sessioncopy.Fork(context.Background(), dir, s.ID, at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.sessions = append(w.sessions, id)
	w.begin(id)
}

// check compares what the session of the last turn that ended with a reply has seen with the journal.
func (w *world) check() {
	var messages []projection.MessageAppended
	var attached *projection.AgentAttached
	done, taken := "", map[string]bool{}
	for e := range w.open.Backward() {
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.TurnEnded:
			if done == "" && p.FinishReason != projection.Done {
				return // its session has seen what may be lost
			}
			done = cmp.Or(done, p.TurnID)
		case projection.AgentAttached:
			if p.TurnID == done && attached == nil {
				attached = &p
			}
		case projection.TurnSteered:
			taken[p.MessageID] = p.TurnID == done
		case projection.MessageAppended:
			if attached != nil || p.TurnID == done && done != "" || taken[p.Message.ID] {
				messages = append(messages, p)
			}
		}
	}
	if attached == nil {
		return
	}
	slices.Reverse(messages)
	session := w.vendor.sessions[attached.AgentSession]
	if session == nil {
		return // it was forgotten since
	}
	var want []string
	for _, m := range messages {
		want = append(want, token.FindAllString(m.Message.Content, -1)...)
	}
	got, repeated := w.seen(session)
	slices.Sort(want)
	if sorted := slices.Sorted(slices.Values(slices.Compact(got))); !slices.Equal(sorted, want) || repeated != "" {
		w.t.Fatalf("%s of %s has seen %v, want %v, %q twice, in\n%s", attached.AgentSession, attached.MemberID, sorted, want,
			repeated, session.text())
	}
}

// seen returns what a session has seen, and what it has seen twice but after a turn that was stopped.
func (w *world) seen(s *vendorSession) (all []string, repeated string) {
	known := map[string]bool{}
	for _, turn := range s.turns {
		again := strings.HasPrefix(turn.prompt, textStopped)
		prompt, _, _ := strings.Cut(turn.prompt, "Reply now to the message")
		for _, m := range token.FindAllString(prompt, -1) {
			if known[m] && !again {
				repeated = m
			}
			known[m] = true
		}
		for _, m := range token.FindAllString(turn.reply, -1) {
			known[m] = true
		}
	}
	for m := range known {
		all = append(all, m)
	}
	return all, repeated
}
