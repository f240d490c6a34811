package agenttest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// The modes of the agent.
const (
	modeAsks = "default" // it requests permission
	modeAuto = "auto"    // it does not
)

// setMode changes the mode, as asked.
func (a *acpAgent) setMode(mode string) {
	if !a.habits[Staying] && !a.habits[Claiming] {
		a.mode = mode
	}
}

// modes returns the modes of a session; nil: it has none, or they are an option.
func (a *acpAgent) modes() object {
	switch {
	case a.habits[OtherModes]:
		return object{"currentModeId": "careful", "availableModes": []object{{"id": "careful"}, {"id": "bold"}}}
	case a.habits[Modeless] || a.habits[ModeOption]:
		return nil
	}
	return object{"currentModeId": a.mode, "availableModes": []object{{"id": modeAsks}, {"id": modeAuto}}}
}

// options returns the options of a session.
func (a *acpAgent) options() (all []object) {
	if a.habits[ModeOption] {
		current := a.mode
		if a.habits[Claiming] {
			current = modeAsks
		}
		all = append(all, object{
			"id": "mode", "category": "mode", "currentValue": current,
			"options": []object{{"value": modeAsks}, {"value": modeAuto}},
		})
	}
	if a.habits[ModelOption] {
		all = append(all, object{"id": "llm", "category": "model"})
	}
	if a.habits[ThoughtOption] {
		all = append(all, object{
			"id": "effort", "category": "thought_level", "currentValue": "none",
			"options": []object{{"value": "none"}, {"value": "low"}, {"value": "high"}},
		})
	}
	return all
}

// touch creates a file, with the permission that the mode needs.
func (a *acpAgent) touch(t *acpTurn) {
	if a.mode != modeAsks {
		a.touchUnasked(t, "execute")
		return
	}
	outcome := a.requestPermission(t.session, "touch "+t.arg)
	if strings.HasPrefix(outcome, "selected") && outcome != "selected never" {
		create(t.arg)
	}
	a.say(t.session, outcome)
}

// touchUnasked creates a file without permission, by a tool of that kind, and then waits to be stopped.
func (a *acpAgent) touchUnasked(t *acpTurn, kind string) {
	create(t.arg)
	a.update(t.session, object{
		"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "touch " + t.arg, "kind": kind, "status": "pending",
	})
	a.update(t.session, object{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"})
	a.goOn(t)
}

// goOn does more if it is not stopped.
func (a *acpAgent) goOn(t *acpTurn) {
	t.pause(time.Second)
	if t.ctx.Err() == nil {
		create(t.arg + "-later")
		a.say(t.session, "Done.")
	}
}

// defy requests permission, and does not care for the answer.
func (a *acpAgent) defy(t *acpTurn) {
	create(t.arg)
	a.requestPermission(t.session, "touch "+t.arg)
	a.update(t.session, object{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"})
	a.goOn(t)
}

// hurry requests permission, and does not wait for the answer.
func (a *acpAgent) hurry(t *acpTurn) {
	create(t.arg)
	a.update(t.session, object{"sessionUpdate": "tool_call", "toolCallId": "t1", "title": t.arg, "kind": "execute"})
	a.send(floods["questions"](t.session, "t1"))
	a.update(t.session, object{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"})
	a.goOn(t)
}

// changeMode changes the mode by itself, and acts in it: "mode NAME PATH".
func (a *acpAgent) changeMode(t *acpTurn) {
	mode, path, _ := strings.Cut(t.arg, " ")
	a.mode, t.arg = mode, path
	update := object{"sessionUpdate": "current_mode_update", "currentModeId": mode}
	if a.habits[ModeOption] {
		update = object{"sessionUpdate": "config_option_update", "configOptions": a.options()}
	}
	a.update(t.session, update)
	a.goOn(t)
}

// updates sends updates.
func (a *acpAgent) updates(t *acpTurn) {
	var updates []object
	if err := json.Unmarshal([]byte(t.arg), &updates); err != nil {
		a.say(t.session, err.Error())
	}
	for _, u := range updates {
		a.update(t.session, u)
	}
}

func create(path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
