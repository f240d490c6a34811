package coordinator_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// settings makes the agents of the test team members of an engine with models and permissions, and lets others be added.
func settings(o *coordinator.Options, t *team.Team) {
	o.Engines = map[string]agent.Engine{"claude": o.Engines["scripted"]}
	for i := range t.Members {
		if m := &t.Members[i]; m.Type == team.AI {
			m.Engine, m.Permissions = "claude", agent.Ask
		}
	}
	o.NewMember = func(agentName, name string) (team.Member, error) {
		if agentName != "own" {
			return team.Member{}, errors.New("no such agent")
		}
		return newcomer(name), nil
	}
}

func newcomer(name string) team.Member {
	return team.Member{ID: name, Name: name, DisplayName: "The new one", Type: team.AI, Engine: "claude", AgentType: "own"}
}

// inForce describes the agents of a team.
func inForce(t *team.Team) (all []string) {
	for _, m := range t.Members {
		if m.Type == team.AI {
			all = append(all, m.Name+" "+m.Model+" "+m.Permissions)
		}
	}
	return all
}

func (s *fixture) checkInForce(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, inForce(s.Team())); diff != "" {
		s.t.Errorf("the team in force (-want +got):\n%s", diff)
	}
}

// must fails the test if one of the changes failed.
func (s *fixture) must(changes ...error) {
	s.t.Helper()
	if err := errors.Join(changes...); err != nil {
		s.t.Fatal(err)
	}
}

// changed is a fixture whose members were changed in each way, before and after a message.
func changed(t *testing.T, s store.Store, v *vendor) *remembering {
	t.Helper()
	r := remember(t, s, v, "", settings)
	r.must(r.SetModel("ada", "opus"))
	r.say("alpha")
	r.must(r.SetPermissions("ada", agent.Allow), r.AddMember("own", newcomer("cy")), r.SetModel("cy", "m2"),
		r.RemoveMember("bob"))
	r.checkInForce("ada opus allow", "cy m2 ")
	return r
}

func TestChangedMembersRun(t *testing.T) {
	v := newVendor()
	r := changed(t, &store.Memory{}, v)
	r.say("[NEXT: cy] beta")
	r.checkPrompt("beta", "You are The new one")
	if m := v.opened; len(m) != 2 {
		t.Fatalf("%d programs were started", len(m))
	}
	r.say("[NEXT: ada] gamma")
	r.checkAttached(projection.AttachResumed, "")
	r.checkPrompt("gamma", "cy (The new one), agent", "-alpha")
	if err := r.Say(context.Background(), "", "[NEXT: bob] delta"); !errors.Is(err, coordinator.ErrNotDelivered) {
		t.Errorf("to the removed member: %v", err)
	}
	var started []string
	for _, p := range payloads[projection.TurnStarted](t, r.recorder.appended) {
		started = append(started, p.MemberID+" "+p.Model)
	}
	if want := []string{"ada opus", "cy m2", "ada opus"}; !slices.Equal(started, want) {
		t.Errorf("turns of %q, want %q", started, want)
	}
}

func TestChangesOfMembersSurvive(t *testing.T) {
	want := []string{"ada opus allow", "cy m2 "}
	t.Run("a resume", func(t *testing.T) {
		s, v := files(t), newVendor()
		id := changed(t, s, v).stop()
		r := remember(t, s, v, id, settings)
		r.checkInForce(want...)
		if n := r.recorder.count("notice ChangesInForce"); n != 1 {
			t.Errorf("%d notices: %q", n, r.recorder.lines)
		}
		if len(r.recorder.missing) > 0 {
			t.Errorf("missing are %v", r.recorder.missing)
		}
		r.say("beta")
		if p := payloads[projection.SessionResumed](t, r.recorder.appended); len(p) != 1 || len(p[0].Changed) > 0 {
			t.Errorf("resumed as %+v", p)
		}
		r.must(r.AddMember("", team.Member{ID: "bob"}), r.RemoveMember("cy"), r.SetPermissions("ada", ""))
		r.checkInForce("ada opus ", "bob m1 ask")
		id = r.stop()
		r = remember(t, s, v, id, settings)
		r.checkInForce("ada opus ", "bob m1 ask")
	})
	t.Run("the end of the process", func(t *testing.T) {
		dir, copied := t.TempDir(), t.TempDir()
		r := changed(t, store.NewFiles(catalog.New(dir, journal.Options{})), newVendor())
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		again := store.NewFiles(catalog.New(copied, journal.Options{}))
		remember(t, again, newVendor(), r.Session().ID, settings).checkInForce(want...)
	})
	t.Run("a merge", func(t *testing.T) {
		c := catalog.New(t.TempDir(), journal.Options{})
		s := store.NewFiles(c)
		id := changed(t, s, newVendor()).stop()
		fork, err := sessioncopy.Fork(t.Context(), c.Team("ensemble"), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		r := remember(t, s, newVendor(), fork, settings)
		r.must(r.SetModel("ada", "haiku"), r.SetPermissions("cy", agent.Edit))
		r.say("delta")
		r.stop()
		merged, err := sessioncopy.Merge(t.Context(), c.Team("ensemble"), id, fork)
		if err != nil {
			t.Fatal(err)
		}
		remember(t, s, newVendor(), merged.ID, settings).checkInForce("ada haiku allow", "cy m2 edit")
	})
	t.Run("a fork, up to the cut", func(t *testing.T) {
		c := catalog.New(t.TempDir(), journal.Options{})
		s := store.NewFiles(c)
		id := changed(t, s, newVendor()).stop()
		for upTo, want := range map[uint64][]string{
			0: want, 7: {"ada opus ask", "bob m1 ask"}, 8: {"ada opus allow", "bob m1 ask"},
		} {
			fork, err := sessioncopy.Fork(t.Context(), c.Team("ensemble"), id, upTo)
			if err != nil {
				t.Fatal(err)
			}
			remember(t, s, newVendor(), fork, settings).checkInForce(want...)
		}
	})
}

// What a session from elsewhere says of its members does not let agents do more than the configuration.
func TestChangesFromElsewhereOnlyRestrict(t *testing.T) {
	s, v := files(t), newVendor()
	r := changed(t, s, v)
	r.must(r.AddMember("", team.Member{ID: "bob"}), r.SetPermissions("bob", agent.Deny), r.SetModel("bob", "m3"))
	id := r.stop()
	elsewhere := func(o *coordinator.Options, _ *team.Team) { o.HomeKey = homeKey("another home") }
	r = remember(t, s, v, id, settings, elsewhere)
	r.checkInForce("ada opus ask", "bob m3 deny")
	if n := r.recorder.count("notice ChangeIgnored"); n != 2 {
		t.Errorf("%d changes were ignored: %q", n, r.recorder.lines)
	}
	r.must(r.SetPermissions("ada", agent.Allow), r.AddMember("own", newcomer("cy"))) // as the person there says again
	id = r.stop()
	want := []string{"ada opus allow", "bob m3 deny", "cy m2 "}
	for _, home := range []func(*coordinator.Options, *team.Team){settings, elsewhere} { // both homes have said so
		r = remember(t, s, v, id, settings, home)
		r.checkInForce(want...)
		r.must(r.Stop(""))
	}
}

func TestConfigurationWasChangedSince(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*coordinator.Options, *team.Team)
		want    []string
		ignored int
	}{
		"a model": {func(_ *coordinator.Options, t *team.Team) { t.Members[0].Model = "new" },
			[]string{"ada opus allow", "cy m2 "}, 0},
		"a member is gone": {func(_ *coordinator.Options, t *team.Team) { without(t, "ada") },
			[]string{"cy m2 "}, 1},
		"a member has the name now": {func(_ *coordinator.Options, t *team.Team) {
			t.Members = append(t.Members, team.Member{ID: "Cy", Name: "Cy", Type: team.AI, Engine: "claude"})
		}, []string{"ada opus allow", "Cy  "}, 1},
		"the engine is one whose models name providers": {func(o *coordinator.Options, t *team.Team) {
			t.Members[0].Engine, o.HomeKey = "acp", homeKey("another home")
		}, []string{"ada  ask"}, 3},
		"the engine": {func(_ *coordinator.Options, t *team.Team) { t.Members[0].Engine = "demo" },
			[]string{"ada  ask", "cy m2 "}, 2},
		"the agent is not registered": {func(o *coordinator.Options, _ *team.Team) {
			o.NewMember = func(string, string) (team.Member, error) { return team.Member{}, errors.New("no such agent") }
		}, []string{"ada opus allow"}, 1},
		"no other agent is left": {func(o *coordinator.Options, t *team.Team) { without(t, "ada"); o.NewMember = nil },
			[]string{"bob m1 ask"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := files(t)
			id := changed(t, s, newVendor()).stop()
			r := remember(t, s, newVendor(), id, settings, tt.change)
			r.checkInForce(tt.want...)
			if n := r.recorder.count("notice ChangeIgnored"); n != tt.ignored {
				t.Errorf("%d changes were ignored, want %d: %q", n, tt.ignored, r.recorder.lines)
			}
		})
	}
}

func TestWhatTheCallerChoosesPrecedes(t *testing.T) {
	s := files(t)
	id := changed(t, s, newVendor()).stop()
	r := remember(t, s, newVendor(), "", settings)
	chosen := coordinator.Chosen{
		Models: map[string]string{"ada": "haiku"}, Permissions: map[string]string{"ada": agent.Deny},
	}
	err := r.SetTeam(t.Context(), r.Team(), coordinator.SetTeamOptions{ResumeSessionID: id, Chosen: chosen})
	if err != nil {
		t.Fatal(err)
	}
	r.checkInForce("ada haiku deny", "cy m2 ")
	r.must(r.SetModel("ada", "sonnet"))
	r.checkInForce("ada sonnet deny", "cy m2 ")
	if chosen.Models["ada"] != "haiku" || len(r.Chosen().Models) > 0 {
		t.Errorf("chosen are %v and %v", chosen, r.Chosen())
	}
	id = r.stop()
	remember(t, s, newVendor(), id, settings).checkInForce("ada sonnet allow", "cy m2 ")
}

func TestOtherSessionAdoptsChanges(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	s := store.NewFiles(c)
	id := changed(t, s, newVendor()).stop()
	state, _, err := c.Team("ensemble").Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r := remember(t, s, newVendor(), "", settings)
	r.must(r.Adopt(state.Changes))
	r.checkInForce("ada opus allow", "cy m2 ")
	id = r.stop()
	remember(t, s, newVendor(), id, settings).checkInForce("ada opus allow", "cy m2 ")
}

func TestRefusedChangesOfMembers(t *testing.T) {
	r := remember(t, &store.Memory{}, newVendor(), "", settings)
	r.must(r.RemoveMember("bob"))
	for name, err := range map[string]error{
		"model of nobody":         r.SetModel("zoe", "m"),
		"model of a human":        r.SetModel("you", "m"),
		"model that is an option": r.SetModel("ada", "--dangerous"),
		"model with a newline":    r.SetModel("ada", "a\nb"),
		"model with an escape":    r.SetModel("ada", "a\x1b[2J"),
		"model with bidi":         r.SetModel("ada", "a\u202eb"),
		"long model":              r.SetModel("ada", strings.Repeat("m", 201)),
		"secret":                  r.SetModel("ada", "sk-ant-api03-"+strings.Repeat("aB3dE6gH", 11)+"-aB3dE6AA"),
		"unknown permissions":     r.SetPermissions("ada", "everything"),
		"the only agent":          r.RemoveMember("ada"),
		"a human":                 r.RemoveMember("you"),
		"taken":                   r.AddMember("own", newcomer("A-D-A")),
		"not configured":          r.AddMember("", team.Member{ID: "zoe"}),
	} {
		if err == nil {
			t.Errorf("%s: it was not refused", name)
		}
	}
	r.checkInForce("ada  ask")
	if n := len(payloads[projection.MemberChanged](t, r.recorder.appended)); n != 1 {
		t.Errorf("%d changes were recorded", n)
	}
}

// A person may be next while others wait in the queue.
func TestRemovedMemberLeavesTheQueue(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "", settings)
	v.script = append(v.script, says("[NEXT: you, bob, ada] well"))
	r.say("[NEXT: ada] alpha")
	if got := r.Queue(); !slices.Equal(got, []string{"bob", "ada"}) {
		t.Fatalf("queued are %v", got)
	}
	r.must(r.SetModel("ada", "opus"), r.RemoveMember("bob"))
	if got := r.Queue(); !slices.Equal(got, []string{"ada"}) {
		t.Errorf("queued are %v", got)
	}
	if n := r.recorder.count("notice QueueCleared [Bob]"); n != 1 {
		t.Errorf("%q", r.recorder.lines)
	}
	all := payloads[projection.QueueChanged](t, r.recorder.appended)
	if last := all[len(all)-1]; last.Changes[0].MemberID != "bob" || last.Changes[0].Action != projection.QueueDropped {
		t.Errorf("recorded as %+v", last)
	}
	r.say("beta")
	started := payloads[projection.TurnStarted](t, r.recorder.appended)
	if last := started[len(started)-1]; last.MemberID != "ada" || last.Model != "opus" {
		t.Errorf("the queued turn is %+v", last)
	}
}

// A program that waits runs with the earlier settings, and may remember what was allowed.
func TestWaitingProgramOfAChangedMemberEnds(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "", settings)
	r.say("[NEXT: ada] alpha", "[NEXT: bob] beta")
	if n := v.living(); n != 2 {
		t.Fatalf("%d programs wait", n)
	}
	r.must(r.SetPermissions("ada", agent.ReadOnly))
	if n := v.living(); n != 1 {
		t.Errorf("%d programs wait after the change", n)
	}
	r.say("[NEXT: ada] gamma")
	r.checkAttached(projection.AttachResumed, "")
	r.must(r.RemoveMember("bob"))
	if n := v.living(); n != 1 {
		t.Errorf("%d programs wait after the removal", n)
	}
}

// A home that cannot be written has no key: what is changed holds until the end of the conversation.
func TestChangesWithoutAKeyOfTheHome(t *testing.T) {
	s := files(t)
	without := func(o *coordinator.Options, _ *team.Team) { o.HomeKey = func() []byte { return nil } }
	r := remember(t, s, newVendor(), "", settings, without)
	r.must(r.SetPermissions("ada", agent.Allow), r.AddMember("own", newcomer("cy")))
	r.checkInForce("ada  allow", "bob m1 ask", "cy  ")
	r.must(r.SetModel("bob", "m2"))
	r.checkInForce("ada  allow", "bob m2 ask", "cy  ")
	id := r.stop()
	remember(t, s, newVendor(), id, settings, without).checkInForce("ada  ask", "bob m2 ask")
}
