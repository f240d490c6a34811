package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// begin begins a turn. One without a prompt does not begin after an interruption.
func (a *claudeAgent) begin(ctx context.Context, prompted bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !prompted && ctx.Err() != nil {
		return false
	}
	a.write(object{"type": "system", "subtype": "init", "session_id": a.id, "permissionMode": a.mode})
	return true
}

// run runs a turn that has begun.
func (a *claudeAgent) run(ctx context.Context, prompt string) {
	a.add("user", prompt)
	verb, arg, _ := strings.Cut(prompt, " ")
	instruction := claudeInstructions[verb]
	for line := range strings.SplitSeq(prompt, "\n") {
		if first, rest, _ := strings.Cut(line, " "); instruction == nil {
			verb, arg, instruction = first, rest, claudeInstructions[first]
		}
	}
	if instruction == nil {
		instruction = func(a *claudeAgent, _ context.Context, _ string) { a.say("Hello.") }
	}
	instruction(a, ctx, arg)
	if ctx.Err() != nil {
		a.message("user", a.add("user", "interrupted"), object{"type": "text", "text": "[Request interrupted by user]"})
	}
	a.send(object{"type": "result", "subtype": "success", "total_cost_usd": 0.5 * float64(len(a.history))})
	if verb == "wake" && a.begin(ctx, false) {
		a.run(ctx, `ask Bash {"command":"ls"}`)
	}
}

// message sends a message of the session.
func (a *claudeAgent) message(kind, uuid string, block object) {
	a.send(object{"type": kind, "uuid": uuid, "message": object{"role": kind, "content": []object{block}}})
}

func (a *claudeAgent) say(text string) {
	a.message("assistant", a.add("assistant", text), object{"type": "text", "text": text})
}

// claudeInstructions are documented at claudeAgent.
var claudeInstructions = map[string]func(a *claudeAgent, ctx context.Context, arg string){
	"say": func(a *claudeAgent, _ context.Context, arg string) { a.say(arg) },
	"recall": func(a *claudeAgent, _ context.Context, _ string) {
		var prompts []string
		for _, m := range a.history {
			if m.Type == "user" {
				prompts = append(prompts, m.Text)
			}
		}
		a.say(strings.Join(prompts, "; "))
	},
	"where": func(a *claudeAgent, _ context.Context, _ string) {
		a.say(fmt.Sprintf("%d %s %s %s", os.Getpid(), a.id, strings.Join(a.args, " "), a.mode))
	},
	"ask": func(a *claudeAgent, ctx context.Context, arg string) {
		tool, input, _ := strings.Cut(arg, " ")
		a.say(string(a.use(ctx, "t1", tool, json.RawMessage(input))))
	},
	"form": func(a *claudeAgent, ctx context.Context, arg string) {
		request := object{"subtype": "elicitation", "mcp_server_name": "woods", "mode": "form"}
		_ = json.Unmarshal([]byte(arg), &request)
		a.say(string(a.await(ctx, request)))
	},
	"both": func(a *claudeAgent, ctx context.Context, _ string) { a.askMany(ctx, 2) },
	"many": func(a *claudeAgent, ctx context.Context, arg string) {
		n, _ := strconv.Atoi(arg)
		a.askMany(ctx, n)
	},
	"withdraw": func(a *claudeAgent, ctx context.Context, _ string) {
		asking, withdraw := context.WithCancel(ctx)
		time.AfterFunc(wordPace, withdraw)
		a.use(asking, "t1", "Bash", json.RawMessage(`{"command":"ls"}`))
		a.say("Well.")
	},
	"touch": (*claudeAgent).touch,
	"sneak": func(a *claudeAgent, ctx context.Context, arg string) { a.create(ctx, arg) },
	"defy": func(a *claudeAgent, ctx context.Context, arg string) {
		a.request(ctx, "t1", "Bash", json.RawMessage(encode(object{"command": "touch " + arg})))
		a.create(ctx, arg)
	},
	"mode": func(a *claudeAgent, ctx context.Context, arg string) {
		a.mu.Lock()
		a.mode = arg
		a.mu.Unlock()
		a.send(object{"type": "system", "subtype": "status", "permissionMode": arg})
		if arg != "plan" {
			pause(ctx, time.Second)
		}
		a.say("In another mode.")
	},
	"wake": func(a *claudeAgent, _ context.Context, _ string) { a.say("Good night.") },
	"compact": func(a *claudeAgent, _ context.Context, _ string) {
		a.send(object{"type": "system", "subtype": "status", "status": "compacting"})
		a.send(object{
			"type": "system", "subtype": "compact_boundary",
			"compact_metadata": object{"pre_tokens": 90, "post_tokens": 20},
		})
		a.say("Well.")
	},
	"tool": func(a *claudeAgent, ctx context.Context, _ string) {
		tool := startSleeper()
		a.say("I run " + strconv.Itoa(tool.Process.Pid))
		<-ctx.Done()
		if !a.habits[Careless] {
			_ = tool.Process.Kill()
			_ = tool.Wait()
		}
	},
	"hang": func(a *claudeAgent, ctx context.Context, _ string) {
		a.say("Let me see.")
		<-ctx.Done()
	},
	"crash": func(a *claudeAgent, _ context.Context, _ string) {
		a.say("Let me see.")
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	},
	"raw": func(a *claudeAgent, _ context.Context, arg string) {
		a.mu.Lock()
		fmt.Fprintln(a.out, arg)
		a.mu.Unlock()
		a.say("Well.")
	},
}

// request requests permission for a tool, and returns the answer. It withdraws the request when ctx is done.
func (a *claudeAgent) request(ctx context.Context, use, tool string, input json.RawMessage) json.RawMessage {
	rule := []object{{"toolName": tool, "ruleContent": "like it"}}
	return a.await(ctx, object{
		"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": use,
		"permission_suggestions": []object{
			{"type": "addRules", "rules": rule, "behavior": "allow", "destination": "localSettings"},
			{"type": "addRules", "rules": rule, "behavior": "deny", "destination": "userSettings"},
			{"type": "setMode", "mode": "acceptEdits", "destination": "session"},
			{"type": "addDirectories", "directories": []string{"/"}, "destination": "session"},
		},
	})
}

// await sends a request, and returns the response. It withdraws the request when ctx is done.
func (a *claudeAgent) await(ctx context.Context, request object) json.RawMessage {
	answer := make(chan json.RawMessage, 1)
	a.mu.Lock()
	a.requests++
	id := fmt.Sprintf("request-%d", a.requests)
	a.waiting[id] = answer
	a.mu.Unlock()
	a.send(object{"type": "control_request", "request_id": id, "request": request})
	select {
	case given := <-answer:
		return given
	case <-ctx.Done():
		a.send(object{"type": "control_cancel_request", "request_id": id})
		return json.RawMessage(`{"behavior":"deny","message":"withdrawn"}`)
	}
}

// use requests permission for a tool, reports its use, and returns the answer.
func (a *claudeAgent) use(ctx context.Context, use, tool string, input json.RawMessage) json.RawMessage {
	a.message("assistant", "", object{"type": "tool_use", "id": use, "name": tool, "input": input})
	answer := a.request(ctx, use, tool, input)
	a.result(use, !allows(answer))
	return answer
}

// allows reports whether an answer allows the tool.
func allows(answer json.RawMessage) bool {
	return strings.Contains(string(answer), `"behavior":"allow"`)
}

// result reports the end of a tool.
func (a *claudeAgent) result(use string, failed bool) {
	a.message("user", "", object{"type": "tool_result", "tool_use_id": use, "content": "done", "is_error": failed})
}

// askMany requests permission for tools at once.
func (a *claudeAgent) askMany(ctx context.Context, n int) {
	var asking sync.WaitGroup
	answers := make([]json.RawMessage, n)
	for i := range n {
		asking.Go(func() {
			input := json.RawMessage(fmt.Sprintf(`{"command":"ls %d"}`, i))
			answers[i] = a.use(ctx, fmt.Sprintf("t%d", i), "Bash", input)
		})
	}
	asking.Wait()
	allowed := 0
	for _, answer := range answers {
		if allows(answer) {
			allowed++
		}
	}
	a.say(strconv.Itoa(allowed))
}

// touch creates a file, if it may.
func (a *claudeAgent) touch(ctx context.Context, path string) {
	command := json.RawMessage(encode(object{"command": "touch " + path}))
	a.mu.Lock()
	asks := a.mode == modeAsks || a.mode == "plan"
	if a.habits[AllowsTouch] && !slices.Contains(a.ask, "Bash") && !slices.Contains(a.ask, "Bash(touch *)") {
		asks = false
	}
	a.mu.Unlock()
	if !asks || allows(a.use(ctx, "t1", "Bash", command)) {
		create(path)
	}
	a.say("Well.")
}

// create creates a file without permission, and then waits to be stopped.
func (a *claudeAgent) create(ctx context.Context, path string) {
	a.message("assistant", "", object{
		"type": "tool_use", "id": "t1", "name": "Write", "input": object{"file_path": path, "content": ""},
	})
	create(path)
	a.result("t1", false)
	pause(ctx, time.Second)
	if ctx.Err() == nil {
		create(path + "-later")
		a.say("Done.")
	}
}

// pause waits, unless the turn is interrupted.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
