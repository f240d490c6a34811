package agenttest

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"time"
)

// sceneVariable names a file with what the agent does, whatever the prompts are: a step in each line, and an empty
// line after each turn. It is for pictures and for tests of what is seen. A step is one of
//
//	{"say": TEXT}      send TEXT word by word
//	{"update": {…}}    send an update
//	{"ask": {…}}       request permission for a tool call
//	{"wait": N}        wait N milliseconds
//
// After the last turn the scene begins again.
const sceneVariable = "AGENT_TEST_SCENE"

// sceneStep is a line of a scene.
type sceneStep struct {
	Say    string
	Update object
	Ask    object
	Wait   int
}

// act acts the next turn of the scene.
func (a *acpAgent) act(t *acpTurn) {
	turns := bytes.Split(bytes.TrimSpace(a.scene), []byte("\n\n"))
	a.mu.Lock()
	turn := turns[a.acted%len(turns)]
	a.acted++
	a.mu.Unlock()
	for line := range bytes.Lines(turn) {
		var s sceneStep
		if err := json.Unmarshal(line, &s); err != nil {
			t.failure = object{"code": -32603, "message": "scene: " + err.Error()}
			return
		}
		for _, word := range strings.SplitAfter(s.Say, " ") {
			if word != "" && t.ctx.Err() == nil {
				a.say(t.session, word)
				t.pause(wordPace)
			}
		}
		switch {
		case t.ctx.Err() != nil:
			return
		case s.Update != nil:
			a.update(t.session, s.Update)
		case s.Ask != nil:
			a.requestFor(t.session, s.Ask)
		}
		t.pause(time.Duration(s.Wait) * time.Millisecond)
	}
}

// pause waits, unless the turn is cancelled.
func (t *acpTurn) pause(d time.Duration) { pause(t.ctx, d) }

// sceneOf returns the scene of this process; nil: it has none.
func sceneOf(path string) []byte {
	if path == "" {
		return nil
	}
	scene, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return scene
}
