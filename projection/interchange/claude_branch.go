package interchange

import (
	"cmp"
	"slices"
)

// A conversation of Claude Code branches where two lines name the same line as their parent, and a message of a
// person continues from each: it was rewound. Nothing else is a branch. Calls that run in parallel, and a reply that
// was tried again, are children of one line, too. A compaction, a cleared context and a part that is missing begin a
// new tree in the same file, which continues from the message before it.

// link sets the parents of the nodes whose lines name none that is known: the last message before them in the file.
// No node becomes its own ancestor.
func (t *claudeTree) link() {
	forest := t.forest()
	last := int32(-1)
	for i := range t.nodes {
		node := &t.nodes[i]
		if node.parent < 0 {
			node.after = true
			if last >= 0 && (forest == nil || forest.root(last) != int32(i)) {
				node.parent = last
				forest.join(int32(i), last)
			}
		}
		if node.kind.isMessage() {
			last = int32(i)
		}
	}
}

// forest has for each node a node above it, or itself. It is nil if every parent is before its node, so that there is
// no cycle. Cycles are removed: in each of them, one node has a parent that is after it.
func (t *claudeTree) forest() claudeForest {
	isAfter := func(i int) bool { return int(t.nodes[i].parent) >= i }
	first := 0
	for first < len(t.nodes) && !isAfter(first) {
		first++
	}
	if first == len(t.nodes) {
		return nil
	}
	t.unordered = true
	f := make(claudeForest, len(t.nodes))
	for i := range f {
		f[i] = int32(i)
		if parent := t.nodes[i].parent; parent >= 0 && !isAfter(i) {
			f[i] = parent
		}
	}
	for i := first; i < len(f); i++ {
		switch {
		case !isAfter(i):
		case f.root(t.nodes[i].parent) == int32(i):
			t.nodes[i].parent = -1
		default:
			f.join(int32(i), t.nodes[i].parent)
		}
	}
	return f
}

type claudeForest []int32

func (f claudeForest) root(i int32) int32 {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// join puts a root below another node.
func (f claudeForest) join(root, parent int32) {
	if f != nil {
		f[root] = parent
	}
}

// downward returns the nodes, parents before their children.
func (t *claudeTree) downward() []int32 {
	order := make([]int32, len(t.nodes))
	for i := range order {
		order[i] = int32(i)
	}
	if !t.unordered {
		return order
	}
	depths := make([]int32, len(t.nodes)) // 0: unknown; a root has 1
	var path []int32
	for i := range order {
		path = path[:0]
		j := int32(i)
		for ; j >= 0 && depths[j] == 0; j = t.nodes[j].parent {
			path = append(path, j)
		}
		depth := int32(0)
		if j >= 0 {
			depth = depths[j]
		}
		for _, j := range slices.Backward(path) {
			depth++
			depths[j] = depth
		}
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(depths[x], depths[y]) })
	return order
}

// claudeForks are the places where a conversation was rewound.
type claudeForks struct {
	order  []int32
	person []bool  // a person wrote at the node or below it
	forked []bool  // there are several children with a person
	newest []int32 // the last message at the node or below it
	chosen []int32 // the child with a person that has the newest message
}

func (t *claudeTree) forks() claudeForks {
	n := len(t.nodes)
	f := claudeForks{t.downward(), make([]bool, n), make([]bool, n), make([]int32, n), make([]int32, n)}
	for i, node := range t.nodes {
		f.newest[i], f.chosen[i] = -1, -1
		if node.kind.isMessage() {
			f.newest[i] = int32(i)
		}
		f.person[i] = node.kind == claudePerson
	}
	for _, i := range slices.Backward(f.order) {
		p := t.nodes[i].parent
		if p < 0 {
			continue
		}
		f.newest[p] = max(f.newest[p], f.newest[i])
		if !f.person[i] {
			continue
		}
		f.person[p] = true
		if t.nodes[i].after {
			continue
		}
		f.forked[p] = f.chosen[p] >= 0
		if f.chosen[p] < 0 || f.newest[i] > f.newest[f.chosen[p]] {
			f.chosen[p] = i
		}
	}
	return f
}

// A claudeBranch reports for each node whether it is on one branch of the conversation.
type claudeBranch []bool

// branch returns the branch with a node, and with the newest of those that begin below it; for -1 the newest of all.
func (t *claudeTree) branch(f claudeForks, with int32) claudeBranch {
	chosen := map[int32]int32{} // where it is not the newest
	for i := with; i >= 0; i = t.nodes[i].parent {
		if p := t.nodes[i].parent; p >= 0 && f.isAlternative(t, i) {
			chosen[p] = i
		}
	}
	on := make(claudeBranch, len(t.nodes))
	off := map[uint32]bool{} // replies with a line that is not on the branch: whether others are
	for _, i := range f.order {
		p := t.nodes[i].parent
		on[i] = p < 0 || on[p]
		if on[i] && f.isAlternative(t, i) {
			child, ok := chosen[p]
			on[i] = ok && child == i || !ok && f.chosen[p] == i
		}
		if reply := t.nodes[i].reply; !on[i] && reply != 0 {
			off[reply] = false
		}
	}
	if len(off) == 0 {
		return on
	}
	for i, node := range t.nodes {
		if _, ok := off[node.reply]; ok && on[i] {
			off[node.reply] = true
		}
	}
	for i, node := range t.nodes { // the other lines of its replies, and the results of their calls
		on[i] = on[i] || off[node.reply]
	}
	return on
}

// isAlternative reports whether a node is one of several ways in which a person continued.
func (f claudeForks) isAlternative(t *claudeTree, i int32) bool {
	p := t.nodes[i].parent
	return p >= 0 && !t.nodes[i].after && f.person[i] && f.forked[p]
}

// others returns the first nodes of the branches other than the newest one.
func (t *claudeTree) others(f claudeForks) (first []int32) {
	for i := range t.nodes {
		if f.isAlternative(t, int32(i)) && f.chosen[t.nodes[i].parent] != int32(i) {
			first = append(first, int32(i))
		}
	}
	return first
}

// firstMessage returns the first message of a branch that is at or below a node.
func (t *claudeTree) firstMessage(f claudeForks, b claudeBranch, node int32) int32 {
	below := make([]bool, len(t.nodes))
	first := int32(-1)
	for _, i := range f.order {
		p := t.nodes[i].parent
		below[i] = i == node || p >= 0 && below[p]
		if below[i] && b[i] && t.nodes[i].kind.isMessage() && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// leftOut returns the number of messages that are not on a branch.
func (t *claudeTree) leftOut(b claudeBranch) (n int) {
	reply := uint32(0)
	for i, node := range t.nodes {
		switch {
		case b[i]:
		case node.kind == claudePerson:
			n++
		case node.kind == claudeReply && node.reply != reply:
			n++
			reply = node.reply
		}
	}
	return n
}
