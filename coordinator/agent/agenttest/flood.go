package agenttest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// flood sends messages of one kind, of so many MiB in total, and reads nothing meanwhile.
func (a *acpAgent) flood(t *acpTurn) {
	kind, size, _ := strings.Cut(t.arg, " ")
	left, _ := strconv.Atoi(size)
	left <<= 20
	a.mu.Lock() // without it, no response is received
	defer a.mu.Unlock()
	for i := 0; left > 0; i++ {
		m := floods[kind](t.session, fmt.Sprint("t", i))
		line, _ := json.Marshal(m)
		left -= len(line)
		if _, err := a.out.Write(append(line, '\n')); err != nil {
			return
		}
	}
	if kind == "output" {
		end := updateOf(t.session,
			object{"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"})
		a.write(end)
	}
	_ = a.out.Flush()
}

// floods return a message of each kind. id is unique.
var floods = map[string]func(session, id string) rpcMessage{
	"requests": func(_, id string) rpcMessage {
		return rpcMessage{ID: json.RawMessage(strconv.Quote(id)), Method: "fs/read_text_file"}
	},
	"questions": func(session, id string) rpcMessage {
		params, _ := json.Marshal(object{"sessionId": session, "toolCall": object{"toolCallId": id, "title": id}})
		return rpcMessage{
			ID: json.RawMessage(strconv.Quote(id)), Method: "session/request_permission", Params: params,
		}
	},
	"thoughts": func(session, _ string) rpcMessage {
		return updateOf(session, object{"sessionUpdate": "agent_thought_chunk", "content": object{"text": words}})
	},
	"text": func(session, _ string) rpcMessage {
		return updateOf(session, object{"sessionUpdate": "agent_message_chunk", "content": object{"text": words}})
	},
	"tools": func(session, id string) rpcMessage {
		return updateOf(session, object{"sessionUpdate": "tool_call", "toolCallId": id, "status": "in_progress"})
	},
	"output": func(session, _ string) rpcMessage {
		return updateOf(session, object{
			"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress",
			"_meta": object{"terminal_output_delta": object{"data": words}},
		})
	},
	"plans": func(session, id string) rpcMessage {
		return updateOf(session, object{
			"sessionUpdate": "plan", "entries": []object{{"content": id + words, "status": "pending"}},
		})
	},
}

var words = strings.Repeat("one word after another ", 50)

func updateOf(session string, update object) rpcMessage {
	params, _ := json.Marshal(object{"sessionId": session, "update": update})
	return rpcMessage{Method: "session/update", Params: params}
}
