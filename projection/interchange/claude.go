package interchange

import (
	"cmp"
	"fmt"
	"slices"
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
	s.conversation = func(yield func(journal.Record) bool) (ended, error) {
		t := &transcript{format: claudeFormat, id: id, yield: yield}
		c := newClaudeReader(t, src, tree, b)
		if err := c.read(); err != nil {
			return ended{}, err
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
		c.point = line.uuid
		c.addMessage(line)
	case isMessage:
	case line.kind == "attachment" && on && c.addQueued(line):
		c.point = "" // the program takes only messages
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
