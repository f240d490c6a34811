package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Secrets that are nobody's: one that a member gets, one that is inherited, one that only its
// shape gives away.
const (
	membersKey = "members key, 0815"
	shellToken = "shell-token-4711"
	shapedKey  = "gh" + "p_" + "Zq3Tf8Lw0Bn5Xc7Vd2Mk9Rj4Hs6Gp1YaUeWo"
	privateKey = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n" + "VJTUt9Us8cKjMzEfYyjiWA4R\n-----END " + "PRIVATE KEY-----"
)

// replaced begins what the diary has of secrets that were replaced.
var replaced = "notice SecretsRedacted "

var everySecret = []string{membersKey, shellToken, shapedKey, "MIIEvQIBADANB", "VJTUt9Us8cKj"}

// keyed is the ensemble, whose first agent gets a key.
func keyed(t *testing.T) *team.Team {
	t.Setenv("DEPLOY_TOKEN", shellToken)
	t.Setenv("KEY_OF_ADA", membersKey)
	team := ensemble()
	team.Members[0].Env = map[string]string{"ADAS_PASSWORD": "$KEY_OF_ADA"}
	return team
}

// checkNowhere greps everything below a directory.
func checkNowhere(t *testing.T, dir string, secrets ...string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		for _, secret := range secrets {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s has the secret %.12q", filepath.Base(path), secret)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// pieces is a text as an agent streams it, a byte at a time.
func pieces(text string) (events []agent.Event) {
	for _, b := range []byte(text) {
		events = append(events, agent.Text{Text: string([]byte{b})})
	}
	return events
}

func TestNoSecretReachesTheDisk(t *testing.T) {
	all := strings.Join([]string{"a", membersKey, shellToken, shapedKey, privateKey, "z"}, " ")
	long := strings.Repeat("x ", 32<<10)[:64<<10-20] + all + strings.Repeat(" y", 64<<10)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, tt := range []struct {
		where string
		do    func(s *scene)
	}{
		{"what a human says", func(s *scene) { s.say(all) }},
		{"what is no text", func(s *scene) { s.say("\xff" + all + "\xff") }},
		{"the task", func(s *scene) { s.say("[TEAM_TASK: use " + shapedKey + "] begin"); s.SetTask(all) }},
		{"a title", func(s *scene) { s.say("hello"); s.Rename(all) }},
		{"a name that is none", func(s *scene) { s.say("hello [NEXT: " + shellToken + ", ada]") }},
		{"a reply", func(s *scene) { s.cast.then(says(all)); s.say("hello") }},
		{"a reply in pieces", func(s *scene) { s.cast.then(does(nil, pieces(all)...)); s.say("hello") }},
		{
			"a reply that is no text",
			func(s *scene) { s.cast.then(does(nil, pieces("\xff"+all+"\xff")...)); s.say("hello") },
		},
		{"an unfinished reply", func(s *scene) {
			s.cast.then(does(errors.New("it broke"), pieces(all+" "+membersKey[:12])...))
			s.SayAs(ctx, "you", "hello")
		}},
		{"a failure", func(s *scene) {
			s.cast.then(does(errors.New("401: no such key: " + all)))
			s.SayAs(ctx, "you", "hello")
		}},
		{"a tool", func(s *scene) {
			s.cast.then(does(nil,
				agent.ToolStarted{ID: "1", Name: "shell", Input: []byte(`{"command": "curl -H 'x: ` + shapedKey + `'", "env": ["` + membersKey + `", "` + strings.ReplaceAll(privateKey, "\n", `\n`) + `"]}`)},
				agent.ToolCompleted{ID: "1", Name: "shell", Output: all, Error: all},
				agent.ToolCompleted{ID: "2", Name: "shell", Output: long},
				agent.Text{Text: "done"}))
			s.say("hello")
		}},
		{"what an agent calls its tools and its session", func(s *scene) {
			s.cast.then(does(nil,
				agent.Session{ID: "session-" + membersKey},
				agent.ToolStarted{ID: "1-" + membersKey, Name: "curl " + membersKey},
				agent.ToolCompleted{ID: "1-" + membersKey, Name: "curl " + membersKey},
				agent.Text{Text: "done"}))
			s.say("hello")
		}},
		{"a cancelled turn", func(s *scene) { s.cast.then(isCancelled(cancel, all)); s.SayAs(ctx, "you", "hello") }},
	} {
		t.Run(tt.where, func(t *testing.T) {
			d := onDisk(t, 0)
			s := stage(t, d)
			s.with(keyed(t), "")
			tt.do(s)
			id := s.stop()
			if checkNowhere(t, d.root, append(everySecret, membersKey[:12])...) == 0 {
				t.Error("nothing was written")
			}
			journal := d.content()[d.path(id)]
			if !strings.Contains(journal, "[REDACTED:") || !strings.Contains(strings.Join(s.diary.lines, "\n"), replaced) {
				t.Errorf("nothing was replaced, or said: %s", strings.Join(s.diary.lines, "\n"))
			}
		})
	}
}

// What was replaced is the same in memory, in prompts and on the disk, and after a restart.
func TestMemoryPromptAndDiskAgreeAboutASecret(t *testing.T) {
	d := onDisk(t, 0)
	s := stage(t, d, does(nil, pieces("I take "+membersKey+" [NEXT: bob]")...))
	s.with(keyed(t), "")
	s.say("take " + shapedKey + " and " + shellToken)
	const said, reply = "take [REDACTED:github-token] and [REDACTED:DEPLOY_TOKEN]", "I take [REDACTED:ADAS_PASSWORD]"
	if got := s.cast.turns[0].Said.Text; got != said {
		t.Errorf("the agent was asked %q", got)
	}
	first := s.cast.prompt()
	for _, want := range []string{said, reply} {
		if !strings.Contains(first, want) {
			t.Errorf("the prompt has no %q:\n%s", want, first)
		}
	}
	id := s.stop()
	d.checkMessages(id, "you: "+said, "ada: "+reply, "bob: ok")
	again := stage(t, d)
	again.with(keyed(t), id)
	again.say("go on")
	if got := again.cast.prompt(); !strings.Contains(got, "You: "+said) || !strings.Contains(got, reply) {
		t.Errorf("after the restart the prompt is\n%s", got)
	}
}

func TestASecretThatTakingMarkersOutPutsTogetherIsToldToNobody(t *testing.T) {
	const apart, said = "take members [NEXT: ada]key, 0815 and go", "take [REDACTED:ADAS_PASSWORD] and go"
	d := onDisk(t, 0)
	s := stage(t, d, says(strings.ReplaceAll(apart, "ada", "bob")))
	s.with(keyed(t), "")
	s.say(apart)
	for i, turn := range s.cast.turns {
		if turn.Said.Text != said {
			t.Errorf("in turn %d the agent was asked %q", i, turn.Said.Text)
		}
	}
	d.checkMessages(s.stop(), "you: "+said, "ada: "+said, "bob: ok")
}

func TestHowManySecretsWereReplacedIsSaid(t *testing.T) {
	s := stage(t, &store.Memory{}, says(membersKey+" and "+membersKey))
	s.with(keyed(t), "")
	s.say("my key is " + shapedKey)
	s.say("no secret")
	var notices []string
	for _, line := range s.diary.lines {
		if strings.HasPrefix(line, replaced) {
			notices = append(notices, line)
		}
	}
	checkEqual(t, "the notices", notices, []string{replaced + "[github-token] 1", replaced + "[ADAS_PASSWORD] 2"})
}

func TestSecretsAreKeptWhenSomebodyWantsThem(t *testing.T) {
	s := stage(t, &store.Memory{}, says(membersKey))
	o := s.options(&store.Memory{})
	o.KeepSecrets = true
	s.Coordinator = coordinator.New(o)
	s.with(keyed(t), "")
	s.say("my key is " + shapedKey)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "what was said", []string{snapshot.Context.Messages[0].Content, snapshot.Context.Messages[1].Content}, []string{"my key is " + shapedKey, membersKey})
}

func TestAnOutputThatIsCutIsNotCutWithinASecret(t *testing.T) {
	for cut := range 3 * len(shapedKey) {
		before := strings.Repeat("x", 64<<10-cut-1) + " "
		s := stage(t, &store.Memory{}, does(nil, agent.ToolCompleted{ID: "1", Output: before + shapedKey + strings.Repeat(" ", 128<<10)}, agent.Text{Text: "ok"}))
		s.with(ensemble(), "")
		s.say("go")
		done := payloads[projection.ToolCompleted](t, s.diary.appended)[0]
		if strings.Contains(done.Output, shapedKey[:8]) || done.OutputBytes == 0 || len(done.Output) > 64<<10 {
			t.Fatalf("%d bytes before the cut: %q of %d", cut, done.Output[len(before):], done.OutputBytes)
		}
	}
}

// What names the parts of a session is found again, whatever a password may be.
func TestAPasswordThatIsANameBreaksNothing(t *testing.T) {
	d := onDisk(t, 0)
	team := ensemble()
	team.Members[0].Env = map[string]string{"PASSWORD": "ensemble"}
	team.Members[1].Env = map[string]string{"PASSWORD": "test", "KEY": "somewhere"}
	s := stage(t, d)
	s.with(team, "")
	s.say("hello")
	id := s.stop()
	again := stage(t, d)
	again.with(team, id)
	again.say("hello again [NEXT: bob]")
	again.checkAsked("bob")
	if got := again.Session(); got.TeamID != "ensemble" || got.Stats.Messages != 4 {
		t.Errorf("%+v", got)
	}
}

func TestAnAgentGetsTheKeyThatItsMemberRefersTo(t *testing.T) {
	s := start(t, &store.Memory{})
	s.with(keyed(t), "")
	s.say("hello")
	if got := s.cast.turns[0].Member.Env["ADAS_PASSWORD"]; got != membersKey {
		t.Errorf("it got %q", got)
	}
}

func TestAPersonIsAskedWithoutSecrets(t *testing.T) {
	asks := func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		turn.Permit(ctx, agent.Permission{Tool: "curl " + membersKey, Title: "curl " + membersKey, Input: []byte(`{"key": "` + membersKey + `"}`)})
		return says("ok")(ctx, turn)
	}
	s := stage(t, &store.Memory{}, asks)
	var asked agent.Permission
	s.diary.answer = func(_ context.Context, q coordinator.Question) coordinator.Answer {
		asked = q.Permission
		return coordinator.Refused
	}
	s.with(keyed(t), "")
	s.say("hello")
	if shown := fmt.Sprintf("%s %s %s", asked.Tool, asked.Title, asked.Input); asked.Title == "" || strings.Contains(shown, membersKey) {
		t.Errorf("asked is %q", shown)
	}
}
