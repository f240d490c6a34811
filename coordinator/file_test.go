package coordinator_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

func pictureFile(name, content string) coordinator.File {
	return coordinator.File{Name: name, MediaType: "image/png", Data: []byte(content)}
}

func textFile(name, content string) coordinator.File {
	return coordinator.File{Name: name, MediaType: "text/plain", Data: []byte(content)}
}

// startWith begins a conversation whose member ada has a scripted engine of the given name.
func startWith(t *testing.T, store store.Store, engine string, script ...turnFunc) *fixture {
	s := &fixture{t: t, engine: &scriptedEngine{script: script}, recorder: &recorder{}}
	o := s.options(store)
	o.Engines[engine] = s.engine
	s.Coordinator = coordinator.New(o)
	t.Cleanup(func() { s.Stop("end of test") })
	with := testTeam()
	with.Members[0].Engine, with.Members[0].Memory = engine, team.MemoryWindow
	s.setTeam(with, "")
	return s
}

func (s *fixture) sayWith(text string, files ...coordinator.File) {
	s.t.Helper()
	if err := s.Say(s.t.Context(), "you", text, files...); err != nil {
		s.t.Fatal(err)
	}
}

// images returns the labels and contents of the pictures of the last turn.
func (c *scriptedEngine) images() (all []string) {
	for _, i := range c.turns[len(c.turns)-1].Images {
		all = append(all, i.Label+" "+string(i.Data))
	}
	return all
}

func TestFilesAreRecordedWithTheirMessage(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.sayWith("look at [a.png]", pictureFile("a.png", "picture"), pictureFile("b.png", ""))
	said := payloads[projection.MessageAppended](t, s.recorder.appended)[0]
	want := []projection.File{
		{Name: "a.png", MediaType: "image/png", Bytes: 7, SHA256: attachment.Sum([]byte("picture"))},
		{Name: "b.png", MediaType: "image/png", Bytes: 0, SHA256: attachment.Sum(nil)},
	}
	checkEqual(t, "the files", said.Attachments, want)
	dir := filepath.Join(d.dir(), s.Session().ID+".attachments")
	if data, err := os.ReadFile(filepath.Join(dir, want[0].SHA256)); string(data) != "picture" {
		t.Errorf("%q, %v", data, err)
	}
	for _, named := range []string{"Attached: [a.png, image/png, 7 bytes]\nAttached: [b.png, image/png, 0 bytes]\n"} {
		if !strings.Contains(s.engine.prompt(), named) {
			t.Errorf("the prompt is\n%s", s.engine.prompt())
		}
	}
	d.checkDurable("after the message")
}

// Whatever operation of the disk fails, a message whose files are not kept is not recorded either.
func TestMessageIsNotRecordedWithoutItsFiles(t *testing.T) {
	for nth := 1; ; nth++ {
		d := onDisk(t, 0)
		s := start(t, d)
		d.Fail(nth, syscall.EIO)
		err := s.Say(t.Context(), "you", "look", pictureFile("a.png", "picture"))
		failed := d.Failed()
		d.Heal()
		var file *coordinator.FileError
		switch {
		case err == nil:
			s.stop()
		case errors.As(err, &file) && file.Name == "a.png":
			s.sayWith("again", pictureFile("a.png", "picture"))
			s.stop()
		default:
			t.Errorf("operation %d: %v", nth, err)
		}
		for _, session := range mustList(t, d) {
			for _, e := range d.events(session) {
				p, _ := projection.Decode(e)
				said, ok := p.(projection.MessageAppended)
				if !ok {
					continue
				}
				for _, f := range said.Attachments {
					path := filepath.Join(d.dir(), session+".attachments", f.SHA256)
					if data, err := os.ReadFile(path); string(data) != "picture" {
						t.Errorf("operation %d: %q, %v", nth, data, err)
					}
				}
			}
		}
		if !failed {
			return
		}
	}
}

func mustList(t *testing.T, s store.Store) (ids []string) {
	t.Helper()
	list, err := s.List(t.Context(), "ensemble")
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range list {
		ids = append(ids, session.SessionID)
	}
	return ids
}

func TestFilesThatCannotBeAttachedAreRefused(t *testing.T) {
	s := start(t, new(store.Memory))
	many := make([]coordinator.File, coordinator.MaxFiles+1)
	large := coordinator.File{Name: "large.png", MediaType: "image/png", Data: make([]byte, attachment.MaxBytes+1)}
	for what, files := range map[string][]coordinator.File{"too many": many, "too large": {large}} {
		var refused *coordinator.FileError
		if err := s.Say(t.Context(), "you", "look", files...); !errors.As(err, &refused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s.Session() != nil {
		t.Error("something was recorded")
	}
}

func TestPicturesGoToAgentsThatTakeThem(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		s := startWith(t, store, "claude")
		s.sayWith("look", pictureFile("a.png", "picture"), textFile("notes.txt", "text"))
		checkEqual(t, "the pictures", s.engine.images(), []string{"[a.png, image/png, 7 bytes] picture"})
		s.sayWith("and this", pictureFile("b.png", "second"))
		checkEqual(t, "with those of earlier messages", s.engine.images(), []string{
			"[a.png, image/png, 7 bytes] picture", "[b.png, image/png, 6 bytes] second",
		})
		s.sayWith("@bob and you?", pictureFile("c.png", "third"))
		checkEqual(t, "those of an engine without pictures", s.engine.images(), []string(nil))
		if !strings.Contains(s.engine.prompt(), "Attached: [c.png, image/png, 5 bytes]") {
			t.Errorf("the prompt is\n%s", s.engine.prompt())
		}
		if want := "notice FileNotSent bob c.png not taken"; !slices.Contains(s.recorder.lines, want) {
			t.Errorf("notified %q", s.recorder.lines)
		}
	})
}

func TestPicturesOfAPromptAreBounded(t *testing.T) {
	s := startWith(t, new(store.Memory), "claude")
	var files []coordinator.File
	for i := range 12 {
		files = append(files, pictureFile("a.png", strings.Repeat("x", i+1)))
	}
	files = append(files, pictureFile("large.png", strings.Repeat("x", 4<<20)))
	s.sayWith("look", files...)
	images := s.engine.images()
	if len(images) != 10 || !strings.HasPrefix(images[9], "[a.png, image/png, 12 bytes]") {
		t.Errorf("%d pictures: %.500q", len(images), images)
	}
	for _, name := range []string{"large.png", "a.png"} {
		if !slices.Contains(s.recorder.lines, "notice FileNotSent ada "+name+" not fitting") {
			t.Errorf("notified %q", s.recorder.lines)
		}
	}
}

func TestAgentThatRefusesPicturesIsReported(t *testing.T) {
	s := startWith(t, new(store.Memory), "claude",
		yields(nil, agent.Unsupported{Setting: agent.SettingImages}, agent.Text{Text: "ok"}))
	s.sayWith("look", pictureFile("a.png", "picture"))
	if want := "notice FileNotSent ada a.png not taken"; !slices.Contains(s.recorder.lines, want) {
		t.Errorf("notified %q", s.recorder.lines)
	}
}

func TestDamagedPictureIsReported(t *testing.T) {
	d := onDisk(t, 0)
	s := startWith(t, d, "claude")
	s.sayWith("look", pictureFile("a.png", "picture"))
	path := filepath.Join(d.dir(), s.Session().ID+".attachments", attachment.Sum([]byte("picture")))
	if err := os.WriteFile(path, []byte("pictura"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.sayWith("again")
	checkEqual(t, "the pictures", s.engine.images(), []string(nil))
}

// An agent that reads files is shown where the text is; one without tools gets it, within bounds and without secrets.
func TestTextsGoToAgentsWithoutTools(t *testing.T) {
	secret := shapedKey
	content := "func main() {\n\tprint(\"" + secret + "\")\n}\n"
	s := startWith(t, new(store.Memory), "claude")
	s.sayWith("what is @main.go:1-3?", textFile("main.go:1-3", content))
	if want := "Attached: [main.go:1-3, text/plain, "; !strings.Contains(s.engine.prompt(), want) ||
		!strings.Contains(s.engine.prompt(), ", the file /somewhere/main.go:1-3\n") ||
		strings.Contains(s.engine.prompt(), "func main") {
		t.Errorf("the prompt is\n%s", s.engine.prompt())
	}
	s = startWith(t, new(store.Memory), "openai")
	s.sayWith("what is @main.go:1-3?", textFile("main.go:1-3", content))
	prompt := s.engine.prompt()
	if !strings.Contains(prompt, "bytes]\n  func main() {\n  \tprint(\"") || strings.Contains(prompt, secret) {
		t.Errorf("the prompt is\n%s", prompt)
	}
	s.sayWith("and now?", textFile("long.txt", strings.Repeat("word ", 20_000)))
	prompt = s.engine.prompt()
	if !strings.Contains(prompt, "[34464 bytes of this file are left out here]") || len(prompt) > 80_000 {
		t.Errorf("the prompt has %d bytes\n%.3000s", len(prompt), prompt)
	}
}

// An agent that keeps its session gets each picture once: those of other members' messages with the next prompt, and
// all that the window has if its session is new.
func TestSessionsOfAgentsGetEachPictureOnce(t *testing.T) {
	s, v := files(t), newVendor()
	withPictures := func(o *coordinator.Options, tm *team.Team) {
		o.Engines["claude"], tm.Members[0].Engine = v, "claude"
	}
	r := remember(t, s, v, "", withPictures)
	r.sayWith("look", pictureFile("a.png", "first"))
	checkEqual(t, "the first prompt", v.images, []string{"[a.png, image/png, 5 bytes]"})
	r.sayWith("@bob look", pictureFile("b.png", "second"))
	checkEqual(t, "an engine without pictures", v.images, []string(nil))
	r.sayWith("@ada and this", pictureFile("c.png", "third"))
	both := []string{"[b.png, image/png, 6 bytes]", "[c.png, image/png, 5 bytes]"}
	checkEqual(t, "the next prompt", v.images, both)
	r.checkPrompt("Attached: [b.png", "Attached: [c.png", "-a.png")
	id := r.stop()
	r = remember(t, s, v, id, withPictures)
	r.sayWith("and again")
	checkEqual(t, "a resumed session", v.images, []string(nil))
	id = r.stop()
	v.forget()
	r = remember(t, s, v, id, withPictures)
	r.sayWith("and now?")
	checkEqual(t, "a new session", v.images, append([]string{"[a.png, image/png, 5 bytes]"}, both...))
}

// Files wait in memory for a session that is saved by hand.
func TestFilesAreSavedWithTheSession(t *testing.T) {
	d := onDisk(t, 0)
	s := &fixture{t: t, engine: &scriptedEngine{}, recorder: &recorder{}}
	o := s.options(d)
	o.ManualSave = true
	s.Coordinator = coordinator.New(o)
	s.setTeam(testTeam(), "")
	s.sayWith("look", pictureFile("a.png", "picture"))
	if entries, err := os.ReadDir(d.dir()); err == nil && len(entries) > 0 {
		t.Errorf("written: %v", entries)
	}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.dir(), s.Session().ID+".attachments", attachment.Sum([]byte("picture")))
	if data, err := os.ReadFile(path); string(data) != "picture" {
		t.Errorf("%q, %v", data, err)
	}
}
