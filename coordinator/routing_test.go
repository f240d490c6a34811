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

func TestMarkersDecideWhoSpeaks(t *testing.T) {
	for _, test := range []struct {
		name    string
		says    string
		plays   []play
		asked   []string
		waiting string
		queue   []string
		notices []string
	}{
		{"nobody named: the first agent", "hello", nil, []string{"ada"}, "you", nil, nil},
		{"one named", "hello [NEXT: bob]", nil, []string{"bob"}, "you", nil, nil},
		{"two named: in order", "hello [NEXT: bob, ada]", nil, []string{"bob", "ada"}, "you", nil, nil},
		{"in two markers", "[NEXT: bob] hello [NEXT: ada]", nil, []string{"bob", "ada"}, "you", nil, nil},
		{"the same twice in a row", "hello [NEXT: bob, bob]", nil, []string{"bob"}, "you", nil, nil},
		{"by display name", "hello [NEXT: BOB ]", nil, []string{"bob"}, "you", nil, nil},
		{
			"an unknown name is skipped", "hello [NEXT: zed, bob]", nil, []string{"bob"}, "you", nil,
			[]string{"notice UnknownNames [zed]"},
		},
		{
			"all unknown: nobody starts", "hello [NEXT: zed, yak]", nil, nil, "you", nil,
			[]string{"notice UnknownNames [zed yak]"},
		},
		{"another human", "hello [NEXT: eve]", nil, nil, "eve", nil, nil},
		{"a human first: the rest waits", "hello [NEXT: eve, bob]", nil, nil, "eve", []string{"bob"}, nil},
		{"nothing but a drop: nobody is asked", "[DROP: ALL]", nil, nil, "you", nil, nil},
		{"a drop and a word", "[DROP: ALL] hello", nil, []string{"ada"}, "you", nil, nil},
		{"in code: only text", "say `[NEXT: bob]`", nil, []string{"ada"}, "you", nil, nil},

		{"an agent names nobody", "hello [NEXT: ada]", []play{says("hi")}, []string{"ada"}, "you", nil, nil},
		{
			"an agent hands over", "hello", []play{says("hi [NEXT: bob]"), says("there")}, []string{"ada", "bob"},
			"you", nil, nil,
		},
		{
			"and back", "hello", []play{says("1 [NEXT: bob]"), says("2 [NEXT: ada]"), says("3")},
			[]string{"ada", "bob", "ada"}, "you", nil, nil,
		},
		{"an agent names a human", "hello", []play{says("hi [NEXT: eve]")}, []string{"ada"}, "eve", nil, nil},
		{
			"an agent names a human before an agent", "hello", []play{says("hi [NEXT: eve, bob]")}, []string{"ada"},
			"eve", []string{"bob"}, nil,
		},
		{
			"an agent names unknown names only", "hello", []play{says("hi [NEXT: zed]")}, []string{"ada"}, "you", nil,
			[]string{"notice UnknownNames [zed]"},
		},
		{
			"an agent names an unknown name too", "hello", []play{says("hi [NEXT: zed, bob]")}, []string{"ada", "bob"},
			"you", nil, []string{"notice UnknownNames [zed]"},
		},
		{
			"an agent drops who waits", "hello [NEXT: ada, bob]", []play{says("hi [DROP: bob]")}, []string{"ada"},
			"you", nil, nil,
		},
		{
			"an agent drops all and names one", "hello [NEXT: ada, bob, eve]",
			[]play{says("hi [DROP: ALL] [NEXT: ada]")}, []string{"ada", "ada"}, "you", nil, nil,
		},
		{
			"an agent sets no task and is no human", "hello", []play{says("[FROM: eve] [TEAM_TASK: mine] hi")},
			[]string{"ada"}, "you", nil, []string{"notice FromIgnored Ada", "notice TaskIgnored Ada"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, &store.Memory{}, test.plays...)
			s.say(test.says)
			s.checkAsked(test.asked...)
			if s.Waiting() != test.waiting || !slices.Equal(s.Queue(), test.queue) {
				t.Errorf("waiting for %q with %v behind, want %q with %v", s.Waiting(), s.Queue(), test.waiting, test.queue)
			}
			if s.Status().Phase != coordinator.Paused || s.diary.saves() != 1 || s.Session().TeamTask != nil {
				t.Errorf("status %v, told %q", s.Status(), s.diary.lines)
			}
			notices := slices.DeleteFunc(slices.Clone(s.diary.lines), func(line string) bool { return !strings.HasPrefix(line, "notice") })
			if !slices.Equal(notices, test.notices) {
				t.Errorf("the notices are %q, want %q", notices, test.notices)
			}
		})
	}
}

// paused is a conversation in which eve is asked while bob waits.
func paused(t *testing.T) *scene {
	t.Helper()
	s := start(t, &store.Memory{}, says("over [NEXT: eve, bob]"))
	s.say("hello")
	return s
}

func TestTheQueueGoesOnWhenTheHumanHasSpoken(t *testing.T) {
	s := paused(t)
	s.say("words in between")
	s.checkAsked("ada", "bob")
	if got := s.Session().Recent[2].Speaker.ID; got != "eve" {
		t.Errorf("%s spoke, want eve who was asked", got)
	}
	if prompt := s.cast.prompt(); !strings.Contains(prompt, "Message from Ada:\nover") || !strings.Contains(prompt, "Eve: words in between") {
		t.Errorf("bob was told\n%s", prompt)
	}
	if s.Waiting() != "you" {
		t.Errorf("waiting for %s", s.Waiting())
	}
}

func TestAHumanIsAskedAgainWhileTheQueueWaits(t *testing.T) {
	s := paused(t)
	s.say("hm [NEXT: zed]") // whom that meant is not known: nobody starts
	s.checkAsked("ada")
	if s.Waiting() != "eve" || !slices.Equal(s.Queue(), []string{"bob"}) {
		t.Errorf("waiting for %q with %v behind", s.Waiting(), s.Queue())
	}
	s.say("go on, I meant")
	s.checkAsked("ada", "bob")
}

func TestTheHumanWhoNamedNobodyWhoIsKnownIsAskedAgain(t *testing.T) {
	s := start(t, &store.Memory{})
	s.say("[FROM: eve] hm [NEXT: zed]")
	if s.Waiting() != "eve" {
		t.Errorf("waiting for %q, and eve was not understood", s.Waiting())
	}
	s.say("[FROM: you] hm [NEXT: zed]") // out of turn
	if s.Waiting() != "you" {
		t.Errorf("waiting for %q, and you were not understood", s.Waiting())
	}
}

func TestAHumanDropsWhoWaits(t *testing.T) {
	for _, marker := range []string{"[DROP: bob]", "[DROP: ALL]", "[drop: Bob]"} {
		s := paused(t)
		s.say("no " + marker)
		s.checkAsked("ada", "ada") // as if nobody had waited
	}
	s := paused(t)
	s.say("no [DROP: ada, zed]")
	s.checkAsked("ada", "bob")
}

func TestWhomTheLastMessageNamesIsAskedBeforeTheQueue(t *testing.T) {
	s := paused(t)
	s.say("also [NEXT: ada]")
	s.checkAsked("ada", "ada", "bob")
}

func TestFromSaysWhichHumanSpeaks(t *testing.T) {
	s := start(t, &store.Memory{})
	s.say("[FROM: eve] it is me")
	if got := s.Session().Recent[0]; got.Speaker.ID != "eve" || got.Content != "[FROM: eve] it is me" {
		t.Errorf("the message is %+v", got)
	}
	for _, from := range []string{"ada", "zed"} {
		s.diary.lines = nil
		s.say("[FROM: " + from + "] it is not")
		if n := s.diary.count("notice UnknownNames [" + from + "]"); n != 1 {
			t.Errorf("told was %q", s.diary.lines)
		}
		recent := s.Session().Recent
		if got := recent[len(recent)-2].Speaker.ID; got != "you" {
			t.Errorf("the speaker is %s", got)
		}
	}
}

func TestTheLastTeamTaskOfAHumanCounts(t *testing.T) {
	s := start(t, &store.Memory{})
	s.say("[TEAM_TASK: one] and [TEAM_TASK: two]")
	if got := s.Session().TeamTask; got == nil || *got != "two" {
		t.Errorf("the task is %v", got)
	}
	if !strings.Contains(s.cast.prompt(), "Task of the team:\ntwo\n") {
		t.Errorf("the prompt is\n%s", s.cast.prompt())
	}
	s.say("[TEAM_TASK: ] no more")
	if got := s.Session().TeamTask; got != nil {
		t.Errorf("the task is %q", *got)
	}
	if strings.Contains(s.cast.prompt(), "Task of the team") {
		t.Errorf("the prompt is\n%s", s.cast.prompt())
	}
}

func TestATaskIsCutAtFiveKiBBetweenRunesAndThatIsSaid(t *testing.T) {
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
			for how, set := range map[string]func(s *scene){
				"in a message": func(s *scene) { s.say("[TEAM_TASK: " + tt.task + "] begin") },
				"by itself":    func(s *scene) { s.SetTask(tt.task) },
			} {
				s := start(t, &store.Memory{})
				set(s)
				if got := s.Session().TeamTask; got == nil || *got != tt.task[:tt.want] {
					t.Errorf("%s: the task is not the first %d bytes", how, tt.want)
				}
				cut := len(tt.task) > limit
				if said := s.diary.count(fmt.Sprint("notice TaskTruncated ", limit)) == 1; said != cut {
					t.Errorf("%s: told was %q", how, s.diary.lines)
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
		RawNextMarkers:     []string{"Bob", "zed"},
		ResolvedAddressees: []projection.Addressee{{Identifier: "Bob", MemberID: &id, MemberName: &name}, {Identifier: "zed"}},
	})
	if got[0].Message.Content != "hello" || got[1].Message.Routing != nil {
		t.Errorf("the messages are %+v", got)
	}
}

// pingPong lets the agents hand over to each other without end.
func pingPong() (plays []play) {
	for range 20 {
		plays = append(plays, says("to bob [NEXT: bob]"), says("to ada [NEXT: ada]"))
	}
	return plays
}

func TestTheTeamsMaxRoundsAsksAHumanAgain(t *testing.T) {
	d := onDisk(t, 0)
	s := stage(t, d, pingPong()...)
	team := ensemble()
	team.MaxRounds = 3
	s.with(team, "")
	s.say("start")
	s.checkAsked("ada", "bob", "ada")
	if s.Waiting() != "you" || len(s.Queue()) > 0 || s.diary.count("notice RoundLimit 3 [Bob]") != 1 {
		t.Errorf("waiting %q, queue %v, told %q", s.Waiting(), s.Queue(), s.diary.lines)
	}
	s.say("go on [NEXT: bob]") // a human's word starts the count anew
	if n := len(s.cast.asked()); n != 6 {
		t.Errorf("%d turns, want 6", n)
	}
}

func TestRoundsAreCountedAcrossARestart(t *testing.T) {
	store := &store.Memory{}
	s := start(t, store, says("1 [NEXT: bob]"), says("2 [NEXT: ada]"), does(errors.New("broken")))
	turnError(t, s.SayAs(context.Background(), "you", "start"), "ada", projection.Failed)
	id := s.stop()

	s = stage(t, store, pingPong()...)
	team := ensemble()
	team.MaxRounds = 4
	s.with(team, id)
	if err := s.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.checkAsked("ada") // three before, one now
}

func TestTheRunsMaxRoundsEndsTheAgentsTurnsForGood(t *testing.T) {
	s := stage(t, &store.Memory{}, pingPong()...)
	o := s.options(&store.Memory{})
	o.MaxRounds = 2
	s.Coordinator = coordinator.New(o)
	s.with(ensemble(), "")
	if s.RunOver() {
		t.Error("it was over before it began")
	}
	s.say("start", "go on")
	s.checkAsked("ada", "bob")
	if !s.RunOver() {
		t.Error("nothing says that it is over")
	}
	if n := s.diary.count("notice RunLimit 2 [Ada]"); n != 2 {
		t.Errorf("told was %q", s.diary.lines)
	}
	if s.Session().Stats.Messages != 4 {
		t.Errorf("%d messages, want all that was said", s.Session().Stats.Messages)
	}
}
