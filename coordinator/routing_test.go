package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestMarkersRouteMessages(t *testing.T) {
	for _, test := range []struct {
		name    string
		says    string
		script  []turnFunc
		asked   []string
		waiting string
		queue   []string
		notices []string
	}{
		{"no addressee: the first agent", "hello", nil, []string{"ada"}, "you", nil, nil},
		{"one addressee", "hello [NEXT: bob]", nil, []string{"bob"}, "you", nil, nil},
		{"two addressees: in order", "hello [NEXT: bob, ada]", nil, []string{"bob", "ada"}, "you", nil, nil},
		{"in two markers", "[NEXT: bob] hello [NEXT: ada]", nil, []string{"bob", "ada"}, "you", nil, nil},
		{"the same twice in a row", "hello [NEXT: bob, bob]", nil, []string{"bob"}, "you", nil, nil},
		{"by display name", "hello [NEXT: BOB ]", nil, []string{"bob"}, "you", nil, nil},
		{
			"an unknown addressee is skipped", "hello [NEXT: zed, bob]", nil, []string{"bob"}, "you", nil,
			[]string{"notice UnknownNames [zed]"},
		},
		{
			"only unknown addressees: no turn", "hello [NEXT: zed, yak]", nil, nil, "you", nil,
			[]string{"notice UnknownNames [zed yak]"},
		},
		{"a mention", "@bob what do you think", nil, []string{"bob"}, "you", nil, nil},
		{"mentions", "@Bob, @ada: hello", nil, []string{"bob", "ada"}, "you", nil, nil},
		{"a mention after FROM", "[FROM: eve] @bob hello", nil, []string{"bob"}, "you", nil, nil},
		{"a mention alone", "@bob", nil, []string{"bob"}, "you", nil, nil},
		{"a mention of a human", "@eve hello", nil, nil, "eve", nil, nil},
		{"a mention after text", "ask @bob", nil, []string{"ada"}, "you", nil, nil},
		{"a mention and NEXT", "@bob said so [NEXT: ada]", nil, []string{"ada"}, "you", nil, nil},
		{
			"an unknown mention", "@zed hello", nil, []string{"ada"}, "you", nil,
			[]string{"notice UnknownNames [zed]"},
		},
		{"paths", "@./bob @../bob @bob/x hello", nil, []string{"ada"}, "you", nil, nil},
		{
			"many unknown mentions", strings.Repeat("@zed ", 1000), nil, []string{"ada"}, "you", nil,
			[]string{"notice UnknownNames [zed zed zed zed zed zed zed zed zed zed]"},
		},
		{
			"mentions after many unknown ones", strings.Repeat("@zed ", 10) + "@bob @ada", nil, []string{"bob", "ada"}, "you",
			nil, []string{"notice UnknownNames [zed zed zed zed zed zed zed zed zed zed]"},
		},
		{"only at signs", "@ @, hello", nil, []string{"ada"}, "you", nil, nil},
		{"a mention by an agent", "hello", []turnFunc{says("@bob hi")}, []string{"ada"}, "you", nil, nil},
		{"another human", "hello [NEXT: eve]", nil, nil, "eve", nil, nil},
		{"a human first: the others stay queued", "hello [NEXT: eve, bob]", nil, nil, "eve", []string{"bob"}, nil},
		{"only a drop: no turn", "[DROP: ALL]", nil, nil, "you", nil, nil},
		{"a drop and text", "[DROP: ALL] hello", nil, []string{"ada"}, "you", nil, nil},
		{"in code: only text", "say `[NEXT: bob]`", nil, []string{"ada"}, "you", nil, nil},

		{"an agent addresses no member", "hello [NEXT: ada]", []turnFunc{says("hi")}, []string{"ada"}, "you", nil, nil},
		{
			"an agent hands over", "hello", []turnFunc{says("hi [NEXT: bob]"), says("there")}, []string{"ada", "bob"},
			"you", nil, nil,
		},
		{
			"and back", "hello", []turnFunc{says("1 [NEXT: bob]"), says("2 [NEXT: ada]"), says("3")},
			[]string{"ada", "bob", "ada"}, "you", nil, nil,
		},
		{"an agent addresses a human", "hello", []turnFunc{says("hi [NEXT: eve]")}, []string{"ada"}, "eve", nil, nil},
		{
			"an agent names a human before an agent", "hello", []turnFunc{says("hi [NEXT: eve, bob]")}, []string{"ada"},
			"eve", []string{"bob"}, nil,
		},
		{
			"an agent addresses only unknown names", "hello", []turnFunc{says("hi [NEXT: zed]")},
			[]string{"ada"}, "you", nil, []string{"notice UnknownNames [zed]"},
		},
		{
			"an agent also addresses an unknown name", "hello", []turnFunc{says("hi [NEXT: zed, bob]")}, []string{"ada",
				"bob"},
			"you", nil, []string{"notice UnknownNames [zed]"},
		},
		{
			"an agent drops who waits", "hello [NEXT: ada, bob]", []turnFunc{says("hi [DROP: bob]")}, []string{"ada"},
			"you", nil, nil,
		},
		{
			"an agent drops all and names one", "hello [NEXT: ada, bob, eve]",
			[]turnFunc{says("hi [DROP: ALL] [NEXT: ada]")}, []string{"ada", "ada"}, "you", nil, nil,
		},
		{
			"an agent may not write TEAM_TASK and FROM", "hello", []turnFunc{says("[FROM: eve] [TEAM_TASK: mine] hi")},
			[]string{"ada"}, "you", nil, []string{"notice FromIgnored Ada", "notice TaskIgnored Ada"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, &store.Memory{}, test.script...)
			err := s.Say(context.Background(), s.speaker(test.says), test.says)
			if lost := strings.HasPrefix(test.name, "only unknown"); lost != errors.Is(err, coordinator.ErrNotDelivered) ||
				!lost && err != nil {
				t.Errorf("the error is %v", err)
			}
			s.checkMembers(test.asked...)
			if s.Waiting() != test.waiting || !slices.Equal(s.Queue(), test.queue) {
				t.Errorf("waiting for %q, queue %v, want %q, %v", s.Waiting(), s.Queue(), test.waiting, test.queue)
			}
			if s.Status().Phase != coordinator.Paused || s.recorder.saves() != 1 || s.Session().TeamTask != nil {
				t.Errorf("status %v, notified %q", s.Status(), s.recorder.lines)
			}
			notices := slices.DeleteFunc(slices.Clone(s.recorder.lines),
				func(line string) bool { return !strings.HasPrefix(line, "notice") })
			if !slices.Equal(notices, test.notices) {
				t.Errorf("the notices are %q, want %q", notices, test.notices)
			}
		})
	}
}

func TestMentionIsRoutedAsNextWithoutPriority(t *testing.T) {
	for _, tt := range []struct {
		names, asked string // asked after the first message
		changes      int
	}{
		{"a03 a04", "a03 a02 a04", 1},
		{"a02", "a02", 1}, // last in the queue
		{"a03 a04 a03", "a03 a02 a04", 2},
		{"a03 a04 a05 a06 a07 a08 a09 a10 a11 a12 a13 a14", "a03 a02 a04 a05 a06 a07 a08 a09 a10 a11 a12 a13 a14", 3},
	} {
		names := strings.Fields(tt.names)
		run := func(text string) (*fixture, *projection.Routing) {
			d := onDisk(t, 0)
			s := newFixture(t, d)
			s.setTeam(crowd(14), "")
			s.say("hello [NEXT: a01, you, a02]", text)
			s.checkMembers(append([]string{"a01"}, strings.Fields(tt.asked)...)...)
			said := payloads[projection.MessageAppended](t, d.events(s.Session().ID))
			return s, said[2].Message.Routing
		}
		next, wantRouting := run("hi [NEXT: " + strings.Join(names, ", ") + "]")
		mention, routing := run("@" + strings.Join(names, " @") + " hi")
		checkEqual(t, tt.names+": the routing", routing, wantRouting)
		checkEqual(t, tt.names+": the changes", mention.QueueChanges(), next.QueueChanges())
		if n := len(mention.QueueChanges()); n != tt.changes {
			t.Errorf("%s: %d changes: %+v", tt.names, n, mention.QueueChanges())
		}
	}
}

// paused returns a conversation in which eve is next while bob is queued.
func paused(t *testing.T) *fixture {
	t.Helper()
	s := start(t, &store.Memory{}, says("over [NEXT: eve, bob]"))
	s.say("hello")
	return s
}

func TestQueueContinuesAfterHuman(t *testing.T) {
	s := paused(t)
	s.say("words in between")
	s.checkMembers("ada", "bob")
	if got := s.messages()[2].Speaker.ID; got != "eve" {
		t.Errorf("%s spoke, want eve", got)
	}
	if prompt := s.engine.prompt(); !strings.Contains(prompt, "Message from Ada:\n  over") ||
		!strings.Contains(prompt, "Eve: words in between") {
		t.Errorf("the prompt of bob is\n%s", prompt)
	}
	if s.Waiting() != "you" {
		t.Errorf("waiting for %s", s.Waiting())
	}
}

// sayUndelivered says a text whose addressees are unknown.
func (s *fixture) sayUndelivered(text string) {
	s.t.Helper()
	if err := s.Say(context.Background(), s.speaker(text), text); !errors.Is(err, coordinator.ErrNotDelivered) {
		s.t.Fatalf("say %q: %v", text, err)
	}
}

func TestHumanIsNextWhileQueueWaits(t *testing.T) {
	s := paused(t)
	s.sayUndelivered("hm [NEXT: zed]")
	s.checkMembers("ada")
	if s.Waiting() != "eve" || !slices.Equal(s.Queue(), []string{"bob"}) {
		t.Errorf("waiting for %q, queue %v", s.Waiting(), s.Queue())
	}
	s.say("continue, I meant")
	s.checkMembers("ada", "bob")
}

func TestHumanWithUnknownAddresseesIsNext(t *testing.T) {
	s := start(t, &store.Memory{})
	s.sayUndelivered("[FROM: eve] hm [NEXT: zed]")
	if s.Waiting() != "eve" {
		t.Errorf("waiting for %q, want eve", s.Waiting())
	}
	s.sayUndelivered("[FROM: you] hm [NEXT: zed]") // out of turn
	if s.Waiting() != "you" {
		t.Errorf("waiting for %q, want you", s.Waiting())
	}
}

func TestHumanDropsQueuedMembers(t *testing.T) {
	for _, marker := range []string{"[DROP: bob]", "[DROP: ALL]", "[drop: Bob]"} {
		s := paused(t)
		s.say("no " + marker)
		s.checkMembers("ada", "ada") // as with an empty queue
	}
	s := paused(t)
	s.say("no [DROP: ada, zed]")
	s.checkMembers("ada", "bob")
}

func TestLastMessagePrecedesQueue(t *testing.T) {
	s := paused(t)
	s.say("also [NEXT: ada]")
	s.checkMembers("ada", "ada", "bob")
}

func TestFromNamesHuman(t *testing.T) {
	s := start(t, &store.Memory{})
	s.say("[FROM: eve] it is me")
	if got := s.messages()[0]; got.Speaker.ID != "eve" || got.Content != "[FROM: eve] it is me" {
		t.Errorf("the message is %+v", got)
	}
	for _, from := range []string{"ada", "zed"} {
		s.recorder.lines = nil
		s.say("[FROM: " + from + "] it is not")
		if n := s.recorder.count("notice UnknownNames [" + from + "]"); n != 1 {
			t.Errorf("notified %q", s.recorder.lines)
		}
		messages := s.messages()
		if got := messages[len(messages)-2].Speaker.ID; got != "you" {
			t.Errorf("the speaker is %s", got)
		}
	}
}

func TestLastTaskOfMessageApplies(t *testing.T) {
	s := start(t, &store.Memory{})
	s.say("[TEAM_TASK: one] and [TEAM_TASK: two]")
	if got := s.Session().TeamTask; got == nil || *got != "two" {
		t.Errorf("the task is %v", got)
	}
	if !strings.Contains(s.engine.prompt(), "Task of the team:\ntwo\n") {
		t.Errorf("the prompt is\n%s", s.engine.prompt())
	}
	s.say("[TEAM_TASK: ] no more")
	if got := s.Session().TeamTask; got != nil {
		t.Errorf("the task is %q", *got)
	}
	if strings.Contains(s.engine.prompt(), "Task of the team") {
		t.Errorf("the prompt is\n%s", s.engine.prompt())
	}
}

func TestTaskIsTruncatedToFiveKiB(t *testing.T) {
	const limit = 5 << 10
	for _, tt := range []struct {
		name, task string
		want       int
	}{
		{"as long as may be", strings.Repeat("x", limit), limit},
		{"one byte more", strings.Repeat("x", limit+1), limit},
		{"in the middle of a rune", strings.Repeat("団", limit), limit - limit%3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for how, set := range map[string]func(s *fixture){
				"in a message": func(s *fixture) { s.say("[TEAM_TASK: " + tt.task + "] begin") },
				"by itself":    func(s *fixture) { s.SetTask(tt.task) },
			} {
				s := start(t, &store.Memory{})
				set(s)
				if got := s.Session().TeamTask; got == nil || *got != tt.task[:tt.want] {
					t.Errorf("%s: the task is not the first %d bytes", how, tt.want)
				}
				cut := len(tt.task) > limit
				if said := s.recorder.count(fmt.Sprint("notice TaskTruncated ", limit)) == 1; said != cut {
					t.Errorf("%s: notified %q", how, s.recorder.lines)
				}
			}
		})
	}
}

func TestRoutingIsRecordedWithTheMessage(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("hello [NEXT: Bob, zed]")
	got := payloads[projection.MessageAppended](t, d.events(s.Session().ID))
	id, name := "bob", "bob"
	checkEqual(t, "the routing", got[0].Message.Routing, &projection.Routing{
		RawNextMarkers: []string{"Bob", "zed"},
		ResolvedAddressees: []projection.Addressee{{Identifier: "Bob", MemberID: &id, MemberName: &name},
			{Identifier: "zed"}},
	})
	if got[0].Message.Content != "hello" || got[1].Message.Routing != nil {
		t.Errorf("the messages are %+v", got)
	}
}

// pingPong returns turns in which the agents hand over to each other.
func pingPong() (script []turnFunc) {
	for range 20 {
		script = append(script, says("to bob [NEXT: bob]"), says("to ada [NEXT: ada]"))
	}
	return script
}

func TestTeamMaxRoundsReturnsToHuman(t *testing.T) {
	d := onDisk(t, 0)
	s := newFixture(t, d, pingPong()...)
	team := testTeam()
	team.MaxRounds = 3
	s.setTeam(team, "")
	s.say("start")
	s.checkMembers("ada", "bob", "ada")
	if s.Waiting() != "you" || len(s.Queue()) > 0 || s.recorder.count("notice RoundLimit 3 [Bob]") != 1 {
		t.Errorf("waiting %q, queue %v, notified %q", s.Waiting(), s.Queue(), s.recorder.lines)
	}
	s.say("continue [NEXT: bob]") // a human's message resets the count
	if n := len(s.engine.members()); n != 6 {
		t.Errorf("%d turns, want 6", n)
	}
}

func TestRoundsAreCountedAcrossRestarts(t *testing.T) {
	store := &store.Memory{}
	s := start(t, store, says("1 [NEXT: bob]"), says("2 [NEXT: ada]"), yields(errors.New("broken")))
	turnError(t, s.Say(context.Background(), "you", "start"), "ada", projection.Failed)
	id := s.stop()

	s = newFixture(t, store, pingPong()...)
	team := testTeam()
	team.MaxRounds = 4
	s.setTeam(team, id)
	if err := s.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.checkMembers("ada") // three before, one now
}

func TestRunMaxRoundsEndsRun(t *testing.T) {
	s := newFixture(t, &store.Memory{}, pingPong()...)
	o := s.options(&store.Memory{})
	o.MaxRounds = 2
	s.Coordinator = coordinator.New(o)
	s.setTeam(testTeam(), "")
	if s.RunOver() {
		t.Error("RunOver is true before the first turn")
	}
	s.say("start", "continue")
	s.checkMembers("ada", "bob")
	if !s.RunOver() {
		t.Error("RunOver is false")
	}
	if n := s.recorder.count("notice RunLimit 2 [Ada]"); n != 2 {
		t.Errorf("notified %q", s.recorder.lines)
	}
	if s.Session().Stats.Messages != 4 {
		t.Errorf("%d messages, want all", s.Session().Stats.Messages)
	}
}
