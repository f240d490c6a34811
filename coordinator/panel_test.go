package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// players is an engine whose turns run the function of their member, or reply "ok".
type players struct {
	mu      sync.Mutex
	plays   map[string]turnFunc
	prompts []string
}

func (p *players) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	p.mu.Lock()
	p.prompts = append(p.prompts, turn.Prompt)
	play := p.plays[turn.Member.ID]
	p.mu.Unlock()
	if play == nil {
		play = says("ok")
	}
	return play(ctx, turn)
}

// A panelListener is a recorder that also calls functions.
type panelListener struct {
	*recorder
	onEvent func(coordinator.Event)
	onText  func()
	notices []coordinator.Notice
}

func (l *panelListener) Event(e coordinator.Event) {
	l.recorder.Event(e)
	if l.onEvent != nil {
		l.onEvent(e)
	}
}

func (l *panelListener) Text(string, team.Member, string) {
	if l.onText != nil {
		l.onText()
	}
}

func (l *panelListener) Notice(n coordinator.Notice) {
	l.notices = append(l.notices, n)
	l.recorder.Notice(n)
}

type panelFixture struct {
	*fixture
	listener *panelListener
	players  *players
}

// panel returns a coordinator of the agents ada, bob, cy, di and ed and a human.
func panel(
	t *testing.T, s store.Store, plays map[string]turnFunc, change ...func(*coordinator.Options, *team.Team),
) (*panelFixture, *players) {
	t.Helper()
	return panelOf(t, s, "", plays, change...)
}

// panelOf is panel for a session that exists; id "" begins one.
func panelOf(
	t *testing.T, s store.Store, id string, plays map[string]turnFunc,
	change ...func(*coordinator.Options, *team.Team),
) (*panelFixture, *players) {
	t.Helper()
	f := &panelFixture{fixture: &fixture{t: t, engine: &scriptedEngine{}, recorder: &recorder{}}}
	f.listener = &panelListener{recorder: f.recorder}
	p := &players{plays: plays}
	f.players = p
	o, all := f.options(s), without(testTeam(), "eve")
	o.Listener = f.listener
	o.Engines = map[string]agent.Engine{"scripted": p}
	for _, id := range []string{"cy", "di", "ed"} {
		m := all.Members[0]
		m.ID, m.Name, m.DisplayName = id, id, strings.ToUpper(id[:1])+id[1:]
		all.Members = append(all.Members, m)
	}
	for _, change := range change {
		change(&o, all)
	}
	f.Coordinator = coordinator.New(o)
	t.Cleanup(func() { f.Stop("end of test") })
	f.setTeam(all, id)
	return f, p
}

// texts returns who said what, in the order of the session.
func (s *fixture) texts() (texts []string) {
	s.t.Helper()
	for _, m := range s.messages() {
		texts = append(texts, m.Speaker.DisplayName+": "+m.Content)
	}
	return texts
}

// The turns of a panel start together, run at the same time, and are recorded in the order in which they end. No prompt
// has the reply of another member of the panel; the next one has.
func TestPanel(t *testing.T) {
	started, ended := make(chan bool), make(chan bool)
	f, p := panel(t, &store.Memory{}, map[string]turnFunc{
		"ada": calls(func() { started <- true; <-ended }, says("from ada")),
		"bob": calls(func() { <-started }, says("from bob")),
		"cy":  says("from cy"),
	})
	f.listener.onEvent = func(e coordinator.Event) {
		if said, ok := e.Payload.(projection.MessageAppended); ok && said.Message.Speaker.ID == "bob" {
			close(ended) // Ada's reply is later
		}
	}
	f.say("[NEXT: ada | bob, cy] go")
	want := []string{"You: go", "Bob: from bob", "Ada: from ada", "Cy: from cy"}
	if diff := cmp.Diff(want, f.texts()); diff != "" {
		t.Error(diff)
	}
	turns := payloads[projection.TurnStarted](t, f.recorder.appended)
	for i, turn := range turns[:2] {
		if turn.Panel == nil || *turn.Panel != (projection.Panel{ID: turns[0].Panel.ID, Index: i + 1, Of: 2}) {
			t.Errorf("the panel of turn %d is %+v", i+1, turn.Panel)
		}
	}
	if turns[2].Panel != nil || turns[0].Round != 1 || turns[1].Round != 2 || turns[2].Round != 3 {
		t.Errorf("the turns are %+v", turns)
	}
	for i, prompt := range p.prompts {
		got := strings.Contains(prompt, "from ada") || strings.Contains(prompt, "from bob")
		if got != (i == 2) {
			t.Errorf("prompt %d:\n%s", i+1, prompt)
		}
	}
}

// One that fails ends no other, and is the only one that is rerun.
func TestPanelWithAFailure(t *testing.T) {
	failed := make(chan bool)
	fail := sync.OnceFunc(func() { close(failed) })
	f, p := panel(t, &store.Memory{}, map[string]turnFunc{
		"ada": yields(errors.New("out of paper")),
		"bob": calls(func() { <-failed }, says("from bob [NEXT: cy]")),
	})
	f.listener.onEvent = func(e coordinator.Event) {
		if _, ok := e.Payload.(projection.TurnEnded); ok {
			fail()
		}
	}
	err := f.Say(context.Background(), "", "[NEXT: ada | bob] go")
	var turnErr *coordinator.TurnError
	if !errors.As(err, &turnErr) || turnErr.Member.ID != "ada" {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"You: go", "Bob: from bob"}, f.texts()); diff != "" {
		t.Error(diff)
	}
	p.plays["ada"] = says("from ada")
	f.listener.onEvent = nil
	if err := f.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"You: go", "Bob: from bob", "Ada: from ada"}, f.texts()[:3]); diff != "" {
		t.Error(diff)
	}
	if prompt := p.prompts[2]; strings.Contains(prompt, "from bob") {
		t.Errorf("the turn that is rerun sees a reply of its panel:\n%s", prompt)
	}
	f.say("[NEXT: ada] next")
	if prompt := p.prompts[len(p.prompts)-1]; !strings.Contains(prompt, "from bob") {
		t.Errorf("the next turn does not see it:\n%s", prompt)
	}
}

// Several turns of a panel that are rerun are a panel again: none sees what another one replies.
func TestPanelIsRerun(t *testing.T) {
	f, p := panel(t, &store.Memory{}, map[string]turnFunc{
		"ada": yields(errors.New("out of paper")), "bob": yields(errors.New("out of ink")), "cy": says("from cy"),
	})
	if err := f.Say(context.Background(), "", "[NEXT: ada | bob | cy] go"); err == nil {
		t.Fatal("no error")
	}
	started, ended := make(chan bool), make(chan bool)
	p.plays["ada"] = calls(func() { started <- true; <-ended }, says("from ada [NEXT: you]"))
	p.plays["bob"] = calls(func() { <-started; close(ended) }, says("from bob [NEXT: you]"))
	if err := f.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	turns := payloads[projection.TurnStarted](t, f.recorder.appended)[3:]
	if len(turns) != 2 || turns[0].Panel == nil || turns[0].Panel.Of != 2 || turns[0].Panel.ID != turns[1].Panel.ID {
		t.Errorf("the turns are %+v", turns)
	}
	for _, prompt := range p.prompts[3:] {
		if strings.Contains(prompt, "from ada") || strings.Contains(prompt, "from bob") {
			t.Error(prompt)
		}
	}
}

// So it is with agents that keep a session: the reply of the other member comes with the next turn.
func TestPanelIsRerunInASession(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "")
	r.say("[NEXT: ada | bob] first")
	failing := func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		if turn.Member.ID == "ada" {
			return yields(errors.New("out of paper"))(ctx, turn)
		}
		return says("from bob")(ctx, turn)
	}
	v.script = []turnFunc{failing, failing, says("from ada")}
	if err := r.Say(context.Background(), "", "[NEXT: ada | bob] second"); err == nil {
		t.Fatal("no error")
	}
	if err := r.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	if prompt := v.prompt(); strings.Contains(prompt, "from bob") || !strings.Contains(prompt, "second") {
		t.Errorf("the turn that is rerun:\n%s", prompt)
	}
	r.say("[NEXT: ada] third")
	if prompt := v.prompt(); strings.Count(prompt, "from bob") != 1 || strings.Contains(prompt, "second") {
		t.Errorf("the next turn:\n%s", prompt)
	}
}

// Cancelling ends all turns of a panel.
func TestPanelIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f, _ := panel(t, &store.Memory{}, map[string]turnFunc{"ada": waits("a part"), "bob": waits("")})
	f.listener.onEvent = nil
	f.listener.onText = cancel
	if err := f.Say(ctx, "", "[NEXT: ada | bob] go"); err == nil {
		t.Fatal("no error")
	}
	ends := payloads[projection.TurnEnded](t, f.recorder.appended)
	for _, end := range ends {
		if end.FinishReason != projection.Cancelled {
			t.Errorf("a turn ended with %s", end.FinishReason)
		}
	}
	if len(ends) != 2 {
		t.Errorf("%d turns ended", len(ends))
	}
}

// While a question of one member waits, what another one does is recorded.
func TestPanelWithAQuestion(t *testing.T) {
	const tools = 1000
	f, p := panel(t, &store.Memory{}, nil)
	recorded := make(chan bool)
	p.plays = map[string]turnFunc{
		"ada": func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
			turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "Bash", Title: "ls"})
			return says("from ada")(ctx, turn)
		},
		"bob": func(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
			return func(yield func(agent.Event, error) bool) {
				for i := range tools {
					id := fmt.Sprint(i)
					yield(agent.ToolStarted{ID: id, Name: "look"}, nil)
					yield(agent.ToolCompleted{ID: id, Name: "look"}, nil)
				}
				yield(agent.Text{Text: "from bob"}, nil)
			}
		},
	}
	completed := 0
	f.listener.onEvent = func(e coordinator.Event) {
		if _, ok := e.Payload.(projection.ToolCompleted); ok {
			if completed++; completed == tools {
				close(recorded)
			}
		}
	}
	f.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision {
		<-recorded
		return coordinator.Allowed
	}
	f.say("[NEXT: ada | bob] go")
	if texts := f.texts(); len(texts) != 3 {
		t.Errorf("it says %q", texts)
	}
}

// Members whose turns may disturb each other have them one after another, and a notice says why.
func TestPanelsThatAreSplit(t *testing.T) {
	runs := func(o *coordinator.Options, _ *team.Team) {
		o.Engines["scripted"] = editing{&scriptedEngine{}} // of programs, which may change files
	}
	for _, test := range []struct {
		text   string
		want   coordinator.PanelSplitReason
		change []func(*coordinator.Options, *team.Team)
	}{
		{"[NEXT: ada | bob | cy | di | ed]", coordinator.PanelTooLarge, nil},
		{"[NEXT: ada | you]", coordinator.PanelOfPeople, nil},
		{"[NEXT: ada | ada]", coordinator.PanelRepeats, nil},
		{"[NEXT: ada | bob]", coordinator.PanelMayChange, []func(*coordinator.Options, *team.Team){runs}},
	} {
		f, _ := panel(t, &store.Memory{}, nil, test.change...)
		f.say(test.text + " go")
		i := slices.IndexFunc(f.listener.notices, func(n coordinator.Notice) bool {
			split, ok := n.(coordinator.PanelSplit)
			return ok && split.Why == test.want
		})
		if i < 0 {
			t.Errorf("%s: the notices are %q", test.text, f.recorder.lines)
		}
		for _, turn := range payloads[projection.TurnStarted](t, f.recorder.appended) {
			if turn.Panel != nil {
				t.Errorf("%s: a turn is in a panel", test.text)
			}
		}
	}
}

// A panel starts only if all its turns fit into the limits.
func TestPanelsWithinLimits(t *testing.T) {
	for name, change := range map[string]func(*coordinator.Options, *team.Team){
		"of the team":   func(_ *coordinator.Options, all *team.Team) { all.MaxRounds = 3 },
		"of the run":    func(o *coordinator.Options, _ *team.Team) { o.MaxRounds = 3 },
		"of the budget": func(_ *coordinator.Options, all *team.Team) { all.Budget.Session.Turns = 3 },
	} {
		f, _ := panel(t, &store.Memory{}, nil, change)
		f.say("[NEXT: ada | bob] one")
		_ = f.Say(context.Background(), "", "[NEXT: ada | bob] two")
		if name == "of the team" { // whose turns count from the last message
			_ = f.Say(context.Background(), "", "[NEXT: ada, bob | cy, di | ed] three")
		}
		want := map[string]int{"of the team": 7, "of the run": 2, "of the budget": 2}[name]
		if n := len(payloads[projection.TurnStarted](t, f.recorder.appended)); n != want {
			t.Errorf("%s: %d turns, want %d", name, n, want)
		}
	}
}

// A turn whose agent has lost its session begins a new one with the messages of the panel's start; what the other member
// replied meanwhile comes with the next turn.
func TestSessionIsLostInAPanel(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "")
	r.say("[NEXT: ada | bob] first")
	replied := make(chan bool)
	messages := 0
	r.recorder.onMessage = func() {
		if messages++; messages == 2 { // after the person's
			close(replied)
		}
	}
	losing := func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		if turn.Member.ID == "bob" {
			return says("from bob")(ctx, turn)
		}
		<-replied
		return yields(fmt.Errorf("vendor: %w", agent.ErrGone))(ctx, turn)
	}
	v.script = []turnFunc{losing, losing, says("from ada")}
	r.say("[NEXT: ada | bob] second")
	if prompt := v.prompt(); strings.Contains(prompt, "from bob") || !strings.Contains(prompt, "second") {
		t.Errorf("after the loss:\n%s", prompt)
	}
	r.say("[NEXT: ada] third")
	if prompt := v.prompt(); !strings.Contains(prompt, "from bob") {
		t.Errorf("the next prompt:\n%s", prompt)
	}
}

// No prompt of a panel has a byte of what another of its members says in it, however the turns interleave.
func TestNoPromptOfAPanelHasAReplyOfIt(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		v := newVendor()
		r := remember(t, &store.Memory{}, v, "")
		for round := range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range 2 {
				part, rest := fmt.Sprintf("mark-%d-", round), rapid.StringMatching(`[a-z]{1,9}`).Draw(rt, "reply")
				v.script = append(v.script, yields(nil, agent.Text{Text: part}, agent.Text{Text: rest}))
			}
			if rapid.IntRange(0, 3).Draw(rt, "forget") == 0 {
				v.forget()
			}
			before := len(v.prompts)
			r.say("[NEXT: ada | bob] go")
			for _, prompt := range v.prompts[before:] {
				if strings.Contains(prompt, fmt.Sprintf("mark-%d-", round)) {
					rt.Fatalf("round %d:\n%s", round, prompt)
				}
			}
		}
		r.Stop("end")
	})
}
