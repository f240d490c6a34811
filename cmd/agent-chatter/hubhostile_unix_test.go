//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

// hostileHub is a hub with two sessions of a home, to one of which another writer publishes.
type hostileHub struct {
	t         *testing.T
	engine    *jetstream.Engine
	ann, ben  string // homes
	id, other string // sessions
}

func newHostileHub(t *testing.T, sealed bool) *hostileHub {
	t.Helper()
	url, stop, err := natstest.Start(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	h := &hostileHub{t: t, ann: t.TempDir(), ben: t.TempDir()}
	settings := map[string]any{"urls": []string{url}, "teams": []string{"*"}}
	if sealed {
		recipient, _ := do(t, h.ann, exitDone, "identities", "new", "own")
		settings["encryptTo"] = []string{strings.TrimSpace(recipient)}
		key := readFile(t, filepath.Join(h.ann, "identities", "own.txt"))
		if err := os.Mkdir(filepath.Join(h.ben, "identities"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.ben, "identities", "own.txt"), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := json.Marshal(map[string]any{"hub": settings})
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{h.ann, h.ben} {
		if err := os.WriteFile(filepath.Join(home, "config.json"), config, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do(t, h.ann, exitDone, "hub", "init")
	for _, id := range []*string{&h.id, &h.other} {
		do(t, h.ann, exitDone, "chat", "-m", "first")
		files, _ := filepath.Glob(filepath.Join(h.ann, "sessions", "demo", "*.jsonl"))
		for _, file := range files {
			if name := strings.TrimSuffix(filepath.Base(file), ".jsonl"); name != h.id && name != "retention" {
				*id = name
			}
		}
	}
	if h.engine, err = jetstream.Open(t.Context(), jetstream.Options{URLs: []string{url}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.engine.Close)
	return h
}

// journal returns what a home has of a session.
func (h *hostileHub) journal(home, id string) string {
	h.t.Helper()
	return readFile(h.t, filepath.Join(home, "sessions", "demo", id+".jsonl"))
}

// publish stores a message after the first session. END in its head is the end of the session.
func (h *hostileHub) publish(head string) {
	h.t.Helper()
	end, err := (journal.Position{}).Verify([]byte(h.journal(h.ann, h.id)))
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := json.Marshal(end)
	if err != nil {
		h.t.Fatal(err)
	}
	s := hub.Session{Team: "demo", ID: h.id}
	last, err := h.engine.Last(h.t.Context(), s)
	if err == nil {
		m := hub.Message{Head: []byte(strings.ReplaceAll(head, "END", string(text))), Body: []byte("xx\n")}
		_, err = h.engine.Publish(h.t.Context(), s, last.Revision, m)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// sealedForEve returns the head of a message that only eve can open.
func sealedForEve(t *testing.T) string {
	t.Helper()
	memory, s := &hubtest.Memory{}, hub.Session{Team: "demo", ID: "01JD0000000000000000000000"}
	identity := hubtest.NewIdentity(t)
	eve := hubtest.NewMachine(t, memory, s, "eve", hubtest.Seal(identity), hubtest.Open(identity))
	eve.Write(t, "by eve")
	eve.Push(t)
	return string(memory.Messages(s)[1].Head)
}

// Whatever another writer publishes after a session: another machine gets what is valid, hub verify reports the rest,
// the owner continues, and the command that is named at the end ships it.
func TestHostileMessagesOnTheHub(t *testing.T) {
	skipIfShort(t)
	for name, head := range map[string]string{
		"lines": `{"v":1,"kind":"lines","from":END,"to":{"seq":99,"offset":99999,"sum":"0badcafe"},` +
			`"head":{"seq":99}}`,
		"a long part": `{"v":1,"kind":"lines","from":END,"to":{"seq":99,"offset":99999999,"sum":"0badcafe"},` +
			`"part":1,"parts":3}`,
		"version 99":    `{"v":99}`,
		"sealed":        sealedForEve(t),
		"after a gap":   `{"v":1,"kind":"lines","from":{"seq":98,"offset":9999},"to":{"seq":99,"offset":99999}}`,
		"sealed, ended": sealedForEve(t),
	} {
		t.Run(name, func(t *testing.T) {
			testHostileMessage(newHostileHub(t, strings.HasPrefix(name, "sealed, ")), head)
		})
	}
}

func testHostileMessage(h *hostileHub, head string) {
	t := h.t
	t.Helper()
	h.publish(head)
	stdout, _ := do(t, h.ben, exitFailed, "hub", "pull", "--all")
	if h.journal(h.ben, h.id) != h.journal(h.ann, h.id) || h.journal(h.ben, h.other) != h.journal(h.ann, h.other) {
		t.Errorf("hub pull --all fetched something else: %s", stdout)
	}
	takeOver := fmt.Sprintf("agent-chatter hub push %s --take-over", h.id)
	resume := fmt.Sprintf("agent-chatter chat --resume %s --take-over", h.id)
	stdout, stderr := do(t, h.ann, exitDamaged, "hub", "verify")
	if out := stdout + stderr; !strings.Contains(out, h.id+"  failed: ") || !strings.Contains(out, resume) ||
		!strings.Contains(out, h.other+"  equal") {
		t.Errorf("hub verify prints %s", out)
	}
	_, stderr = do(t, h.ann, exitDone, "chat", "--resume", h.id, "-m", "second")
	if !strings.Contains(h.journal(h.ann, h.id), "second") || !strings.Contains(stderr, takeOver) {
		t.Errorf("chat prints %s", stderr)
	}
	do(t, h.ann, exitDone, "chat", "--resume", h.other, "-m", "elsewhere")
	do(t, h.ann, exitDone, "hub", "push", h.id, "--take-over")
	do(t, h.ann, exitDone, "hub", "verify")
	h.publish(head)
	_, stderr = do(t, h.ann, exitDone, "chat", "--resume", h.id, "--take-over", "-m", "third")
	if strings.Contains(stderr, "Not on the hub") || strings.Contains(stderr, "Unclaimed") {
		t.Errorf("after a take-over, chat prints %s", stderr)
	}
	do(t, h.ben, exitDone, "hub", "pull")
	if h.journal(h.ben, h.id) != h.journal(h.ann, h.id) {
		t.Error("the journals differ")
	}
	do(t, h.ben, exitDone, "chat", "--resume", h.id, "-m", "fourth")
}
