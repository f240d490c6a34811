package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestIncludesRestoredContextInAIPrompt(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		s := resume(t, store, id)
		s.say("and then?")
		prompt := s.cast.prompt()
		for _, want := range []string{"You: hello there", "Ada: hi from ada", "Message from You:\nand then?"} {
			if !strings.Contains(prompt, want) {
				t.Errorf("the prompt has no %q:\n%s", want, prompt)
			}
		}
	})
}

func TestThePromptIsTheSameWithAndWithoutARestart(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		talk := func(s *scene) {
			s.say("first [TEAM_TASK: a boat]", "second\n\n    indented \x00 \xff [NEXT: bob, ada]")
		}
		plays := []play{says("one [NEXT: bob]"), says("two"), says("three"), says("four")}
		whole := start(t, store, plays...)
		talk(whole)
		whole.say("last [NEXT: bob]")

		cut := start(t, store, plays...)
		talk(cut)
		again := resume(t, store, cut.stop())
		again.say("last [NEXT: bob]")
		if got, want := again.cast.prompt(), whole.cast.prompt(); got != want || got == "" {
			t.Errorf("after the restart the prompt is\n%s\nwithout it\n%s", got, want)
		}
	})
}

func TestTheHistoryOfAVanishedMemberKeepsTheName(t *testing.T) {
	store := &store.Memory{}
	id := oneRound(t, store)
	s := stage(t, store)
	s.with(without(ensemble(), "ada"), id)
	s.say("who was that?")
	prompt := s.cast.prompt()
	if !strings.Contains(prompt, "Ada: hi from ada") || strings.Contains(prompt, "Unknown") {
		t.Errorf("the prompt is\n%s", prompt)
	}
	if strings.Contains(prompt, "- ada") {
		t.Errorf("the roster has who is gone:\n%s", prompt)
	}
}

func TestAnAgentThatRepeatsItsPromptGivesNoMarkers(t *testing.T) {
	repeats := func(_ context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return does(nil, agent.Text{Text: turn.Prompt})(nil, turn)
	}
	s := stage(t, &store.Memory{}, repeats)
	team := without(ensemble(), "eve")
	team.Members[0].AllowTeamTask = true
	s.with(team, "")
	s.say("one")
	tasks := payloads[projection.TaskSet](t, s.diary.appended)
	if asked := s.cast.asked(); len(asked) != 1 || s.diary.count("notice") > 0 || len(tasks) > 0 {
		t.Errorf("asked were %v, tasks are %v: %q", asked, tasks, s.diary.lines)
	}
}

func TestThePromptHasItsSectionsInOrder(t *testing.T) {
	dir := t.TempDir()
	team := ensemble()
	team.InstructionFile = filepath.Join(dir, "team.md")
	team.Members[0].InstructionFile = filepath.Join(dir, "ada.md")
	team.Members[1].InstructionFile = filepath.Join(dir, "missing.md")
	team.Members[0].SystemInstruction = "You plan."
	for name, text := range map[string]string{"team.md": "\nBe kind.\n\n", "ada.md": "Be brief.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := stage(t, &store.Memory{}, says("a1 [NEXT: bob]"), says("b1"))
	s.with(team, "")
	s.say("one [TEAM_TASK: a boat]", "two")
	const roster = `You are Ada (ada) in the team The Ensemble. The others:
- bob (Bob), agent
- you (You), human
- eve (Eve), human
To hand over, write ` + "`[NEXT: name]`, without the backticks," + ` at the end of your reply. Without it, whoever else waits is next, then the human.`
	want := `You plan.

Be kind.

Be brief.

` + roster + `

Task of the team:
a boat

Conversation so far:
You: one [TEAM_TASK: a boat]
Ada -> bob: a1
Bob: b1

Message from You:
two
`
	if got := s.cast.prompt(); got != want {
		t.Errorf("the prompt is\n%s\nwant\n%s", got, want)
	}
	if first := s.cast.turns[0].Prompt; strings.Contains(first, "Conversation so far") {
		t.Errorf("the first prompt has a history:\n%s", first)
	}
	if second := s.cast.turns[1].Prompt; !strings.Contains(second, "- ada (Ada), planner") || strings.Contains(second, "You plan.") {
		t.Errorf("bob's prompt is\n%s", second)
	}
}

func TestThePromptShowsTheNewestTwentyMessages(t *testing.T) {
	s := start(t, &store.Memory{})
	for i := range 15 {
		s.cast.then(says(fmt.Sprintf("answer %02d.", i)))
		s.say(fmt.Sprintf("question %02d.", i))
	}
	s.say("last")
	prompt := s.cast.prompt()
	for i := range 15 {
		for _, text := range []string{fmt.Sprintf("question %02d.", i), fmt.Sprintf("answer %02d.", i)} {
			if shown := strings.Contains(prompt, text); shown != (i >= 5) {
				t.Errorf("%q is shown: %v", text, shown)
			}
		}
	}
}

func TestThePromptShowsAtMost256KiBOfHistory(t *testing.T) {
	s := start(t, &store.Memory{})
	chunk := strings.Repeat("x", 100<<10)
	for i := range 4 {
		s.cast.then(says(fmt.Sprintf("answer %d", i)))
		s.say(fmt.Sprintf("begin%d %s end%d", i, chunk, i))
	}
	s.say("last")
	prompt := s.cast.prompt()
	for i := range 4 {
		whole := strings.Contains(prompt, fmt.Sprintf("begin%d ", i)) && strings.Contains(prompt, fmt.Sprintf(" end%d", i))
		if whole != (i >= 2) {
			t.Errorf("message %d is shown: %v", i, whole)
		}
	}
	if len(prompt) > 260<<10 {
		t.Errorf("the prompt has %d bytes", len(prompt))
	}
}

func TestTheMessageItselfIsNeverCut(t *testing.T) {
	s := start(t, &store.Memory{})
	long := strings.Repeat("0123456789", 100<<10)
	s.say("something before", long)
	prompt := s.cast.prompt()
	if !strings.HasSuffix(prompt, "Message from You:\n"+long+"\n") {
		t.Errorf("the prompt has %d bytes and not the whole message", len(prompt))
	}
	if strings.Contains(prompt, "something before") {
		t.Error("history was shown beside a message that is over the bound")
	}
}

func TestTheWindowIsAsWideAsSomebodyWants(t *testing.T) {
	for _, want := range []int{2, 210, 300} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			s := &scene{t: t, cast: &cast{}, diary: &diary{}}
			o := s.options(&store.Memory{})
			o.Window.Messages = want
			s.Coordinator = coordinator.New(o)
			s.with(ensemble(), "")
			const questions = 110 // and as many answers: more than the state keeps
			for i := range questions {
				s.cast.then(says(fmt.Sprintf("answer %03d.", i)))
				s.say(fmt.Sprintf("question %03d.", i))
			}
			s.say("last")
			prompt := s.cast.prompt()
			if shown := strings.Count(prompt, "question ") + strings.Count(prompt, "answer "); shown != min(want, 2*questions) {
				t.Errorf("%d messages are shown", shown)
			}
		})
	}
}

// narrow is a cast that takes prompts of so many bytes.
type narrow struct {
	*cast
	most int
}

func (n narrow) Excess(_ agent.Member, prompt string) int { return max(0, len(prompt)-n.most) }

func TestAPromptThatAnAgentDoesNotTakeLosesTheOldestMessages(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tt := range []struct {
		name  string
		most  int
		shown []bool // of the messages, the last one of which is answered
		said  string
	}{
		{"room for everything", 10000, []bool{true, true, true}, ""},
		{"room for some", 2000, []bool{false, true, true}, "notice PromptTruncated Ada 1"},
		{"room for none", 1, []bool{false, false, true}, "notice PromptTruncated Ada 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &scene{t: t, cast: &cast{}, diary: &diary{}}
			o := s.options(&store.Memory{})
			s.Coordinator = coordinator.New(o)
			s.with(ensemble(), "")
			s.say("first "+long, "second "+long)
			o.Engines["cast"] = narrow{s.cast, tt.most}
			s.say("third")
			for i, text := range []string{"first ", "second ", "third"} {
				if shown := strings.Contains(s.cast.prompt(), text); shown != tt.shown[i] {
					t.Errorf("%q is shown: %v", text, shown)
				}
			}
			if tt.said != "" && s.diary.count(tt.said) != 1 || s.diary.count("notice PromptTruncated") > 1 {
				t.Errorf("it was said: %q", s.diary.lines)
			}
		})
	}
}

func TestAMessageThatAnAgentDoesNotTakeLosesItsMiddle(t *testing.T) {
	for name, letter := range map[string]string{"of one byte": "x", "of three bytes": "漢"} {
		t.Run(name, func(t *testing.T) {
			s := &scene{t: t, cast: &cast{}, diary: &diary{}}
			o := s.options(&store.Memory{})
			o.Engines["cast"] = narrow{s.cast, 5000}
			s.Coordinator = coordinator.New(o)
			s.with(ensemble(), "")
			long := "from " + strings.Repeat(letter, 10000) + " to"
			s.say(long)
			prompt := s.cast.prompt()
			told := regexp.MustCompile(`Message from You:\nfrom (` + letter + `+)\n\[(\d+) bytes of this message are left out here: it is too long\]\n(` + letter + `+) to\n$`).FindStringSubmatch(prompt)
			if told == nil {
				t.Fatalf("the prompt is\n%s", prompt)
			}
			if len(prompt) > 5000 || len(prompt) < 4500 {
				t.Errorf("the prompt has %d bytes", len(prompt))
			}
			if left := len(letter) * (10000 - len([]rune(told[1]+told[3]))); told[2] != fmt.Sprint(left) {
				t.Errorf("it says that %s bytes are left out, and it is %d", told[2], left)
			}
			if s.diary.count("notice MessageTruncated Ada "+told[2]) != 1 {
				t.Errorf("it was said: %q", s.diary.lines)
			}
			if said := s.Session().Recent[0].Content; said != long {
				t.Errorf("the message itself has %d bytes, want %d", len(said), len(long))
			}
		})
	}
}

func TestThePromptSaysHowManyMessagesAreLeftOut(t *testing.T) {
	s := &scene{t: t, cast: &cast{}, diary: &diary{}}
	o := s.options(&store.Memory{})
	o.Window.Messages = 1
	s.Coordinator = coordinator.New(o)
	s.with(ensemble(), "")
	for i, want := range []string{"", "Conversation so far (1 older messages are left out):\nAda: ok\n", "Conversation so far (3 older messages are left out):\n"} {
		s.say("hello")
		if prompt := s.cast.prompt(); !strings.Contains(prompt, want) || strings.Contains(prompt, "Conversation") != (want != "") {
			t.Errorf("prompt %d is\n%s\nwant in it %q", i, prompt, want)
		}
	}
	o.Engines["cast"] = narrow{s.cast, 1}
	s.say("hello")
	if prompt := s.cast.prompt(); !strings.Contains(prompt, "\n\nConversation so far (6 older messages are left out)\n\nMessage from You:\n") {
		t.Errorf("the prompt without a window is\n%s", prompt)
	}
}

// What an agent answered is shown to the next one when it is not in the window
// any more; a restart and another try change nothing of it.
func TestThePromptShowsWhatTheMessageIsAReplyTo(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		const section = "Message from You, which Ada answered:\nthe question\n\nMessage from Ada:\nlook at this\n"
		for _, tt := range []struct {
			name    string
			bytes   int
			most    int // that the agent takes
			between string
			shown   bool
		}{
			{"it is in the window", 1000, 1000, "short", false},
			{"it has fallen out", 300, 1000, strings.Repeat("x", 280), true},
			{"it does not fit either", 20, 1000, "short", false},
			{"the agent takes it and no window", 1000, 520, strings.Repeat("x", 970), true},
			{"the agent takes neither", 1000, 1, strings.Repeat("x", 970), false},
		} {
			t.Run(tt.name, func(t *testing.T) {
				fails := does(errors.New("broken"))
				open := func(plays ...play) *scene {
					s := &scene{t: t, cast: &cast{plays: plays}, diary: &diary{}}
					o := s.options(store)
					o.Window.Bytes = tt.bytes
					o.Engines["cast"] = narrow{s.cast, tt.most}
					s.Coordinator = coordinator.New(o)
					t.Cleanup(func() { s.Stop("the test is over") })
					return s
				}
				s := open(says("look at this [NEXT: ada!P1, bob]"), says(tt.between), fails)
				s.with(ensemble(), "")
				turnError(t, s.SayAs(context.Background(), "you", "the question [NEXT: ada]"), "bob", projection.Failed)
				first := s.cast.prompt()
				if shown := strings.HasSuffix(first, section); shown != tt.shown {
					t.Errorf("it is shown: %v, in\n%s", shown, first)
				}
				id := s.stop()
				s = open()
				s.with(ensemble(), id)
				if err := s.Retry(context.Background()); err != nil {
					t.Fatal(err)
				}
				if again := s.cast.prompt(); again != first {
					t.Errorf("tried again, the prompt is\n%s\nand was\n%s", again, first)
				}
			})
		}
	})
}
