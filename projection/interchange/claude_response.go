package interchange

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// claudeResponse is adjacent lines of one response of the API.
type claudeResponse struct {
	id, uuid, model string
	at              time.Time
	texts           []string
	calls           []claudeCall
	usage           projection.Usage
	aborted         bool
	lines           int
	bytes           int // of the lines
}

type claudeCall struct {
	id, name string
	input    jsonValue
	at       time.Time
}

// addAssistant adds a line to the response, which ends before a line of another.
func (c *claudeReader) addAssistant(line claudeLine) {
	var id, model string
	var content claudeContent
	var usage jsonValue
	for name, v := range line.message.fields(nil) {
		switch string(name) {
		case "id":
			id = v.text()
		case "model":
			model = v.text()
		case "content":
			content = claudeContent(v)
		case "usage":
			usage = v
		}
	}
	if c.response.lines > 0 &&
		(id != c.response.id || line.failed || c.response.bytes+len(line.message) > maxContent) {
		c.addResponse()
	}
	if content == nil {
		c.addUnknown()
		return
	}
	if line.failed {
		c.stopTurn(line.uuid, projection.Failed, content.message(), line.at)
		return
	}
	r := &c.response
	if r.lines == 0 {
		*r = claudeResponse{id: id, uuid: line.uuid, at: line.at, model: model}
	}
	r.lines, r.bytes = r.lines+1, r.bytes+len(line.message)
	r.aborted = r.aborted || line.aborted
	r.usage = claudeUsage(usage) // every line repeats it; the last one is final
	if cost, ok := costOf(line.cost); ok {
		r.usage.Cost = &cost
	}
	if text := content.message(); text != "" {
		r.texts = append(r.texts, text)
	}
	for block := range jsonValue(content).elements() {
		if string(block.field("type").plain()) == "tool_use" {
			call := claudeCall{id: block.field("id").text(), name: block.field("name").text(), at: line.at}
			call.input = slices.Clone(block.field("input"))
			r.calls = append(r.calls, call)
		}
	}
}

// maxCounted bounds claudeReader.counted: the lines of a response are near each
// other.
const maxCounted = 10_000

// addResponse ends the response. More lines of it may follow the results of its
// tools; its tokens are counted once.
func (c *claudeReader) addResponse() {
	r := c.response
	c.response = claudeResponse{}
	if r.lines == 0 {
		return
	}
	if r.model != "<synthetic>" { // a message of the program itself
		c.model = r.model
	}
	usage := r.usage
	if r.id != "" && c.counted[r.id] {
		usage = projection.Usage{}
	}
	if len(c.counted) == maxCounted {
		clear(c.counted)
	}
	c.counted[r.id] = true
	c.addReply(r.uuid, strings.Join(r.texts, "\n\n"), r.at)
	if len(r.texts) > 0 {
		c.addUsage(usage)
		usage = projection.Usage{}
	}
	if r.aborted {
		if len(r.texts) == 0 {
			c.beginTurn(r.uuid, c.timeOf(r.at))
		}
		c.stopTurn(r.uuid, projection.Cancelled, "", r.at)
	}
	for i, call := range r.calls {
		id := call.id
		if i == 0 && len(r.texts) == 0 && r.uuid != "" {
			id = r.uuid
		}
		c.beginTurn(id, c.timeOf(call.at))
		c.startTool(call.id, call.name, []byte(call.input), call.at)
	}
	c.addUsage(usage)
}

func claudeUsage(v jsonValue) (u projection.Usage) {
	for name, v := range v.fields(nil) {
		switch string(name) {
		case "input_tokens":
			u.Input = v.tokens()
		case "output_tokens":
			u.Output = v.tokens()
		case "cache_read_input_tokens":
			u.CachedRead = v.tokens()
		case "cache_creation_input_tokens":
			u.CachedWrite = v.tokens()
		case "output_tokens_details":
			u.Thought = v.field("thinking_tokens").tokens()
		}
	}
	u.Thought = min(u.Thought, u.Output)
	u.Output -= u.Thought
	return u
}

// addCost adds the difference to the cost of the session so far. A smaller one
// is that of another run of the program.
func (c *claudeReader) addCost(total jsonValue) {
	cost, ok := costOf(total)
	if !ok {
		return
	}
	added := cost
	if cost.Amount >= c.cost {
		added.Amount -= c.cost
	}
	c.cost = cost.Amount
	c.addResponse()
	if added.Amount > 0 && c.turn != nil {
		c.addUsage(projection.Usage{Cost: &added})
	}
}

// costOf returns an amount of US dollars.
func costOf(v jsonValue) (projection.Cost, bool) {
	amount, err := strconv.ParseFloat(string(v), 64)
	cost := projection.Cost{Amount: amount, Currency: "USD"}
	return cost, err == nil && cost.Valid()
}
