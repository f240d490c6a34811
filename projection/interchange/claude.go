package interchange

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// claudeFormat is the name of the format of Claude Code, which is also the id of its agent.
const claudeFormat = "claude"

var _ = RegisterFormat(Format{
	Name: claudeFormat,
	Detect: func(o Fields) bool {
		return (o["type"] == "user" || o["type"] == "assistant") && o.Has("message", "uuid")
	},
	Read: claudeSession,
})

// claudeSession returns the session of a transcript of Claude Code, with its
// other branches.
func claudeSession(src Source, app projection.App) (*Session, error) {
	src = src.withSubagents(claudeSubagents(src))
	tree, err := readClaudeTree(src)
	if err != nil {
		return nil, err
	}
	switch {
	case !tree.messages && tree.sidechain:
		return nil, ErrSubagent
	case !tree.messages:
		return nil, noMessages(tree.unknown)
	}
	forks := tree.forks()
	active := tree.branch(forks, -1)
	s := claudeBranchSession(src, app, tree, active, "")
	s.LeftOut = tree.leftOut(active)
	for _, first := range tree.others(forks) {
		s.addBranch(func() (*Session, error) {
			forks := tree.forks()
			other := tree.branch(forks, first)
			name := fmt.Sprintf("%016x", tree.nodes[tree.firstMessage(forks, other, first)].line)
			return claudeBranchSession(src, app, tree, other, name), nil
		})
	}
	return s, nil
}

// claudeBranchSession returns the session of one branch. The name of a branch
// distinguishes it from the active one, which has none.
func claudeBranchSession(
	src Source, app projection.App, tree *claudeTree, b claudeBranch, name string,
) *Session {
	title := cmp.Or(tree.title.custom, tree.title.generated, tree.title.summary)
	header := &transcript{format: claudeFormat, id: tree.sessionID, cwd: tree.cwd, title: title}
	header.created, header.updated = tree.span(b)
	header.speakers = []projection.Speaker{user, claudeAgent}
	s := header.session(src.Path, app) // whether it has messages is known at its end
	if first, _ := tree.span(nil); !first.IsZero() {
		s.idTime = first // the active branch, and so its first message, may be another one in a later save
	}
	s.SetID(sessionID(s.idFormat, s.TeamID, s.sourceID, s.idTime))
	if name != "" {
		s.sourceID += "/" + name
		s.SetTeam(s.TeamID)
	}
	id := header.id
	s.conversation = func(yield func(journal.Record) bool) (skipped int, err error) {
		t := &transcript{format: claudeFormat, id: id, yield: yield}
		c := newClaudeReader(t, src, tree, b)
		if err := c.read(); err != nil {
			return 0, err
		}
		return t.finish()
	}
	return s
}

var claudeAgent = agent(claudeFormat, "Claude Code")

// claudeReader passes the lines of one branch to the collector.
type claudeReader struct {
	*transcript
	src      Source
	tree     *claudeTree
	branch   claudeBranch
	node     int // the next one
	response claudeResponse
	counted  map[string]bool // the newest responses whose tokens were counted
	cost     float64         // of the session so far, in USD
	side     *subagent       // whose lines are in the same file; nil: none
}

func newClaudeReader(t *transcript, src Source, tree *claudeTree, b claudeBranch) *claudeReader {
	t.agent, t.source, t.readSubagent = claudeAgent, src, readClaudeSubagent
	return &claudeReader{transcript: t, src: src, tree: tree, branch: b, counted: map[string]bool{}}
}

// readClaudeSubagent passes the whole transcript of a subagent to a collector.
func readClaudeSubagent(t *transcript, src Source) error {
	return newClaudeReader(t, src, nil, nil).read()
}

func (c *claudeReader) read() error {
	err := c.src.eachLine(func(n int, line []byte) bool {
		if c.tree == nil {
			c.add(line, true)
			return !c.stopped
		}
		if n >= c.tree.lines { // written since the first reading
			return false
		}
		on := true
		if c.node < len(c.tree.nodes) && int(c.tree.nodes[c.node].line) == n {
			on = c.branch[c.node]
			repeated := c.tree.nodes[c.node].kind == claudeRepeated
			if c.node++; repeated {
				c.skipped++
				return true
			}
		}
		c.add(line, on)
		return !c.stopped
	})
	c.addResponse()
	c.endSide()
	return err
}

// claudeLine is a line of a transcript of Claude Code.
type claudeLine struct {
	kind, uuid             string
	at                     time.Time
	sidechain              bool
	machine                bool // not written by a person
	summary                bool // repeats earlier messages
	failed, aborted        bool
	cost                   jsonValue
	message, result, other jsonValue
}

// add adds a line, of which messages count only if they are on the branch.
func (c *claudeReader) add(text []byte, on bool) {
	line, ok := newClaudeLine(text)
	if !ok {
		c.addUnknown()
		return
	}
	isMessage := (line.kind == "user" || line.kind == "assistant") && line.message != nil
	switch {
	case isMessage && c.tree != nil && line.sidechain:
		c.addSide(line)
		return
	case isMessage && on:
		c.addMessage(line)
	case isMessage:
	case line.kind == "attachment" && on && c.addQueued(line):
	case line.kind == "cost-state":
		c.addCost(line.cost)
	case line.kind != "custom-title" && line.kind != "ai-title" && line.kind != "agent-name" && line.kind != "summary":
		c.skipped++
	}
}

func newClaudeLine(text []byte) (claudeLine, bool) {
	var l claudeLine
	whole := false
	for name, v := range jsonValue(text).fields(&whole) {
		switch string(name) {
		case "type":
			l.kind = string(v.plain())
		case "uuid":
			l.uuid = v.text()
		case "timestamp":
			l.at = v.time()
		case "isSidechain":
			l.sidechain = v.isTrue()
		case "isMeta":
			l.machine = l.machine || v.isTrue()
		case "promptSource":
			l.machine = l.machine || string(v.plain()) == "system"
		case "origin":
			l.machine = l.machine || isMachine(v)
		case "isCompactSummary":
			l.summary = v.isTrue()
		case "isApiErrorMessage":
			l.failed = v.isTrue()
		case "isAbortedMidStream":
			l.aborted = v.isTrue()
		case "totalCostUSD", "costUSD":
			l.cost = v
		case "message":
			if len(v) > 0 && v[0] == '{' {
				l.message = v
			}
		case "toolUseResult":
			l.result = v
		case "attachment":
			l.other = v
		}
	}
	return l, whole
}

// isMachine reports whether the origin of a prompt is a program.
func isMachine(origin jsonValue) bool {
	switch string(origin.field("kind").plain()) {
	case "task-notification", "auto-continuation", "coordinator", "observer-activity", "peer", "plugin":
		return true
	}
	return false
}

func (c *claudeReader) addMessage(line claudeLine) {
	if line.kind == "assistant" {
		c.addAssistant(line)
		return
	}
	c.addResponse()
	content := claudeContent(line.message.field("content"))
	if content == nil {
		c.addUnknown()
		return
	}
	c.completeClaudeTools(content, line)
	switch texts := content.texts(); {
	case line.summary && c.messages == 0:
		// What it summarizes is in another file.
		c.addReply(line.uuid, content.message(), line.at)
	case line.machine, line.summary:
		c.skipped++
	default:
		written := slices.DeleteFunc(texts, isInterruption)
		if len(written) < len(texts) {
			c.stopTurn(line.uuid, projection.Cancelled, "", line.at)
		}
		if isText(written) {
			c.addHuman(line.uuid, written, line.at)
		}
	}
}

// isInterruption reports whether a text is what the program writes when the person stops the agent.
func isInterruption(text string) bool {
	text = strings.TrimSpace(text)
	return text == "[Request interrupted by user]" || text == "[Request interrupted by user for tool use]"
}

// addQueued adds what a person wrote while the agent was working. It reports
// false for other attachments.
func (c *claudeReader) addQueued(line claudeLine) bool {
	var prompt jsonValue
	queued, machine := false, false
	for name, v := range line.other.fields(nil) {
		switch string(name) {
		case "type":
			queued = string(v.plain()) == "queued_command"
		case "prompt":
			prompt = v
		case "isMeta":
			machine = machine || v.isTrue()
		case "origin":
			machine = machine || isMachine(v)
		case "commandMode":
			machine = machine || string(v.plain()) == "task-notification"
		}
	}
	texts := claudeContent(prompt).texts()
	if !queued || machine || !isText(texts) {
		return false
	}
	c.addResponse()
	c.addHuman(line.uuid, texts, line.at)
	return true
}

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

// completeClaudeTools adds the results of tools in a message.
func (c *claudeReader) completeClaudeTools(content claudeContent, line claudeLine) {
	for block := range jsonValue(content).elements() {
		if string(block.field("type").plain()) != "tool_result" {
			continue
		}
		id := block.field("tool_use_id").text()
		if c.side != nil && c.side.toolID == id {
			c.endSide()
		}
		output, failure := content.result(block)
		if agentID := line.result.field("agentId").text(); agentID != "" || c.isCall(id) {
			if said := c.addSubagent(id, agentID); said != "" {
				output = said
			}
		}
		c.completeTool(id, output, failure, line.at)
	}
}

// addSide adds a line of a subagent that is in the file of the session, as
// older versions of the program wrote them. It belongs to the newest call.
func (c *claudeReader) addSide(line claudeLine) {
	if c.side == nil {
		c.addResponse()
		if c.turn == nil || len(c.turn.calls) == 0 || c.yield == nil {
			c.skipped++
			return
		}
		c.side = c.newSubagent(c.turn.calls[len(c.turn.calls)-1].id)
		c.side.claude = newClaudeReader(c.side.transcript, Source{}, nil, nil)
	}
	c.side.claude.addMessage(line)
}

func (c *claudeReader) endSide() {
	if c.side != nil {
		c.side.claude.addResponse()
		c.side.end()
		c.side = nil
	}
}

// claudeSubagents returns where the subagents of a session of Claude Code are. Their files are in a
// directory with the session's name, next to one that names the call; older versions
// wrote them next to the session.
func claudeSubagents(src Source) func(toolID, agentID string) []string {
	dir := filepath.Join(strings.TrimSuffix(src.Path, filepath.Ext(src.Path)), "subagents")
	var agents map[string]string // by id of the call; nil: not read yet
	return func(toolID, agentID string) []string {
		if agents == nil {
			agents = src.readClaudeAgents(dir)
		}
		if id, ok := agents[toolID]; ok {
			agentID = id
		}
		if !agentIDs().MatchString(agentID) {
			return nil
		}
		name := "agent-" + agentID + ".jsonl"
		return []string{filepath.Join(dir, name), filepath.Join(filepath.Dir(src.Path), name)}
	}
}

// readClaudeAgents returns the ids of the agents that the calls of a session started.
func (s Source) readClaudeAgents(dir string) map[string]string {
	agents := map[string]string{}
	for _, entry := range s.List(dir) {
		name, ok := strings.CutPrefix(entry.Name(), "agent-")
		id, isMeta := strings.CutSuffix(name, ".meta.json")
		if !ok || !isMeta {
			continue
		}
		data := s.readFile(filepath.Join(dir, entry.Name()), 1<<20)
		var meta struct{ ToolUseID string }
		if json.Unmarshal(data, &meta) == nil && meta.ToolUseID != "" {
			agents[meta.ToolUseID] = id
		}
	}
	return agents
}
