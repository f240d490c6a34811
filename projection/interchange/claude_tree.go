package interchange

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"time"
)

// claudeTree is what a first reading of a transcript of Claude Code finds: its
// header, and the tree that its lines form.
type claudeTree struct {
	sessionID, cwd string
	title          claudeTitle

	lines     int
	nodes     []claudeNode
	messages  bool // a line is a message of the main conversation
	sidechain bool // a line is a message of a subagent
	unknown   int  // lines of an unknown form
	unordered bool // a line is before its parent
}

// claudeNode is a line with a UUID. It has 24 bytes: a transcript of 500 MB may have
// millions of lines.
type claudeNode struct {
	at     int64 // Unix time in microseconds; 0: none
	line   int32
	parent int32  // -1: none
	reply  uint32 // hash of the id of the API's response that it is a part of, or that it has results for; 0: none
	kind   claudeKind
	after  bool // the parent is only the message before it in the file: the line names none that is known
}

type claudeKind uint8

const (
	claudeOther    claudeKind = iota
	claudeRepeated            // the same message as a line before it
	claudeProgram             // a message of a user that no person wrote
	claudeResults             // a message with results of tools, perhaps with a text beside them
	claudePerson              // a message that a person wrote
	claudeCalls               // a message of the agent without a text
	claudeReply               // a message of the agent with a text
)

func (k claudeKind) isMessage() bool { return k >= claudeProgram }

// claudeTitle has the newest title of each kind.
type claudeTitle struct{ custom, generated, summary string }

// readClaudeTree reads the tree of a transcript.
func readClaudeTree(src Source) (*claudeTree, error) {
	b := &claudeTreeBuilder{seed: maphash.MakeSeed()}
	err := src.eachLine(func(n int, line []byte) bool {
		b.tree.lines = n + 1
		b.add(n, line)
		return len(b.tree.nodes) <= maxSourceNodes
	})
	switch {
	case err == nil && len(b.tree.nodes) > maxSourceNodes:
		err = &LimitError{"the transcript", maxSourceNodes, "lines with ids"}
	case err == nil && len(b.missing) > 0:
		err = b.findMissing(src)
	}
	if err != nil {
		return nil, err
	}
	b.tree.link()
	tree := b.tree // without what only its building needs
	return &tree, nil
}

type claudeTreeBuilder struct {
	tree    claudeTree
	seed    maphash.Seed
	missing []claudeLink
	nodes   nearby[claudeSeen] // by UUIDs
	calls   nearby[uint32]     // the replies that calls are a part of, by the ids of the calls
}

// claudeSeen is a node that a later line may name or repeat.
type claudeSeen struct {
	node    int32
	content uint32 // hash of that of its message, of which a repeated line may have other tokens
}

// claudeLink is the parent of a node that was not found near it.
type claudeLink struct {
	parent uint64 // hash of its UUID
	node   int32
}

// nearby has the newest values by hashes, and those before: nearly everything that a line names is near.
type nearby[T any] struct{ newest, older map[uint64]T }

// maxNearby is the number of values in each map.
const maxNearby = 1 << 16

func (m *nearby[T]) find(hash uint64) (T, bool) {
	if v, ok := m.newest[hash]; ok {
		return v, true
	}
	v, ok := m.older[hash]
	return v, ok
}

func (m *nearby[T]) add(hash uint64, v T) {
	if m.newest == nil || len(m.newest) == maxNearby {
		m.newest, m.older = map[uint64]T{}, m.newest
	}
	m.newest[hash] = v
}

func (b *claudeTreeBuilder) hash(text []byte) uint64 { return maphash.Bytes(b.seed, text) }

// replyOf returns the hash of the id of a response; 0 if there is no id.
func (b *claudeTreeBuilder) replyOf(id []byte) uint32 {
	if len(id) == 0 {
		return 0
	}
	return max(1, uint32(b.hash(id)))
}

// claudeHead is what the tree needs of a line. It is a part of the line.
type claudeHead struct {
	kind, uuid, parent      []byte
	timestamp               jsonValue
	sidechain, machine      bool
	message, sessionID, cwd jsonValue
	title                   claudeTitle
}

func newClaudeHead(line []byte) (claudeHead, bool) {
	var h claudeHead
	whole := false
	for name, v := range jsonValue(line).fields(&whole) {
		switch string(name) {
		case "type":
			h.kind = v.plain()
		case "uuid":
			h.uuid = v.plain()
		case "parentUuid":
			h.parent = v.plain()
		case "isSidechain":
			h.sidechain = v.isTrue()
		case "isMeta", "isCompactSummary":
			h.machine = h.machine || v.isTrue()
		case "promptSource":
			h.machine = h.machine || string(v.plain()) == "system"
		case "origin":
			h.machine = h.machine || isMachine(v)
		case "timestamp":
			h.timestamp = v
		case "message":
			h.message = v
		case "sessionId":
			h.sessionID = v
		case "cwd":
			h.cwd = v
		case "customTitle":
			h.title.custom = v.text()
		case "aiTitle", "agentName":
			h.title.generated = v.text()
		case "summary":
			h.title.summary = v.text()
		}
	}
	return h, whole
}

// isMessage reports whether the line is a message of the main conversation.
func (h claudeHead) isMessage() bool {
	return (string(h.kind) == "user" || string(h.kind) == "assistant") && !h.sidechain &&
		len(h.message) > 0 && h.message[0] == '{'
}

func (b *claudeTreeBuilder) add(n int, line []byte) {
	h, whole := newClaudeHead(line)
	if !whole {
		b.tree.unknown++
		return
	}
	t := &b.tree.title
	t.custom, t.generated = cmp.Or(h.title.custom, t.custom), cmp.Or(h.title.generated, t.generated)
	if string(h.kind) == "summary" {
		t.summary = cmp.Or(h.title.summary, t.summary)
	}
	isMessage := h.isMessage()
	b.tree.sidechain = b.tree.sidechain || h.sidechain
	if len(h.uuid) == 0 && !isMessage {
		return
	}
	node := claudeNode{line: int32(n), parent: -1}
	if at := h.timestamp.time(); !at.IsZero() {
		node.at = at.UnixMicro()
	}
	if isMessage {
		b.tree.messages = true
		b.classify(&node, h)
		b.tree.sessionID = cmp.Or(b.tree.sessionID, h.sessionID.text())
		b.tree.cwd = cmp.Or(b.tree.cwd, h.cwd.text())
	}
	b.addNode(node, h)
}

// classify sets the kind and the reply of a message.
func (b *claudeTreeBuilder) classify(node *claudeNode, h claudeHead) {
	content := claudeContent(h.message.field("content"))
	if string(h.kind) == "assistant" {
		node.kind = claudeCalls
		if content.message() != "" {
			node.kind = claudeReply
		}
		node.reply = b.replyOf(h.message.field("id").plain())
		if node.reply == 0 {
			node.reply = b.replyOf(h.uuid)
		}
		for id := range content.ids("tool_use", "id") {
			b.calls.add(b.hash(id), node.reply)
		}
		return
	}
	for id := range content.ids("tool_result", "tool_use_id") {
		node.kind = claudeResults
		if reply, ok := b.calls.find(b.hash(id)); ok {
			node.reply = reply
		}
	}
	if node.kind != claudeResults {
		node.kind = claudeProgram
		if _, ok := content.person(); ok && !h.machine {
			node.kind = claudePerson
		}
	}
}

// addNode adds a node with the links that its line has.
func (b *claudeTreeBuilder) addNode(node claudeNode, h claudeHead) {
	n := int32(len(b.tree.nodes))
	if len(h.uuid) > 0 {
		seen := claudeSeen{n, uint32(b.hash(h.message.field("content")))}
		id := b.hash(h.uuid)
		if before, ok := b.nodes.find(id); ok && before.content == seen.content {
			node.kind, node.reply = claudeRepeated, 0
		} else {
			b.nodes.add(id, seen)
		}
	}
	if len(h.parent) > 0 && !bytes.Equal(h.parent, h.uuid) {
		id := b.hash(h.parent)
		if parent, ok := b.nodes.find(id); ok {
			node.parent = parent.node
		} else {
			b.missing = append(b.missing, claudeLink{id, n})
		}
	}
	b.tree.nodes = append(b.tree.nodes, node)
}

// findMissing reads the transcript again to find parents that were not near their
// nodes. The UUIDs of all lines would need more memory than the tree.
func (b *claudeTreeBuilder) findMissing(src Source) error {
	b.nodes, b.calls = nearby[claudeSeen]{}, nearby[uint32]{}
	byParent := func(l claudeLink, id uint64) int { return cmp.Compare(l.parent, id) }
	slices.SortFunc(b.missing, func(x, y claudeLink) int { return byParent(x, y.parent) })
	nodes, node := b.tree.nodes, 0
	return src.eachLine(func(n int, line []byte) bool {
		if node == len(nodes) || n >= b.tree.lines {
			return false
		}
		if int(nodes[node].line) != n {
			return true
		}
		id := b.hash(jsonValue(line).field("uuid").plain())
		first, _ := slices.BinarySearchFunc(b.missing, id, byParent)
		for _, l := range b.missing[first:] {
			if l.parent != id {
				break
			}
			if int(l.node) != node && nodes[l.node].parent < 0 {
				nodes[l.node].parent = int32(node)
			}
		}
		node++
		return true
	})
}

// span returns the times of the first and the last message of a branch.
func (t *claudeTree) span(b claudeBranch) (created, updated time.Time) {
	for i, node := range t.nodes {
		if !node.kind.isMessage() || node.at == 0 || b != nil && !b[i] {
			continue
		}
		at := time.UnixMicro(node.at).UTC()
		if created.IsZero() || at.Before(created) {
			created = at
		}
		updated = later(updated, at)
	}
	return created, updated
}
