package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Invented secrets: of a member, inherited, and recognizable by their format.
const (
	membersKey = "members key, 0815"
	shellToken = "shell-token-4711"
	shapedKey  = "gh" + "p_" + "Zq3Tf8Lw0Bn5Xc7Vd2Mk9Rj4Hs6Gp1YaUeWo"
	privateKey = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n" +
		"VJTUt9Us8cKjMzEfYyjiWA4R\n-----END " + "PRIVATE KEY-----"
)

// replaced is the prefix of the notices of replaced secrets.
var replaced = "notice SecretsRedacted "

var everySecret = []string{membersKey, shellToken, shapedKey, "MIIEvQIBADANB", "VJTUt9Us8cKj"}

// keyed returns the test team with a key for its first agent.
func keyed(t *testing.T) *team.Team {
	t.Setenv("DEPLOY_TOKEN", shellToken)
	t.Setenv("KEY_OF_ADA", membersKey)
	team := testTeam()
	team.Members[0].Env = map[string]string{"ADAS_PASSWORD": "$KEY_OF_ADA"}
	return team
}

// checkNowhere checks that no file below a directory contains a secret.
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

// pieces returns the events of a text that is streamed byte by byte.
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
		do    func(s *fixture)
	}{
		{"a message", func(s *fixture) { s.say(all) }},
		{"invalid UTF-8", func(s *fixture) { s.say("\xff" + all + "\xff") }},
		{"the task", func(s *fixture) { s.say("[TEAM_TASK: use " + shapedKey + "] begin"); s.SetTask(all) }},
		{"a title", func(s *fixture) { s.say("hello"); s.Rename(all) }},
		{"an unknown name", func(s *fixture) { s.say("hello [NEXT: ada, " + shellToken + "]") }},
		{"a reply", func(s *fixture) { s.engine.then(says(all)); s.say("hello") }},
		{"a reply in pieces", func(s *fixture) { s.engine.then(yields(nil, pieces(all)...)); s.say("hello") }},
		{
			"a reply that is no text",
			func(s *fixture) { s.engine.then(yields(nil, pieces("\xff"+all+"\xff")...)); s.say("hello") },
		},
		{"an unfinished reply", func(s *fixture) {
			s.engine.then(yields(errors.New("it broke"), pieces(all+" "+membersKey[:12])...))
			s.Say(ctx, "you", "hello")
		}},
		{"a failure", func(s *fixture) {
			s.engine.then(yields(errors.New("401: no such key: " + all)))
			s.Say(ctx, "you", "hello")
		}},
		{"a tool", func(s *fixture) {
			s.engine.then(yields(nil,
				agent.ToolStarted{ID: "1", Name: "shell",
					Input: []byte(`{"command": "curl -H 'x: ` + shapedKey + `'", "env": ["` + membersKey + `", "` +
						strings.ReplaceAll(privateKey, "\n", `\n`) + `"]}`)},
				agent.ToolCompleted{ID: "1", Name: "shell", Output: all, Error: all},
				agent.ToolCompleted{ID: "2", Name: "shell", Output: long},
				agent.Text{Text: "done"}))
			s.say("hello")
		}},
		{"tool and session IDs of the agent", func(s *fixture) {
			s.engine.then(yields(nil,
				agent.SessionStarted{ID: "session-" + membersKey},
				agent.ToolStarted{ID: "1-" + membersKey, Name: "curl " + membersKey},
				agent.ToolCompleted{ID: "1-" + membersKey, Name: "curl " + membersKey},
				agent.Text{Text: "done"}))
			s.say("hello")
		}},
		{"a cancelled turn", func(s *fixture) { s.engine.then(cancels(cancel, all)); s.Say(ctx, "you", "hello") }},
	} {
		t.Run(tt.where, func(t *testing.T) {
			d := onDisk(t, 0)
			s := newFixture(t, d)
			s.setTeam(keyed(t), "")
			tt.do(s)
			id := s.stop()
			if checkNowhere(t, d.root, append(everySecret, membersKey[:12])...) == 0 {
				t.Error("nothing was written")
			}
			journal := d.content()[d.path(id)]
			if !strings.Contains(journal, "[REDACTED:") ||
				!strings.Contains(strings.Join(s.recorder.lines, "\n"), replaced) {
				t.Errorf("nothing was replaced or notified: %s", strings.Join(s.recorder.lines, "\n"))
			}
		})
	}
}

func TestMemoryPromptAndDiskAgreeOnSecrets(t *testing.T) {
	d := onDisk(t, 0)
	s := newFixture(t, d, yields(nil, pieces("I take "+membersKey+" [NEXT: bob]")...))
	s.setTeam(keyed(t), "")
	s.say("take " + shapedKey + " and " + shellToken)
	const said, reply = "take [REDACTED:github-token] and [REDACTED:DEPLOY_TOKEN]", "I take [REDACTED:ADAS_PASSWORD]"
	if got := s.engine.turns[0].Said.Text; got != said {
		t.Errorf("the message is %q", got)
	}
	first := s.engine.prompt()
	for _, want := range []string{said, reply} {
		if !strings.Contains(first, want) {
			t.Errorf("the prompt has no %q:\n%s", want, first)
		}
	}
	id := s.stop()
	d.checkMessages(id, "you: "+said, "ada: "+reply, "bob: ok")
	again := newFixture(t, d)
	again.setTeam(keyed(t), id)
	again.say("continue")
	if got := again.engine.prompt(); !strings.Contains(got, "You: "+said) || !strings.Contains(got, reply) {
		t.Errorf("after the restart the prompt is\n%s", got)
	}
}

func TestSecretJoinedByMarkerRemovalIsReplaced(t *testing.T) {
	const apart, said = "take members [NEXT: ada]key, 0815 and go", "take [REDACTED:ADAS_PASSWORD] and go"
	d := onDisk(t, 0)
	s := newFixture(t, d, says(strings.ReplaceAll(apart, "ada", "bob")))
	s.setTeam(keyed(t), "")
	s.say(apart)
	for i, turn := range s.engine.turns {
		if turn.Said.Text != said {
			t.Errorf("in turn %d the message is %q", i, turn.Said.Text)
		}
	}
	d.checkMessages(s.stop(), "you: "+said, "ada: "+said, "bob: ok")
}

func TestReplacedSecretsAreNotified(t *testing.T) {
	s := newFixture(t, &store.Memory{}, says(membersKey+" and "+membersKey))
	s.setTeam(keyed(t), "")
	s.say("my key is " + shapedKey)
	s.say("no secret")
	var notices []string
	for _, line := range s.recorder.lines {
		if strings.HasPrefix(line, replaced) {
			notices = append(notices, line)
		}
	}
	checkEqual(t, "the notices", notices, []string{replaced + "[github-token] 1", replaced + "[ADAS_PASSWORD] 2"})
}

func TestRetriesAreNotifiedWithoutSecrets(t *testing.T) {
	failed := agent.Retry{Reason: "the key " + shapedKey + " is wrong", Wait: time.Second, Try: 1, Max: 6}
	s := newFixture(t, &store.Memory{}, yields(nil, failed, agent.Text{Text: "ok"}))
	s.setTeam(testTeam(), "")
	s.say("go")
	want := "notice Retrying Ada {the key [REDACTED:github-token] is wrong 1s 1 6}"
	if !slices.Contains(s.recorder.lines, want) {
		t.Errorf("no %q in %q", want, s.recorder.lines)
	}
}

func TestUnsupportedSettingIsNotifiedOnce(t *testing.T) {
	unsupported := yields(nil, agent.Unsupported{Setting: "thinking"}, agent.Text{Text: "ok"})
	s := newFixture(t, &store.Memory{}, unsupported, unsupported)
	s.setTeam(testTeam(), "")
	s.say("one")
	s.say("two")
	notified := slices.DeleteFunc(slices.Clone(s.recorder.lines), func(line string) bool {
		return !strings.HasPrefix(line, "notice SettingUnsupported")
	})
	checkEqual(t, "the notices", notified, []string{"notice SettingUnsupported ada thinking"})
}

func TestKeepSecretsKeepsSecrets(t *testing.T) {
	s := newFixture(t, &store.Memory{}, says(membersKey))
	o := s.options(&store.Memory{})
	o.KeepSecrets = true
	s.Coordinator = coordinator.New(o)
	s.setTeam(keyed(t), "")
	s.say("my key is " + shapedKey)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "the messages", []string{snapshot.Context.Messages[0].Content, snapshot.Context.Messages[1].Content},
		[]string{"my key is " + shapedKey, membersKey})
}

func TestPromptHasNoSecretsOfSessionWithThem(t *testing.T) {
	d := onDisk(t, 0)
	s := newFixture(t, d, says(membersKey))
	o := s.options(d)
	o.KeepSecrets = true
	s.Coordinator = coordinator.New(o)
	s.setTeam(keyed(t), "")
	s.say("[TEAM_TASK: use " + shapedKey + "] my key is " + shapedKey)
	s.say("[NEXT: bob]")
	id := s.stop()

	again := newFixture(t, d)
	again.setTeam(keyed(t), id)
	again.say("continue")
	prompt := again.engine.turns[0].Prompt
	for _, secret := range everySecret {
		if strings.Contains(prompt, secret) {
			t.Errorf("the prompt has %q:\n%s", secret, prompt)
		}
	}
	if n := strings.Count(prompt, "[REDACTED:"); n < 3 {
		t.Errorf("the prompt has %d marks:\n%s", n, prompt)
	}
}

// secretSession writes a session that was recorded with secrets, the given one in everything that a prompt
// may have. Its last turn failed.
func secretSession(t *testing.T, stored store.Store, secret string) (id string) {
	speaker := func(id, kind string) projection.Speaker {
		return projection.Speaker{ID: id, Name: id, DisplayName: id + " " + secret, Type: kind}
	}
	said := func(id string, by projection.Speaker, text string) projection.MessageAppended {
		to := &projection.Routing{ResolvedAddressees: []projection.Addressee{{MemberName: &secret}}}
		return projection.NewMessage(id, noon, by, text+" "+secret+" "+text, to)
	}
	you, ada := speaker("you", projection.TypeHuman), speaker("ada", projection.TypeAI)
	filler := strings.Repeat("x", 300)
	task := "use " + secret
	return writeSession(t, stored,
		said("m1", you, "question"), projection.TaskSet{Task: &task},
		said("m2", you, filler), said("m3", you, filler),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"},
		said("m4", ada, "reply"),
		projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done},
		projection.TurnStarted{TurnID: "t2", MemberID: "bob", TriggerMessageID: "m4"},
		projection.TurnEnded{TurnID: "t2", MemberID: "bob", FinishReason: projection.Failed},
	)
}

func TestRetryHasNoSecretsOfSessionWithThem(t *testing.T) {
	for _, tt := range []struct {
		name          string
		window, takes int // bytes of messages, and of a prompt
		has           string
	}{
		{"everything", 0, 1 << 20, "Conversation so far:"},
		{"the message that was answered", 500, 1 << 20, "which ada [REDACTED:github-token] answered"},
		{"part of the message", 0, 1, "Message from ada [REDACTED:github-token]:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored := &store.Memory{}
			id := secretSession(t, stored, shapedKey)
			s := newFixture(t, stored)
			o := s.options(stored)
			o.Window.Bytes = tt.window
			o.Engines["scripted"] = narrow{s.engine, tt.takes}
			s.Coordinator = coordinator.New(o)
			s.setTeam(testTeam(), id)
			if err := s.Retry(t.Context()); err != nil {
				t.Fatal(err)
			}
			turn := s.engine.turns[0]
			if turn.Member.ID != "bob" || !strings.Contains(turn.Prompt, tt.has) {
				t.Errorf("%s is asked without %q:\n%s", turn.Member.ID, tt.has, turn.Prompt)
			}
			checkWithoutKey(t, turn)
		})
	}
}

// checkWithoutKey checks that a turn has no part of shapedKey.
func checkWithoutKey(t *testing.T, turn agent.Turn) {
	t.Helper()
	for _, part := range []string{shapedKey[:8], shapedKey[len(shapedKey)-8:]} {
		if strings.Contains(turn.Prompt, part) || strings.Contains(turn.Said.Text, part) {
			t.Errorf("the turn has %q: %q\n%s", part, turn.Said.Text, turn.Prompt)
		}
	}
}

func TestTruncatedMessageHasNoPartialSecret(t *testing.T) {
	stored := &store.Memory{}
	long := strings.Repeat("x ", 200)
	id := writeSession(t, stored,
		projection.NewMessage("m1", noon, projection.Speaker{ID: "you", Name: "you", Type: projection.TypeHuman},
			long+shapedKey+" "+long, nil),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"},
		projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Failed},
	)
	for most := 600; most < 1200; most += 7 {
		s := newFixture(t, stored, yields(errors.New("broken"))) // so that the next one can retry
		o := s.options(stored)
		o.Engines["scripted"] = narrow{s.engine, most}
		s.Coordinator = coordinator.New(o)
		s.setTeam(testTeam(), id)
		turnError(t, s.Retry(t.Context()), "ada", projection.Failed)
		checkWithoutKey(t, s.engine.turns[0])
		s.stop()
	}
}

func TestSecretInTaskDoesNotEndIt(t *testing.T) {
	s := start(t, &store.Memory{})
	s.say("[TEAM_TASK: deploy with " + shapedKey + " to the server]")
	checkEqual(t, "the task", *s.Session().TeamTask, "deploy with [REDACTED:github-token] to the server")
}

func TestTruncatedOutputHasNoPartialSecret(t *testing.T) {
	for cut := range 3 * len(shapedKey) {
		before := strings.Repeat("x", 64<<10-cut-1) + " "
		s := newFixture(t, &store.Memory{}, yields(nil, agent.ToolCompleted{ID: "1", Output: before + shapedKey +
			strings.Repeat(" ", 128<<10)}, agent.Text{Text: "ok"}))
		s.setTeam(testTeam(), "")
		s.say("go")
		done := payloads[projection.ToolCompleted](t, s.recorder.appended)[0]
		if strings.Contains(done.Output, shapedKey[:8]) || done.OutputBytes == 0 || len(done.Output) > 64<<10 {
			t.Fatalf("%d bytes before the cut: %q of %d", cut, done.Output[len(before):], done.OutputBytes)
		}
	}
}

// IDs of the program stay even if a password equals one of them.
func TestPasswordEqualToNameIsHarmless(t *testing.T) {
	d := onDisk(t, 0)
	team := testTeam()
	team.Members[0].Env = map[string]string{"PASSWORD": "ensemble"}
	team.Members[1].Env = map[string]string{"PASSWORD": "test", "KEY": "somewhere"}
	s := newFixture(t, d)
	s.setTeam(team, "")
	s.say("hello")
	id := s.stop()
	again := newFixture(t, d)
	again.setTeam(team, id)
	again.say("hello again [NEXT: bob]")
	again.checkMembers("bob")
	if got := again.Session(); got.TeamID != "ensemble" || got.Stats.Messages != 4 {
		t.Errorf("%+v", got)
	}
}

func TestAgentGetsReferencedKey(t *testing.T) {
	s := start(t, &store.Memory{})
	s.setTeam(keyed(t), "")
	s.say("hello")
	if got := s.engine.turns[0].Member.Env["ADAS_PASSWORD"]; got != membersKey {
		t.Errorf("it got %q", got)
	}
}

func TestQuestionHasNoSecrets(t *testing.T) {
	asks := func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		turn.Permit(ctx, agent.Permission{Tool: "curl " + membersKey, Title: "curl " + membersKey,
			Input: []byte(`{"key": "` + membersKey + `"}`),
			Edits: []agent.FileEdit{{Path: "a" + membersKey, Old: "b" + membersKey, New: "c" + membersKey}}})
		return says("ok")(ctx, turn)
	}
	s := newFixture(t, &store.Memory{}, asks)
	var asked agent.Permission
	s.recorder.answer = func(_ context.Context, q coordinator.Question) coordinator.Decision {
		asked = q.Permission
		return coordinator.Refused
	}
	s.setTeam(keyed(t), "")
	s.say("hello")
	if shown := fmt.Sprintf("%s %s %s %v", asked.Tool, asked.Title, asked.Input, asked.Edits); asked.Title == "" ||
		len(asked.Edits) != 1 || asked.Edits[0].Path[0] != 'a' || asked.Edits[0].Old[0] != 'b' || asked.Edits[0].New[0] != 'c' ||
		strings.Contains(shown, membersKey) {
		t.Errorf("the question is %q", shown)
	}
}
