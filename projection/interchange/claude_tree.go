package interchange

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"
)

// claudeTree is what a first reading of a transcript of Claude Code finds: its
// header, and the tree that its lines form. The tree branches where the
// conversation was rewound and where tools ran in parallel.
type claudeTree struct {
	sessionID, cwd string
	title          claudeTitle

	lines     int
	nodes     []claudeNode
	sidechain bool // a line is a message of a subagent
	leaf      int  // the last message that is not only results of tools; -1: none
}

// claudeNode is a line with a UUID. It has 24 bytes: a transcript of 500 MB may have
// millions of lines.
type claudeNode struct {
	at      int64 // Unix time in microseconds; 0: none
	line    int32
	parent  int32   // -1: none
	message int32   // the nearest message above; -1: none
	reply   [3]byte // hash of the id of the API's response; 0: none
	kind    claudeKind
}

type claudeKind uint8

const (
	claudeOther   claudeKind = iota
	claudeMessage            // of the main conversation
	claudeResults            // a message with nothing but results of tools
)

func (k claudeKind) isMessage() bool { return k != claudeOther }

// claudeTitle has the newest title of each kind.
type claudeTitle struct{ custom, generated, summary string }

// missingParent is the parent of a line whose parent is not in the file.
const missingParent = -2

// readClaudeTree reads the tree of a transcript.
func readClaudeTree(src Source) (*claudeTree, error) {
	b := &claudeTreeBuilder{tree: claudeTree{leaf: -1}, seed: maphash.MakeSeed(), newest: map[uint64]int32{}}
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
	b.tree.linkMessages()
	tree := b.tree // without what only its building needs
	return &tree, nil
}

type claudeTreeBuilder struct {
	tree    claudeTree
	seed    maphash.Seed
	missing []claudeLink
	// The nodes of the newest UUIDs, and of those before: nearly every parent is near.
	newest, older map[uint64]int32
}

// claudeLink is the parent of a node that was not found near it.
type claudeLink struct {
	parent uint64 // hash of its UUID
	node   int32
}

// nearby is the number of UUIDs that are searched for a parent first.
const nearby = 1 << 16

// find returns the node of a UUID.
func (b *claudeTreeBuilder) find(id uint64) (int32, bool) {
	if i, ok := b.newest[id]; ok {
		return i, true
	}
	i, ok := b.older[id]
	return i, ok
}

// claudeHead is what the tree needs of a line. It is a part of the line.
type claudeHead struct {
	kind, uuid, parent, logicalParent []byte
	timestamp                         []byte
	sidechain                         bool
	message, sessionID, cwd           jsonValue
	title                             claudeTitle
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
		case "logicalParentUuid":
			h.logicalParent = v.plain()
		case "isSidechain":
			h.sidechain = v.isTrue()
		case "timestamp":
			h.timestamp = v.plain()
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
	node := claudeNode{line: int32(n), parent: -1, message: -1}
	if at, err := parseTime(string(h.timestamp)); err == nil {
		node.at = at.UnixMicro()
	}
	if isMessage {
		node.kind = claudeMessage
		if id := h.message.field("id").plain(); len(id) > 0 {
			hash := maphash.Bytes(b.seed, id)
			node.reply = [3]byte{byte(hash), byte(hash >> 8), byte(hash >> 16)}
		}
		if string(h.kind) == "user" && claudeContent(h.message.field("content")).onlyResults() {
			node.kind = claudeResults
		}
		if b.tree.leaf < 0 || node.kind == claudeMessage {
			b.tree.leaf = len(b.tree.nodes)
		}
		b.tree.sessionID = cmp.Or(b.tree.sessionID, h.sessionID.text())
		b.tree.cwd = cmp.Or(b.tree.cwd, h.cwd.text())
	}
	b.tree.nodes = append(b.tree.nodes, node)
	b.addLinks(h)
}

// addLinks adds the UUIDs of the newest node and of its parent.
func (b *claudeTreeBuilder) addLinks(h claudeHead) {
	n := int32(len(b.tree.nodes) - 1)
	parent, missing := h.parent, int32(missingParent)
	if len(parent) == 0 { // it is from before a compaction, which may be in another file
		parent, missing = h.logicalParent, -1
	}
	if len(parent) > 0 {
		id := maphash.Bytes(b.seed, parent)
		i, ok := b.find(id)
		if !ok {
			i = missing
			b.missing = append(b.missing, claudeLink{id, n})
		}
		b.tree.nodes[n].parent = i
	}
	if len(h.uuid) > 0 {
		if len(b.newest) == nearby {
			b.newest, b.older = map[uint64]int32{}, b.newest
		}
		b.newest[maphash.Bytes(b.seed, h.uuid)] = n
	}
}

// findMissing reads the transcript again to find parents that were not near their
// nodes. The UUIDs of all lines would need more memory than the tree.
func (b *claudeTreeBuilder) findMissing(src Source) error {
	b.newest, b.older = nil, nil
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
		id := maphash.Bytes(b.seed, jsonValue(line).field("uuid").plain())
		first, _ := slices.BinarySearchFunc(b.missing, id, byParent)
		for _, l := range b.missing[first:] {
			if l.parent != id {
				break
			}
			if int(l.node) != node {
				nodes[l.node].parent = int32(node)
			}
		}
		node++
		return true
	})
}

// linkMessages sets the messages above the nodes.
func (t *claudeTree) linkMessages() {
	nodes := t.nodes
	const unknown, visiting = -2, -3
	for i := range nodes {
		nodes[i].message = unknown
	}
	var path []int32
	for i := range nodes {
		path = path[:0]
		above := int32(-1)
		for j := int32(i); j >= 0; j = nodes[j].parent {
			if nodes[j].message != unknown {
				above = nodes[j].message // -3: a cycle
				break
			}
			nodes[j].message = visiting
			path = append(path, j)
			if p := nodes[j].parent; p >= 0 && nodes[p].kind.isMessage() {
				above = p
				break
			}
		}
		for _, j := range path {
			nodes[j].message = max(above, -1)
		}
	}
}

// A claudeBranch is the set of nodes from the first message to a leaf, with the
// results of tools that ran in parallel; nil: all nodes.
type claudeBranch []bool

// branch returns the branch of a leaf.
func (t *claudeTree) branch(leaf int) claudeBranch {
	on := make(claudeBranch, len(t.nodes))
	for i := int32(leaf); i >= 0 && !on[i]; i = t.nodes[i].parent {
		on[i] = true
		if t.nodes[i].parent == missingParent {
			return nil
		}
	}
	for i, node := range t.nodes {
		// Calls of one response and their results are not in one line of descent.
		above := node.message
		if above >= 0 && on[above] &&
			(node.kind == claudeResults || node.reply != [3]byte{} && node.reply == t.nodes[above].reply) {
			on[i] = true
		}
	}
	return on
}

func (b claudeBranch) has(i int) bool { return b == nil || b[i] }

// eachOtherLeaf passes the last messages of the branches other than the given one to a
// function, each with the first node that only it has.
func (t *claudeTree) eachOtherLeaf(active claudeBranch, each func(leaf, first int)) {
	if active == nil {
		return
	}
	followed := make([]bool, len(t.nodes))
	for i, node := range t.nodes {
		if node.kind.isMessage() && node.message >= 0 && int(node.message) != i {
			followed[node.message] = true
		}
	}
	owned := slices.Clone(active)
	orphans := make([]bool, len(t.nodes)) // whose first message is not in the file
	for i, node := range t.nodes {
		orphans[i] = node.parent == missingParent || node.parent >= 0 && orphans[node.parent]
		if !node.kind.isMessage() || followed[i] || owned[i] || orphans[i] {
			continue
		}
		first, conversation := i, false
		for j := int32(i); j >= 0 && !owned[j]; j = t.nodes[j].message {
			owned[j], first = true, int(j)
			conversation = conversation || t.nodes[j].kind == claudeMessage
		}
		if conversation {
			each(i, first)
		}
	}
}

// span returns the times of the first and the last message of a branch.
func (t *claudeTree) span(b claudeBranch) (created, updated time.Time) {
	for i, node := range t.nodes {
		if !node.kind.isMessage() || node.at == 0 || !b.has(i) {
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
