//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/chattest"
)

// A conversation that is entered on a page writes the journal of the same conversation that is typed in a terminal, but
// for ids, times, and devices.
func TestPageWritesWhatATerminalWrites(t *testing.T) {
	skipIfShort(t)
	typed, entered := chattest.NewPlace(t, teamPath("asking.json")), chattest.NewPlace(t, teamPath("asking.json"))
	typed.Type(t, "agent-chatter")
	enterConversation(t, entered)
	want, got := typed.Journals(t), entered.Journals(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the journals differ (-terminal +page):\n%s", diff)
	}
}

// enterConversation has the conversation of chattest on a page.
func enterConversation(t *testing.T, place *chattest.Place) {
	p := &webPage{t: t}
	p.open(place.Command("agent-chatter", "serve", "--chat", "--output", "json"))
	post := func(path string, body map[string]any, answer any) {
		t.Helper()
		err := p.post(path, body, answer)
		for err == statusError(http.StatusTooManyRequests) { // a person is not as fast
			err = p.post(path, body, answer)
		}
		if err != nil {
			t.Fatalf("%s %v: %v", path, body, err)
		}
	}
	n := 0
	say := func(text string, files ...map[string]any) (id string) {
		t.Helper()
		n++
		var said struct{ ID string }
		post("sessions/"+p.key+"/say", map[string]any{"id": fmt.Sprint(n), "text": text, "files": files}, &said)
		return said.ID
	}
	// turn waits until a person is next, after the message with an id was sent.
	turn := func(id string) {
		t.Helper()
		p.look(func(s liveState) bool { return slices.Contains(s.Sent, id) && len(s.Waiting) > 0 })
	}
	// moved follows the conversation into a copy.
	moved := func() {
		t.Helper()
		p.key = p.look(func(s liveState) bool { return s.Session != p.key && len(s.Waiting) > 0 }).Session
	}
	rewind := func(what, message string) {
		t.Helper()
		var plan struct{ Before uint64 }
		post("sessions/"+p.key+"/rewind", map[string]any{"seq": p.seqOf(message)}, &plan)
		say(fmt.Sprintf("/rewind %s %d", what, plan.Before))
	}
	var begun struct{ Key string }
	post("conversations", map[string]any{"id": "0", "text": chattest.First, "team": "asking", "directory": place.Dir}, &begun)
	p.key = begun.Key
	turn("page/0")
	turn(say(chattest.Tool))
	for _, decision := range []string{"allow", "refuse"} {
		id := say(chattest.Asked)
		asked := p.look(func(s liveState) bool { return len(s.Questions) > 0 }).Questions[0]
		post("sessions/"+p.key+"/answer", map[string]any{"question": asked.ID, "decision": decision}, nil)
		turn(id)
	}
	turn(say(chattest.WithNote))
	picture, err := os.ReadFile(place.PicturePath())
	if err != nil {
		t.Fatal(err)
	}
	turn(say(chattest.OfPicture, map[string]any{"name": chattest.Picture, "data": picture}))
	turn(say(chattest.Panel))
	id := say(chattest.Endless)
	p.await("Let me see.")
	queued := say(chattest.Queued)
	post("sessions/"+p.key+"/takeback", map[string]any{"id": queued}, nil)
	post("sessions/"+p.key+"/cancel", map[string]any{"member": ""}, nil)
	turn(id)
	turn(say(chattest.Made))
	rewind("files", chattest.Made)
	say(chattest.Retitle)
	say("/fork")
	moved()
	turn(say(chattest.InFork))
	turn(say(chattest.Undone))
	rewind("both", chattest.Undone)
	moved()
	for _, text := range []string{chattest.Instead, chattest.Elsewhere, chattest.Last} {
		turn(say(text))
	}
	say("/end")
	p.end()
}
