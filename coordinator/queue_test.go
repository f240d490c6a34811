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
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// crowd returns a team of the human you and the agents a01, a02 and so on.
func crowd(agents int) *team.Team {
	crowd := &team.Team{ID: "ensemble", Name: "ensemble", DisplayName: "The Crowd"}
	for i := range agents {
		name := fmt.Sprintf("a%02d", i+1)
		crowd.Members = append(crowd.Members, team.Member{ID: name, Name: name, DisplayName: strings.ToUpper(name),
			Type: team.AI, AgentType: "x", Engine: "scripted"})
	}
	crowd.Members = append(crowd.Members, team.Member{ID: "you", Name: "you", DisplayName: "You", Type: team.Human})
	return crowd
}

// names returns the names of agents as a marker lists them.
func names(from, to int) string {
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf("a%02d", i))
	}
	return strings.Join(all, ", ")
}

func TestQueueOrder(t *testing.T) {
	for _, tt := range []struct {
		name   string
		says   string
		script []turnFunc
		asked  string
	}{
		{"replies come before extends", "[NEXT: a01!P3, a02, a03!P2]", nil, "a02 a03 a01"},
		{"interrupts come first", "[NEXT: a01, a02 !p1, a03]", nil, "a02 a01 a03"},
		{
			"the oldest of the interrupts", "[NEXT: a01!P1, a02!P1]", []turnFunc{says("[NEXT: a03!P1]")},
			"a01 a02 a03",
		},
		{
			"the last message precedes older ones", "[NEXT: a01, a02]",
			[]turnFunc{says("[NEXT: a03]")}, "a01 a03 a02",
		},
		{"also extends", "[NEXT: a01, a02]", []turnFunc{says("[NEXT: a03!P3]")}, "a01 a03 a02"},
		{
			"then the others, replies before extends", "[NEXT: a01, a02!P3, a04]", []turnFunc{says("[NEXT: a03]")},
			"a01 a03 a04 a02",
		},
		{"five in a row, then the oldest", "[NEXT: a01, a02]", []turnFunc{
			says("[NEXT: a03]"), says("[NEXT: a04]"), says("[NEXT: a05]"), says("[NEXT: a06]"),
			says("[NEXT: a07]"), says("over"),
		}, "a01 a03 a04 a05 a06 a02 a07"},
		{"an interrupt does not count toward the row", "[NEXT: a01, a02]", []turnFunc{
			says("[NEXT: a03]"), says("[NEXT: a04!P1]"), says("[NEXT: a05]"), says("[NEXT: a06]"),
			says("[NEXT: a07]"), says("[NEXT: a08]"), says("over"),
		}, "a01 a03 a04 a05 a06 a07 a02 a08"},
		{"a duplicate of the same message counts once", "[NEXT: a01, a02, a01]", nil, "a01 a02"},
		{"another intent counts separately", "[NEXT: a01, a02, a01!P3]", nil, "a01 a02 a01"},
		{"a repeated member counts once, with the more urgent intent", "[NEXT: a01, a02, a02!P1]", nil, "a02 a01"},
		{"a duplicate keeps the more urgent intent", "[NEXT: a01, a02!P1, a02]", nil, "a02 a01"},
		{"the last message is preferred again after the oldest", "[NEXT: a01, a02, a09]", []turnFunc{
			says("[NEXT: a03]"), says("[NEXT: a04]"), says("[NEXT: a05]"), says("[NEXT: a06]"),
			says("[NEXT: a07]"), says("[NEXT: a08]"), says("over"),
		}, "a01 a03 a04 a05 a06 a02 a08 a09 a07"},
		{"twice with P3", "[NEXT: a01!P3, a02, a01!P3]", nil, "a02 a01"},
		{"an agent addresses itself", "[NEXT: a01]", []turnFunc{says("[NEXT: a01]")}, "a01 a01"},
		{
			"only unknown addressees: a human is next", "[NEXT: a01, a02]", []turnFunc{says("[NEXT: zed]")},
			"a01",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, &store.Memory{}, tt.script...)
			s.setTeam(crowd(9), "")
			s.say("hello " + tt.says)
			s.checkMembers(strings.Fields(tt.asked)...)
		})
	}
}

func TestUnknownAddresseesKeepQueue(t *testing.T) {
	s := newFixture(t, &store.Memory{}, says("[NEXT: zed]"))
	s.setTeam(crowd(2), "")
	s.say("[NEXT: a01, a02]")
	if s.Waiting() != "you" || !slices.Equal(s.Queue(), []string{"a02"}) {
		t.Errorf("waiting for %q, queue %v", s.Waiting(), s.Queue())
	}
	s.say("continue")
	s.checkMembers("a01", "a02")
}

// waiting queues agents after a human.
func waiting(t *testing.T, store store.Store, marker string) *fixture {
	s := newFixture(t, store)
	s.setTeam(crowd(60), "")
	s.say("hello [NEXT: you!P1, " + marker + "]")
	return s
}

func TestQueueHoldsFiftyMembers(t *testing.T) {
	s := waiting(t, &store.Memory{}, names(1, 53))
	if n := len(s.Queue()); n != 49 { // and the human who is next
		t.Errorf("%d queued", n)
	}
	if n := s.recorder.count("notice QueueFull [A50 A51 A52 A53] 50"); n != 1 {
		t.Errorf("notified %q", s.recorder.lines)
	}
}

func TestQueueReportsEachMemberOnce(t *testing.T) {
	demoted := "notice QueueDemoted [" + strings.ToUpper(strings.ReplaceAll(names(10, 49), ",", "")) + "] 10"
	for _, tt := range []struct {
		names string
		want  []string
	}{
		{names(1, 9), nil}, // the human is the tenth
		{names(1, 10), []string{"notice QueueDemoted [A10] 10"}},
		{names(1, 49), []string{demoted}},
		{names(1, 50), []string{"notice QueueFull [A50] 50", demoted}},
		{names(1, 50) + ", a50", []string{"notice QueueFull [A50] 50", demoted}},
	} {
		var got []string
		for _, line := range waiting(t, &store.Memory{}, tt.names).recorder.lines {
			if strings.HasPrefix(line, "notice Queue") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: notified %q, want %q", tt.names, got, tt.want)
		}
	}
}

func TestEleventhAddresseeIsDemoted(t *testing.T) {
	s := waiting(t, &store.Memory{}, names(1, 12))
	waits := s.Queued()
	for i, w := range waits {
		want := marker.Reply
		if i >= 9 { // the human was the tenth
			want = marker.Extend
		}
		if w.Intent != want || w.Member.ID != fmt.Sprintf("a%02d", i+1) {
			t.Errorf("%d is %s with %v", i, w.Member.ID, w.Intent)
		}
	}
	if n := s.recorder.count("notice QueueDemoted [A10 A11 A12] 10"); n != 1 || len(waits) != 12 {
		t.Errorf("%d queued, notified %q", len(waits), s.recorder.lines)
	}
}

func TestEntriesAfterTheTenthGetP3(t *testing.T) {
	for _, tt := range []struct{ name, names, want string }{
		{"even with P1", "a10, a11!P1", "A10 P2, A11 P3"},
		{"repeated in a row", "a10, a11, a11!P1", "A10 P2, A11 P3"},
		{"repeated later", "a10, a11, a12, a11", "A10 P2, A11 P3, A12 P3"},
		{"the tenth, repeated", "a10, a11, a10", "A10 P2, A11 P3"},
		{"with P3, then again", "a10, a11!P3, a12, a11", "A10 P2, A11 P3, A12 P3"},
		{"a member with another priority", "a10, a01!P1", "A10 P2, A01 P3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, &store.Memory{})
			s.setTeam(crowd(12), "")
			s.say("hello [NEXT: you, " + names(1, 8) + ", " + tt.names + "]")
			var got []string
			for _, q := range s.Queued()[8:] {
				got = append(got, q.Member.DisplayName+" "+q.Intent.String())
			}
			checkEqual(t, "the end of the queue", strings.Join(got, ", "), tt.want)
		})
	}
}

func TestLastInQueueAnswersNewerMessage(t *testing.T) {
	for _, tt := range []struct{ queued, named, asked, reason string }{
		{"a02, a03", "a03", "a03 a02", "already last in the queue; it answers the newer message, with P2"},
		{"a02, a03!P3", "a03!P2", "a03 a02", "already last in the queue; it answers the newer message, with P2"},
		{"a02, a03!P2", "a03!P3", "a03 a02", "already last in the queue; it answers the newer message, with P2"},
		{"a03, a02", "a03!P3", "a03 a03 a02", "the last message addresses it"},
	} {
		s := newFixture(t, &store.Memory{})
		s.setTeam(crowd(4), "")
		s.say("older [NEXT: you!P1, "+tt.queued+"]", "newer [NEXT: "+tt.named+"]")
		s.checkMembers(strings.Fields(tt.asked)...)
		if prompt := s.engine.turns[0].Prompt; !strings.Contains(prompt, "Message from You:\nnewer") {
			t.Errorf("%s, then %s: the prompt is\n%s", tt.queued, tt.named, prompt)
		}
		changes := s.QueueChanges()
		if len(changes) == 0 || changes[0].Reason != tt.reason {
			t.Errorf("%s, then %s: the changes are %+v, want %q", tt.queued, tt.named, changes, tt.reason)
		}
	}
}

func TestRepeatedMemberHasReason(t *testing.T) {
	const ignored = "already queued; duplicate ignored"
	for says, want := range map[string]string{
		"[NEXT: a01, you!P1, a01]":       ignored,
		"[NEXT: you!P1, a01, a01]":       ignored,
		"[NEXT: you!P1, a01!P1, a01!P3]": ignored,
		"[NEXT: you!P1, a01, a01!P1]":    "already last in the queue; now with P1",
	} {
		s := newFixture(t, &store.Memory{})
		s.setTeam(crowd(2), "")
		s.say("hello " + says)
		if got := s.QueueChanges(); len(got) == 0 || got[0].Reason != want {
			t.Errorf("%s: the changes are %+v, want %q", says, got, want)
		}
	}
}

// decisions returns the recorded changes of the queue, one line each.
func decisions(t *testing.T, d *disk, id string) []string {
	t.Helper()
	var lines []string
	for _, p := range payloads[projection.QueueChanged](t, d.events(id)) {
		for _, change := range p.Changes {
			lines = append(lines, fmt.Sprintf("%s %s %s, then %v", change.Action, change.MemberID, change.Intent,
				p.Waiting))
		}
	}
	return lines
}

func TestQueueChangesAreRecorded(t *testing.T) {
	broken := yields(errors.New("broken"))
	for _, tt := range []struct {
		name   string
		says   string
		script []turnFunc
		want   []string
	}{
		{"nothing", "hello", nil, nil},
		{"first come, first served", "[NEXT: a01, a02]", []turnFunc{says("one"), says("two [NEXT: a03]")}, nil},
		{"a member interrupts", "[NEXT: a01, a02!P1]", nil, []string{"preferred a02 P1, then [a01]"}},
		{
			"the last message comes first", "[NEXT: a01, a02]", []turnFunc{says("[NEXT: a03]")},
			[]string{"preferred a03 P2, then [a02]"},
		},
		{
			"a member is dropped", "[NEXT: a01, a02, a03]", []turnFunc{says("[DROP: a02]")},
			[]string{"dropped a02 P2, then []"},
		},
		{"a member is queued already", "[NEXT: a01, a02, a01]", nil, []string{"repeated a01 P2, then [a02]"}},
		{"a turn fails", "[NEXT: a01, a02]", []turnFunc{broken}, []string{"dropped a02 P2, then []"}},
		{"the turns are over", "[NEXT: a01, a02, a03, a04, a05]", nil, []string{"dropped a05 P2, then []"}},
		{"the conversation ends", "[NEXT: you, a02]", nil, []string{"dropped a02 P2, then []"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := onDisk(t, 0)
			s := newFixture(t, d, tt.script...)
			team := crowd(5)
			team.MaxRounds = 4
			s.setTeam(team, "")
			s.Say(context.Background(), "", "hello "+tt.says)
			decided := len(s.QueueChanges())
			id := s.stop()
			if got := decisions(t, d, id); !slices.Equal(got, tt.want) {
				t.Errorf("the journal has %q, want %q", got, tt.want)
			}
			if tt.name != "the conversation ends" && decided != len(tt.want) {
				t.Errorf("%d changes", decided)
			}
		})
	}
}

func TestPreferenceHasReason(t *testing.T) {
	for _, tt := range []struct {
		says   string
		script []turnFunc
		want   string
	}{
		{"[NEXT: a01, a02!P1]", nil, "it interrupts (P1)"},
		{"[NEXT: a01, a02]", []turnFunc{says("[NEXT: a03]")}, "the last message addresses it"},
		{"[NEXT: a01!P3, a02]", nil, "replies (P2) come before extends (P3)"},
		{"[NEXT: a01, a02!P3, a03]", []turnFunc{says("one")}, "replies (P2) come before extends (P3)"},
	} {
		s := newFixture(t, &store.Memory{}, tt.script...)
		s.setTeam(crowd(5), "")
		s.say("hello " + tt.says)
		if got := s.QueueChanges(); len(got) != 1 || got[0].Reason != tt.want {
			t.Errorf("%s: the changes are %+v, want %q", tt.says, got, tt.want)
		}
	}
}

func TestAtMostTwentyChangesAreRecorded(t *testing.T) {
	d := onDisk(t, 0)
	s := waiting(t, d, strings.Repeat("a01, a02, ", 1000))
	p := payloads[projection.QueueChanged](t, d.events(s.Session().ID))
	if len(p) != 1 || len(p[0].Changes) != 20 || p[0].More != 1998-20 || len(s.QueueChanges()) != 20 {
		t.Errorf("the journal has %+v, %d changes", p, len(s.QueueChanges()))
	}
}

func TestQueueIsEmptyAfterRestart(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		s := waiting(t, store, names(1, 3))
		id := s.stop()
		s = newFixture(t, store)
		s.setTeam(crowd(60), id)
		if len(s.Queued()) > 0 || len(s.QueueChanges()) > 0 || s.Waiting() != "you" {
			t.Errorf("queue %v, changes %v, waiting for %q", s.Queued(), s.QueueChanges(), s.Waiting())
		}
		s.say("continue")
		s.checkMembers("a01")
		if n := len(s.Queue()); n > 0 {
			t.Errorf("%d queued", n)
		}
	})
}

func TestClearedQueueIsNotified(t *testing.T) {
	s := start(t, &store.Memory{}, yields(errors.New("broken")))
	turnError(t, s.Say(context.Background(), "you", "hello [NEXT: ada, bob]"), "ada", projection.Failed)
	if n := s.recorder.count("notice QueueCleared [Bob]"); n != 1 || len(s.Queue()) > 0 {
		t.Errorf("notified %q, queue %v", s.recorder.lines, s.Queue())
	}
}

func TestFirstMessageNamesSpeaker(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	var who *coordinator.WhoSpeaksError
	if err := s.Say(context.Background(), "", "hello"); !errors.As(err, &who) ||
		!slices.Equal(who.Humans, []string{"you", "eve"}) || !strings.HasSuffix(err.Error(), "you, eve") {
		t.Errorf("the error is %v", err)
	}
	if s.Session() != nil || len(d.content()) > 0 || len(s.engine.members()) > 0 {
		t.Error("a session was begun")
	}
	s.say("[FROM: eve] hello", "and again")
	for i, want := range map[int]string{0: "eve", 2: "you"} { // whom an answer goes back to is the first
		if got := s.messages()[i].Speaker.ID; got != want {
			t.Errorf("message %d is of %s, want %s", i, got, want)
		}
	}
}

func TestAgentSetsTaskIfAllowed(t *testing.T) {
	s := newFixture(t, &store.Memory{}, says("[TEAM_TASK: a boat] done"))
	team := testTeam()
	team.Members[0].AllowTeamTask = true
	s.setTeam(team, "")
	s.say("hello")
	if task := s.Session().TeamTask; task == nil || *task != "a boat" {
		t.Errorf("the task is %v", task)
	}
	if !strings.Contains(s.engine.prompt(), "write `[TEAM_TASK: the task]`") || s.recorder.count("notice") > 0 {
		t.Errorf("the prompt of ada is\n%s\nnotified %q", s.engine.prompt(), s.recorder.lines)
	}
}

func TestDoneWordInLastThreeLinesEndsTask(t *testing.T) {
	for _, tt := range []struct {
		reply string
		ends  bool
	}{
		{"DONE", true},
		{"all is well\n  DONE  \n\nbye [NEXT: bob]", true},
		{"all is well\nDONE\none\ntwo", true},
		{"all is well\nDONE\none\ntwo\nthree", false},
		{"all is DONE", false},
		{"done", false},
		{"DONE.", false},
	} {
		s := newFixture(t, &store.Memory{}, says(tt.reply))
		team := testTeam()
		team.Members[0].DoneWord = "DONE"
		s.setTeam(team, "")
		s.say("hello [NEXT: ada, bob]")
		asked := []string{"ada", "bob"}
		if tt.ends {
			asked = asked[:1]
		}
		s.checkMembers(asked...)
		if ended := s.recorder.count("notice TaskDone Ada") == 1; ended != tt.ends || len(s.Queue()) > 0 {
			t.Errorf("%q ends the task: %v, want %v", tt.reply, ended, tt.ends)
		}
	}
}

func TestDoneTaskReturnsToAddressedHuman(t *testing.T) {
	s := newFixture(t, &store.Memory{}, says("DONE [NEXT: bob, eve]"))
	team := testTeam()
	team.Members[0].DoneWord = "DONE"
	s.setTeam(team, "")
	s.say("hello")
	if s.Waiting() != "eve" || len(s.engine.members()) != 1 {
		t.Errorf("waiting for %q, the members were %v", s.Waiting(), s.engine.members())
	}
}

func TestRoundsAreNotified(t *testing.T) {
	store := &store.Memory{}
	s := newFixture(t, store, says("1 [NEXT: bob]"), yields(errors.New("broken")))
	team := testTeam()
	team.MaxRounds = 3
	s.setTeam(team, "")
	s.Say(context.Background(), "you", "hello")
	s.recorder.check(t, "notice Round Bob 2 3")
	if s.recorder.count("notice Round Ada 1 3") > 0 {
		t.Error("the first of three turns is notified")
	}
	id := s.stop()

	s = newFixture(t, store, says("3 [NEXT: ada]"))
	s.setTeam(team, id)
	if had, allowed := s.Rounds(); had != 2 || allowed != 3 {
		t.Errorf("%d of %d turns", had, allowed)
	}
	if err := s.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.recorder.check(t, "notice Round Bob 3 3", "notice RoundLimit 3 [Ada]")
}

// check checks that the notices were notified once each, in this order.
func (d *recorder) check(t *testing.T, want ...string) {
	t.Helper()
	at := 0
	for _, w := range want {
		i := slices.Index(d.lines[at:], w)
		if i < 0 {
			t.Errorf("not notified %q after line %d of %q", w, at, d.lines)
			return
		}
		at += i + 1
	}
}

func TestRetryDropsWaitingMembers(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d, yields(errors.New("broken")))
	turnError(t, s.Say(context.Background(), "you", "hello [NEXT: ada]"), "ada", projection.Failed)
	s.say("[NEXT: eve, bob]")
	if err := s.Retry(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.checkMembers("ada", "ada")
	checkEqual(t, "the decisions", decisions(t, d, s.Session().ID), []string{"dropped bob P2, then []"})
}
