package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// remembering is a fixture whose members have agents with sessions.
type remembering struct {
	*fixture
	options coordinator.Options
	vendor  *vendor
}

const textStopped = "Your last turn was stopped before its reply was complete; the reply is not part of the " +
	"conversation, what its tools did may have happened."

// remember returns a coordinator with the test team, whose agents are those of a vendor.
func remember(
	t *testing.T, s store.Store, v *vendor, resumeID string, change ...func(*coordinator.Options, *team.Team),
) *remembering {
	t.Helper()
	r := &remembering{fixture: &fixture{t: t, engine: &scriptedEngine{}, recorder: &recorder{}}, vendor: v}
	r.options = r.fixture.options(s)
	r.options.Engines = map[string]agent.Engine{"scripted": v}
	r.options.HomeKey = homeKey("a home")
	tm := without(testTeam(), "eve")
	for _, change := range change {
		change(&r.options, tm)
	}
	r.Coordinator = coordinator.New(r.options)
	t.Cleanup(func() { r.Stop("end of test") })
	r.setTeam(tm, resumeID)
	return r
}

// attached returns the newest agent.attached event.
func (r *remembering) attached() projection.AgentAttached {
	r.t.Helper()
	all := payloads[projection.AgentAttached](r.t, r.recorder.appended)
	if len(all) == 0 {
		r.t.Fatal("no session was attached")
	}
	return all[len(all)-1]
}

// checkAttached checks the way and the reason of the last turn's session.
func (r *remembering) checkAttached(way projection.AttachWay, reason string) {
	r.t.Helper()
	if got := r.attached(); got.Way != way || got.Reason != reason {
		r.t.Errorf("attached as %s %q, want %s %q", got.Way, got.Reason, way, reason)
	}
}

// checkPrompt checks the words that the last prompt has and lacks; those that it lacks begin with "-".
func (r *remembering) checkPrompt(words ...string) {
	r.t.Helper()
	got := r.vendor.prompt()
	for _, w := range words {
		lacks := strings.HasPrefix(w, "-")
		if strings.Contains(got, strings.TrimPrefix(w, "-")) == lacks {
			r.t.Errorf("%q in the prompt:\n%s", w, got)
		}
	}
}

func TestNextTurnContinuesTheSession(t *testing.T) {
	r := remember(t, &store.Memory{}, newVendor(), "")
	r.say("alpha")
	r.checkAttached(projection.AttachNew, projection.ReasonFirst)
	r.checkPrompt("alpha", "You are Ada", "-Since your last turn")
	r.say("[NEXT: bob] beta", "[NEXT: bob] gamma")
	r.say("[NEXT: ada] delta")
	r.checkAttached(projection.AttachContinued, "")
	r.checkPrompt("-alpha", "-You are Ada", "-ok 1",
		"Since your last turn:\nYou -> bob: beta\nBob: ok 2\nYou -> bob: gamma\nBob: ok 3\n\n",
		"Message from You:\ndelta")
	if n := len(r.vendor.opened); n != 2 {
		t.Errorf("%d programs were started", n)
	}
	if strings.Count(r.vendor.sessions["session-1"].text(), "gamma") != 1 {
		t.Errorf("Ada has seen:\n%s", r.vendor.sessions["session-1"].text())
	}
}

func TestNextProcessResumesTheSession(t *testing.T) {
	s, v := files(t), newVendor()
	r := remember(t, s, v, "")
	r.say("alpha")
	id := r.stop()
	r = remember(t, s, v, id)
	r.say("beta")
	r.checkAttached(projection.AttachResumed, "")
	r.checkPrompt("-alpha", "-You are Ada", "Message from You:\nbeta")
	if got := r.attached(); got.AgentSession != "session-1" || len(v.sessions) != 1 {
		t.Errorf("attached %+v of %d sessions", got, len(v.sessions))
	}
	if v.opened[1].Point != "point-1" {
		t.Errorf("opened %+v", v.opened)
	}
}

// Some agents give a new session its id in the first turn.
func TestSessionThatIsNamedInItsTurnIsResumed(t *testing.T) {
	s, v := files(t), newVendor()
	v.late = true
	r := remember(t, s, v, "")
	r.say("alpha")
	r.checkAttached(projection.AttachNew, projection.ReasonFirst)
	r.say("beta")
	r.checkAttached(projection.AttachResumed, "")
	r.checkPrompt("-alpha", "Message from You:\nbeta")
	id := r.stop()
	r = remember(t, s, v, id)
	r.say("gamma")
	r.checkAttached(projection.AttachResumed, "")
	r.checkPrompt("-beta", "Message from You:\ngamma")
	if len(v.sessions) != 1 || v.running != 0 {
		t.Errorf("%d sessions, %d programs", len(v.sessions), v.running)
	}
}

// A turn that ends before its session has an id leaves none that could be continued.
func TestSessionWithoutIDIsNotContinued(t *testing.T) {
	v := newVendor()
	v.late, v.unseen = true, true
	r := remember(t, &store.Memory{}, v, "")
	_ = r.Say(t.Context(), "you", "alpha") // it has no answer
	v.unseen = false
	r.say("beta")
	r.checkAttached(projection.AttachNew, projection.ReasonFirst)
	r.checkPrompt("alpha", "You are Ada")
}

// What a session has seen must be a prefix of the conversation, and its basis the same.
func TestSessionIsNotUsed(t *testing.T) {
	type change = func(*coordinator.Options, *team.Team)
	for reason, change := range map[string]change{
		projection.ReasonHost:         func(o *coordinator.Options, _ *team.Team) { o.HomeKey = homeKey("another") },
		projection.ReasonInstructions: func(_ *coordinator.Options, t *team.Team) { t.Members[0].SystemInstruction = "Be kind." },
		projection.ReasonSettings:     func(_ *coordinator.Options, t *team.Team) { t.Members[0].BaseDir = "/elsewhere" },
		projection.ReasonSecrets: func(_ *coordinator.Options, t *team.Team) {
			t.Members[1].Env = map[string]string{"API_TOKEN": "alphabet-soup-4711"}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			s, v := files(t), newVendor()
			r := remember(t, s, v, "")
			r.say("alphabet-soup-4711")
			id := r.stop()
			r = remember(t, s, v, id, change)
			r.say("beta")
			r.checkAttached(projection.AttachNew, reason)
			r.checkPrompt("You are Ada", "beta")
			if want := "notice WindowCut Ada " + reason + " 3 3"; r.recorder.count(want) != 1 {
				t.Errorf("notified of %q", r.recorder.lines)
			}
			r.say("gamma")
			r.checkAttached(projection.AttachContinued, "")
		})
	}
}

func TestSessionThatCannotBeOpened(t *testing.T) {
	for reason, failure := range map[string]error{
		projection.ReasonGone:        agent.ErrGone,
		projection.ReasonBusy:        agent.ErrBusy,
		projection.ReasonUnsupported: agent.ErrUnsupported,
	} {
		t.Run(reason, func(t *testing.T) {
			s, v := files(t), newVendor()
			r := remember(t, s, v, "")
			r.say("alpha")
			id := r.stop()
			v.refusals = []error{fmt.Errorf("vendor: %w", failure)}
			r = remember(t, s, v, id)
			r.say("beta")
			r.checkAttached(projection.AttachNew, reason)
			r.checkPrompt("alpha", "You are Ada", "beta")
			if r.recorder.count("end of ada: done") != 1 {
				t.Errorf("notified of %q", r.recorder.lines)
			}
		})
	}
}

// Some programs report that a session is gone only when they get a prompt.
func TestSessionIsGoneWhenItIsPrompted(t *testing.T) {
	s, v := files(t), newVendor()
	r := remember(t, s, v, "")
	r.say("alpha")
	id := r.stop()
	v.script = []turnFunc{yields(fmt.Errorf("vendor: %w", agent.ErrGone))}
	r = remember(t, s, v, id)
	r.say("beta")
	r.checkAttached(projection.AttachNew, projection.ReasonGone)
	r.checkPrompt("alpha", "You are Ada", "beta")
	if got := r.messages(); got[len(got)-1].Content != "ok 3" {
		t.Errorf("the reply is %+v", got[len(got)-1])
	}
}

func TestOtherErrorsOfOpenFailTheTurn(t *testing.T) {
	v := newVendor()
	v.refusals = []error{errors.New("not logged in")}
	r := remember(t, &store.Memory{}, v, "")
	turnError(t, r.Say(context.Background(), "you", "alpha"), "ada", projection.Failed)
	r.say("beta")
	r.checkAttached(projection.AttachNew, projection.ReasonFirst)
}

// The messages of a turn that was stopped are sent again.
func TestUnfinishedTurnIsRepeated(t *testing.T) {
	for _, finished := range []int{0, 1} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(finished, " finished before, restart: ", restart), func(t *testing.T) {
				s, v := files(t), newVendor()
				r := remember(t, s, v, "")
				for range finished {
					r.say("alpha")
				}
				ctx, cancel := context.WithCancel(context.Background())
				v.script = []turnFunc{cancels(cancel, "partial")}
				turnError(t, r.Say(ctx, "you", "beta"), "ada", projection.Cancelled)
				way := projection.AttachContinued
				if restart {
					id := r.stop()
					r = remember(t, s, v, id)
					way = projection.AttachResumed
				}
				r.say("gamma")
				r.checkAttached(way, "")
				r.checkPrompt(textStopped, "beta", "gamma", "-alpha", "-partial")
				if first := finished == 0; strings.Contains(v.prompt(), "You are Ada") != first {
					t.Errorf("the prompt is:\n%s", v.prompt())
				}
				r.say("delta")
				r.checkPrompt("-"+textStopped, "-beta", "delta")
			})
		}
	}
}

func TestPromptBringsWhatChanged(t *testing.T) {
	s, v := files(t), newVendor()
	r := remember(t, s, v, "")
	r.say("alpha")
	if err := r.SetTask("count sheep"); err != nil {
		t.Fatal(err)
	}
	r.say("beta")
	r.checkPrompt("Task of the team:\ncount sheep", "-You are Ada")
	r.say("gamma")
	r.checkPrompt("-count sheep", "-You are Ada")
	if err := r.SetTask(""); err != nil {
		t.Fatal(err)
	}
	id := r.stop()
	r = remember(t, s, v, id, func(_ *coordinator.Options, t *team.Team) { t.Members[1].DisplayName = "Bobby" })
	r.say("delta")
	r.checkAttached(projection.AttachResumed, "")
	r.checkPrompt("no task any more", "You are Ada", "bob (Bobby)", "-gamma")
}

func TestWindowMembersKeepNoSession(t *testing.T) {
	s, v := files(t), newVendor()
	window := func(o *coordinator.Options, t *team.Team) { t.Members[0].Memory = team.MemoryWindow }
	r := remember(t, s, v, "", window)
	r.say("alpha", "beta")
	r.checkPrompt("alpha", "You are Ada", "ok 1", "beta")
	if n := len(payloads[projection.AgentAttached](t, r.recorder.appended)); n != 0 {
		t.Errorf("%d sessions were attached", n)
	}
}

// The cost of a session is a sum.
func TestCostsOfTurnsAddUpToThatOfTheSession(t *testing.T) {
	s, v := files(t), newVendor()
	r := remember(t, s, v, "")
	var events []projection.TurnEnded
	for i := range 10 {
		r.say("alpha")
		if i == 4 {
			events = append(events, payloads[projection.TurnEnded](t, r.recorder.appended)...)
			r = remember(t, s, v, r.stop())
		}
	}
	events = append(events, payloads[projection.TurnEnded](t, r.recorder.appended)...)
	sum := 0.0
	for _, e := range events {
		sum += e.Usage.Cost.Amount
	}
	if want := v.sessions["session-1"].cost; math.Abs(sum-want) > 1e-9 || len(events) != 10 {
		t.Errorf("%d turns cost %g, want %g", len(events), sum, want)
	}
}

func TestFullContextBeginsASession(t *testing.T) {
	full := yields(nil, agent.Text{Text: "ok"}, agent.Usage{Context: 60, Window: 100})
	for name, tt := range map[string]struct {
		max  int64
		want projection.AttachWay
	}{
		"more than half": {0, projection.AttachNew},
		"less than set":  {70, projection.AttachContinued},
		"more than set":  {50, projection.AttachNew},
	} {
		t.Run(name, func(t *testing.T) {
			r := remember(t, &store.Memory{}, newVendor(full), "", func(_ *coordinator.Options, t *team.Team) {
				t.Members[0].MaxContext = tt.max
			})
			r.vendor.silent = true
			r.say("alpha", "beta")
			if got := r.attached(); got.Way != tt.want {
				t.Errorf("attached as %s %s", got.Way, got.Reason)
			}
		})
	}
}

// The program without a home to remember, as with --no-save, keeps no sessions after it ends.
func TestEphemeralSessions(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "", func(o *coordinator.Options, _ *team.Team) { o.HomeKey = nil })
	r.say("alpha", "beta")
	r.checkAttached(projection.AttachContinued, "")
	if v.ephemera != 1 {
		t.Errorf("%d sessions are ephemeral", v.ephemera)
	}
}

func homeKey(key string) func() []byte { return func() []byte { return []byte(key) } }

func files(t *testing.T) store.Store {
	t.Helper()
	return store.NewFiles(catalog.New(t.TempDir(), journal.Options{}))
}

// A copy of a session forks the sessions of its agents, at the last turn that the copy has.
func TestCopyForksTheSession(t *testing.T) {
	root := t.TempDir()
	d, v := store.NewFiles(catalog.New(root, journal.Options{})), newVendor()
	r := remember(t, d, v, "")
	r.say("alpha", "beta", "gamma")
	second := payloads[projection.TurnEnded](t, r.recorder.appended)[1]
	var upTo uint64
	for _, e := range r.recorder.appended {
		p, _ := projection.Decode(e)
		if end, ok := p.(projection.TurnEnded); ok && end.TurnID == second.TurnID {
			upTo = e.Seq
		}
	}
	id := r.stop()
	dir := catalog.New(root, journal.Options{}).Team("ensemble")
	forked, err := sessioncopy.Fork(context.Background(), dir, id, upTo)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"delta", "epsilon"} {
		r = remember(t, d, v, forked)
		r.say(text)
		r.checkPrompt("-alpha", "-You are Ada", text)
		if i == 0 {
			r.checkAttached(projection.AttachForked, "")
		} else {
			r.checkAttached(projection.AttachResumed, "") // the fork's own session
		}
		if got := v.sessions[r.attached().AgentSession].text(); strings.Contains(got, "gamma") {
			t.Errorf("the fork has seen:\n%s", got)
		}
		r.stop()
	}
	r = remember(t, d, v, id)
	r.say("zeta")
	r.checkAttached(projection.AttachResumed, "")
	if got := v.sessions["session-1"].text(); strings.Contains(got, "delta") || !strings.Contains(got, "gamma") {
		t.Errorf("the original has seen:\n%s", got)
	}
}

// Something else continued the session, in the program of the vendor.
func TestSessionThatWasContinuedElsewhereIsForked(t *testing.T) {
	d, v := files(t), newVendor()
	r := remember(t, d, v, "")
	r.say("alpha")
	id := r.stop()
	session := v.sessions["session-1"]
	session.turns = append(session.turns, vendorTurn{"foreign", "words", "point-x"})
	r = remember(t, d, v, id)
	r.say("beta")
	r.checkAttached(projection.AttachForked, "")
	if got := r.attached(); got.Point != "point-1" || strings.Contains(v.sessions[got.AgentSession].text(), "foreign") {
		t.Errorf("attached %+v", got)
	}
}

// A message of the member itself that it has sent on another machine is new to its session.
func TestOwnMessageFromElsewhereIsNew(t *testing.T) {
	d, v := files(t), newVendor()
	r := remember(t, d, v, "")
	r.say("alpha")
	id := r.stop()
	r = remember(t, d, v, id, func(o *coordinator.Options, _ *team.Team) { o.HomeKey = homeKey("another") })
	r.say("beta")
	r.checkAttached(projection.AttachNew, projection.ReasonHost)
	r.stop()
	r = remember(t, d, v, id)
	r.say("gamma")
	r.checkAttached(projection.AttachResumed, "")
	r.checkPrompt("Since your last turn:\nYou: beta\nAda: ok 2\n", "-alpha", "gamma")
	if got := r.attached(); got.AgentSession != "session-1" {
		t.Errorf("attached %+v", got)
	}
}

// At most so many programs run; the one that has waited longest makes room.
func TestResidentsAreBounded(t *testing.T) {
	v, shared := newVendor(), &coordinator.Residents{Max: 2}
	var all []*remembering
	for range 5 {
		r := remember(t, &store.Memory{}, v, "", func(o *coordinator.Options, _ *team.Team) { o.Residents = shared })
		r.say("[NEXT: ada, bob] alpha")
		all = append(all, r)
		if v.running > 2 {
			t.Errorf("%d programs run", v.running)
		}
	}
	for _, r := range all {
		r.stop()
	}
	if v.running != 0 {
		t.Errorf("%d programs are left", v.running)
	}
}

// A journal from elsewhere names a session of this machine, which it knows from another journal.
func TestForgedAttachmentIsNotUsed(t *testing.T) {
	d, v := files(t), newVendor()
	r := remember(t, d, v, "")
	r.say("a private word")
	real := r.attached()
	r.stop()
	forged := &store.Memory{}
	r = remember(t, forged, v, "")
	r.say("[NEXT: bob] hello")
	session := r.Session().ID
	state := projection.State{}
	for _, e := range r.recorder.appended {
		state.Apply(e)
	}
	r.stop()
	real.SessionID, real.Seen, real.Sum = session, state.LastMessage, state.History
	log, opened, err := forged.Open(context.Background(), "ensemble", session)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []projection.Payload{
		projection.TurnStarted{TurnID: real.TurnID, MemberID: "ada"}, real,
		projection.TurnEnded{TurnID: real.TurnID, MemberID: "ada", FinishReason: projection.Done, Point: "point-1"},
	} {
		if _, err := log.Append(projection.Record(time.Now(), p)); err != nil {
			t.Fatal(err)
		}
	}
	log.Close(opened)
	r = remember(t, forged, v, session)
	r.say("tell me")
	r.checkAttached(projection.AttachNew, projection.ReasonHost)
	if got := v.sessions[r.attached().AgentSession].text(); strings.Contains(got, "private") {
		t.Errorf("the agent has seen:\n%s", got)
	}
}

// A message to an agent that is longer than the window does not end its session.
func TestLongMessageContinuesTheSession(t *testing.T) {
	r := remember(t, &store.Memory{}, newVendor(), "")
	r.say("alpha", strings.Repeat("x", 1<<20))
	r.checkAttached(projection.AttachContinued, "")
	r.checkPrompt("-alpha", strings.Repeat("x", 1<<20))
	r.say("[NEXT: bob] "+strings.Repeat("y", 1<<20), "[NEXT: ada] beta")
	r.checkAttached(projection.AttachNew, projection.ReasonFull)
}

// In a merged session no agent has seen all that precedes its last turn.
func TestMergedSessionStartsANewOne(t *testing.T) {
	root := t.TempDir()
	d, v := store.NewFiles(catalog.New(root, journal.Options{})), newVendor()
	r := remember(t, d, v, "")
	r.say("alpha")
	id := r.stop()
	dir := catalog.New(root, journal.Options{}).Team("ensemble")
	forked, err := sessioncopy.Fork(context.Background(), dir, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{id, forked, id, forked} {
		r = remember(t, d, v, side)
		r.say("words of " + side)
		r.stop()
	}
	merged, err := sessioncopy.Merge(context.Background(), dir, id, forked)
	if err != nil {
		t.Fatal(err)
	}
	r = remember(t, d, v, merged.ID)
	r.say("omega")
	r.checkAttached(projection.AttachNew, projection.ReasonHistory)
	r.checkPrompt("alpha", "words of "+id, "words of "+forked, "omega")
}

// What was in a first prompt that may not have arrived is sent again, until a turn of the session has ended.
func TestFirstPromptIsRepeated(t *testing.T) {
	s, v, id := files(t), newVendor(), ""
	v.script = []turnFunc{yields(errors.New("it failed")), yields(errors.New("it failed")), yields(errors.New("it failed"))}
	for _, way := range []projection.AttachWay{projection.AttachNew, projection.AttachResumed, projection.AttachResumed} {
		r := remember(t, s, v, id)
		turnError(t, r.Say(context.Background(), "you", "a pine"), "ada", projection.Failed)
		if got := r.attached().Way; got != way {
			t.Errorf("attached as %s, want %s", got, way)
		}
		r.checkPrompt("You are Ada", "a pine")
		id = r.stop()
	}
	r := remember(t, s, v, id)
	r.say("a larch")
	r.checkPrompt(textStopped, "You are Ada", "a larch")
	r.say("a fir")
	r.checkPrompt("-You are Ada", "-a larch", "a fir")
}
