package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// steers is a turn during which texts are sent to its agent. It notes what Steer returns.
func (r *remembering) steers(results *[]bool, next turnFunc, texts ...string) turnFunc {
	return calls(func() {
		for _, text := range texts {
			*results = append(*results, r.Steer("", text))
		}
	}, next)
}

func TestMessageGoesIntoTheTurn(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		s, v := files(t), newVendor()
		r := remember(t, s, v, "")
		var taken []bool
		v.script = []turnFunc{r.steers(&taken, says("done"), "not so fast", "@ada use sk-ant-api03-0123456789abcdefghijABCDEFGHIJ0123456789")}
		r.say("alpha")
		if fmt.Sprint(taken) != "[true true]" || len(v.prompts) != 1 {
			t.Fatalf("taken: %v, prompts: %q", taken, v.prompts)
		}
		seen := v.sessions["session-1"].text()
		if !strings.Contains(seen, "Message from You:\nnot so fast\n") || strings.Contains(seen, "sk-ant") {
			t.Errorf("Ada has seen:\n%s", seen)
		}
		if n := len(payloads[projection.TurnSteered](t, r.recorder.appended)); n != 2 {
			t.Errorf("%d messages were taken", n)
		}
		if resumed {
			r = remember(t, s, v, r.stop())
		}
		r.say("[NEXT: bob] beta")
		r.checkPrompt("not so fast", "done")
		r.say("[NEXT: ada] gamma")
		r.checkPrompt("-not so fast", "-done", "beta", "gamma")
	}
}

// What an agent has not taken in its turn it gets in the next one, which begins at once.
func TestMessageThatIsNotTakenHasATurn(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "")
	var taken []bool
	v.deaf = true
	v.script = []turnFunc{r.steers(&taken, says("done [NEXT: you]"), "not so fast")}
	r.say("alpha")
	if len(v.prompts) != 2 || fmt.Sprint(taken) != "[true]" {
		t.Fatalf("prompts: %q, taken: %v", v.prompts, taken)
	}
	r.checkPrompt("Message from You:\nnot so fast", "-alpha", "-done")
}

func TestMessageOfAStoppedTurnIsRepeated(t *testing.T) {
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var taken []bool
	v.script = []turnFunc{says("ok"), r.steers(&taken, cancels(cancel, "half"), "not so fast")}
	r.say("alpha")
	_ = r.Say(ctx, "you", "beta") // the turn is cancelled
	r.say("gamma")
	r.checkPrompt(textStopped, "-alpha", "beta", "not so fast", "gamma")
}

func TestMessageWaits(t *testing.T) {
	window := func(_ *coordinator.Options, tm *team.Team) {
		for i := range tm.Members {
			tm.Members[i].Memory = team.MemoryWindow
		}
	}
	none := func(*coordinator.Options, *team.Team) {}
	for text, change := range map[string]func(*coordinator.Options, *team.Team){
		"@bob look": none, "look [NEXT: bob]": none, "look [NEXT: ada, bob]": none, "look [DROP: bob]": none,
		"[TEAM_TASK: plant] look": none, "@nobody look": none, " ": none, "[FROM: you] look": none, "look": window,
	} {
		v := newVendor()
		r := remember(t, &store.Memory{}, v, "", change)
		var taken []bool
		v.script = []turnFunc{r.steers(&taken, says("done"), text)}
		r.say("alpha")
		messages := payloads[projection.MessageAppended](t, r.recorder.appended)
		if fmt.Sprint(taken) != "[false]" || len(messages) != 2 {
			t.Errorf("%q: taken: %v, %d messages", text, taken, len(messages))
		}
		if r.Steer("", "late") {
			t.Errorf("%q: a message was taken without a turn", text)
		}
	}
}

var _ agent.Steerable = (*vendorProcess)(nil)
