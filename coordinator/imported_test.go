package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// importSession writes a session that was imported from the vendor's program in a home. The vendor has it, with a turn
// that came later. The function changes what is written.
func importSession(
	t *testing.T, s store.Store, v *vendor, change func([]projection.Payload) []projection.Payload,
) (id string, original *vendorSession) {
	t.Helper()
	v.created = 40 // its ids are none that the coordinator sees later
	original = v.add([]vendorTurn{
		{"an oak", "acorn-and-leaf-4711", "point-a"}, {"later", "no", "point-b"},
	})
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	vendors := projection.Speaker{ID: "scripted", Name: "scripted", DisplayName: "Vendor", Type: projection.TypeAI}
	said := []projection.Payload{
		projection.NewMessage("m1", noon, you, "an oak", nil), projection.NewMessage("m2", noon, vendors, "acorn-and-leaf-4711", nil),
	}
	state := projection.State{}
	for _, p := range said {
		e, _, err := journal.Position{}.Next(projection.Record(noon, p))
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(e)
	}
	origin := projection.ImportOrigin{AgentSession: original.id, Point: "point-a", Sum: state.History}
	origin.Host = coordinator.OriginHost(homeKey("a home")(), "scripted", origin)
	all := append(said, projection.SessionImported{Source: "scripted", Path: "/x", Taken: 2, Origin: &origin})
	if change != nil {
		all = change(all)
	}
	return writeSession(t, s, all...), original
}

func TestImportedSessionIsContinued(t *testing.T) {
	s, v := files(t), newVendor()
	id, original := importSession(t, s, v, nil)
	r := remember(t, s, v, id)
	r.say("a pine")
	r.checkAttached(projection.AttachImported, "")
	r.checkPrompt("You are Ada", "-an oak", "-acorn-and-leaf-4711", "-left out", "Message from You:\na pine")
	got := v.sessions[r.attached().AgentSession].text()
	if !strings.HasPrefix(got, "an oak\nacorn-and-leaf-4711\n") || strings.Contains(got, "later") || len(original.turns) != 2 ||
		r.attached().Point != "point-a" {
		t.Errorf("the agent has seen:\n%s", got)
	}
	if n := r.recorder.count("notice WindowCut"); n != 0 {
		t.Errorf("notified of %q", r.recorder.lines)
	}
	r.say("[NEXT: bob] a larch") // the session is of one member
	r.checkAttached(projection.AttachNew, projection.ReasonFirst)
	r.checkPrompt("an oak", "acorn-and-leaf-4711", "a pine")
	r.say("[NEXT: ada] an elm")
	r.checkAttached(projection.AttachContinued, "")
	r.checkPrompt("-You are Ada", "a larch", "-a pine")
	r.stop()
	r = remember(t, s, v, id)
	r.say("[NEXT: ada] a fir")
	r.checkAttached(projection.AttachResumed, "")
}

func TestImportedSessionIsNotContinued(t *testing.T) {
	type payloads = []projection.Payload
	origin := func(change func(*projection.ImportOrigin)) func(payloads) payloads {
		return func(all payloads) payloads {
			imported := all[2].(projection.SessionImported)
			change(imported.Origin)
			return all
		}
	}
	for name, test := range map[string]struct {
		change  func(payloads) payloads
		vendor  func(*vendor)
		options func(*coordinator.Options, *team.Team)
		reason  string
	}{
		"another home": {options: func(o *coordinator.Options, _ *team.Team) { o.HomeKey = homeKey("another") }},
		"another session": {change: func(all payloads) payloads {
			all[0], all[1] = all[1], all[0]
			return all
		}},
		"another agent": {change: func(all payloads) payloads {
			imported := all[2].(projection.SessionImported)
			imported.Source = "another"
			imported.Origin.Host = coordinator.OriginHost(homeKey("a home")(), "another", *imported.Origin)
			return append(all[:2], imported)
		}},
		"forged point": {change: origin(func(o *projection.ImportOrigin) { o.Point = "point-b" })},
		"long":         {change: origin(func(o *projection.ImportOrigin) { o.Host = strings.Repeat("x", 1<<20) })},
		"a message before the import": {change: func(all payloads) payloads {
			return slices.Insert(all, 0, payloads{projection.NewMessage("m0", noon,
				projection.Speaker{ID: "you", Name: "you", Type: projection.TypeHuman}, "first", nil)}...)
		}},
		"a secret": {options: func(_ *coordinator.Options, t *team.Team) {
			t.Members[1].Env = map[string]string{"API_TOKEN": "acorn-and-leaf-4711"}
		}},
		"gone":        {vendor: (*vendor).forget, reason: projection.ReasonGone},
		"busy":        {vendor: func(v *vendor) { v.refusals = []error{agent.ErrBusy} }, reason: projection.ReasonBusy},
		"unsupported": {vendor: func(v *vendor) { v.resident = true }, reason: projection.ReasonUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			s, v := files(t), newVendor()
			id, _ := importSession(t, s, v, test.change)
			if test.vendor != nil {
				test.vendor(v)
			}
			options := test.options
			if options == nil {
				options = func(*coordinator.Options, *team.Team) {}
			}
			r := remember(t, s, v, id, options)
			r.say("a pine", "a larch")
			all := payloadsOfAttached(r)
			reason := test.reason
			notices := 1
			if reason == "" {
				reason, notices = projection.ReasonFirst, 0
			}
			if len(all) != 2 || all[0].Way != projection.AttachNew || all[0].Reason != reason ||
				all[1].Way != projection.AttachContinued || r.recorder.count("notice WindowCut") != notices {
				t.Errorf("attached %+v, notices %q", all, r.recorder.lines)
			}
			if !strings.Contains(v.prompts[0], "an oak") && name != "a secret" {
				t.Errorf("the first prompt is\n%s", v.prompts[0])
			}
		})
	}
}

func payloadsOfAttached(r *remembering) []projection.AgentAttached {
	return payloads[projection.AgentAttached](r.t, r.recorder.appended)
}

// What was in a first prompt that may not have arrived is sent again.
func TestImportedSessionIsRepeated(t *testing.T) {
	s, v := files(t), newVendor()
	id, _ := importSession(t, s, v, nil)
	v.script = []turnFunc{yields(errors.New("it failed")), yields(errors.New("it failed"))}
	r := remember(t, s, v, id)
	for range 2 {
		turnError(t, r.Say(context.Background(), "you", "a pine"), "ada", projection.Failed)
		r.stop()
		r = remember(t, s, v, id)
	}
	r.say("a larch")
	r.checkAttached(projection.AttachImported, "")
	r.checkPrompt(textStopped, "You are Ada", "a pine", "Message from You:\na larch", "-an oak")
	r.say("a fir")
	r.checkAttached(projection.AttachContinued, "")
	r.checkPrompt("-You are Ada", "-a larch")
}

// A copy of the session continues it, too.
func TestCopyOfImportedSessionContinuesIt(t *testing.T) {
	root := t.TempDir()
	d, v := store.NewFiles(catalog.New(root, journal.Options{})), newVendor()
	id, _ := importSession(t, d, v, nil)
	const seqOfImport = 4
	dir := catalog.New(root, journal.Options{}).Team("ensemble")
	forked, err := sessioncopy.Fork(context.Background(), dir, id, seqOfImport)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{id, forked} {
		r := remember(t, d, v, id)
		r.say("a pine")
		r.checkAttached(projection.AttachImported, "")
		r.stop()
	}
}
