package interchange

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// piLine is a line of a session of Pi: its header or an entry. The entries are a
// tree: it branches where the person went back. Version 1 has no ids.
type piLine struct {
	Type      string
	ID        string
	ParentID  string
	Timestamp timestamp
	CWD       string // of the header
	Name      string // of a session_info entry
	Message   piMessage
}

type piMessage struct {
	Role         string
	Content      piContent
	ToolCallID   string
	IsError      bool
	Model        string
	StopReason   string
	ErrorMessage string
	Usage        struct {
		Input, Output, CacheRead, CacheWrite int64
		Cost                                 struct{ Total float64 }
	}
}

// piContent is a text or a list of blocks. Anything else is empty.
type piContent []piBlock

type piBlock struct {
	Type      string
	Text      string
	Data      string // of an image, in base64
	MimeType  string
	ID, Name  string
	Arguments json.RawMessage
}

// UnmarshalJSON returns no error.
func (c *piContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = piContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []piBlock
	_ = json.Unmarshal(data, &blocks)
	*c = blocks
	return nil
}

// text returns the texts, with placeholders for images. Thinking is left out.
func (c piContent) text() string {
	var texts []string
	for _, block := range c {
		switch block.Type {
		case "text":
			texts = append(texts, block.Text)
		case "image":
			texts = append(texts, attachmentText("image", block.MimeType, stringValue(block.Data)))
		}
	}
	return strings.Join(texts, "\n\n")
}

// piFile matches a file that Pi put into a message of a person.
var piFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<file name="([^"\n]*)">.*?</file>`)
})

// piHuman returns what a person wrote, with placeholders for files.
func piHuman(text string) string {
	return piFile().ReplaceAllStringFunc(text, func(file string) string {
		return "[file: " + path.Base(piFile().FindStringSubmatch(file)[1]) + "]"
	})
}

// piSession returns the session of Pi that the branch with the last entry is, with
// the other branches.
func piSession(src Source, app projection.App) (*Session, error) {
	data, err := src.data()
	if err != nil {
		return nil, err
	}
	tree := &piTree{path: src.Path, app: app}
	tree.lines = decodeLines[piLine](data, &tree.invalid)
	active := tree.branch(tree.link())
	s, err := tree.session(active, "")
	if err != nil {
		return nil, err
	}
	owned := slices.Clone(active)
	for _, leaf := range tree.leaves() {
		first, conversation := leaf, false
		for i := leaf; i >= 0 && !owned[i]; i = tree.parents[i] {
			owned[i], first = true, i
			role := tree.lines[i].Message.Role
			conversation = conversation || role == "user" || role == "assistant"
		}
		if !conversation {
			continue
		}
		s.Branches = append(s.Branches, func() (*Session, error) {
			return tree.session(tree.branch(leaf), tree.lines[first].ID)
		})
	}
	return s, nil
}

// piTree are the entries of a session.
type piTree struct {
	path    string
	app     projection.App
	lines   []piLine
	parents []int // of each line; -1: none
	invalid int   // lines that are no entries
}

// link finds the parents of the entries and returns the last entry. If a parent is
// missing, or there are no ids, the parent is the entry before.
func (p *piTree) link() (leaf int) {
	at := map[string]int{}
	p.parents = make([]int, len(p.lines))
	leaf = -1
	for i, line := range p.lines {
		p.parents[i] = -1
		if line.Type == "session" {
			continue
		}
		if parent, known := at[line.ParentID]; known {
			p.parents[i] = parent
		} else if line.ParentID != "" || line.ID == "" {
			p.parents[i] = leaf
		}
		at[line.ID], leaf = i, i // so that a parent is before its children: there are no cycles
	}
	return leaf
}

// branch reports for each line whether it is an entry that leads to a leaf.
func (p *piTree) branch(leaf int) []bool {
	on := make([]bool, len(p.lines))
	for i := leaf; i >= 0; i = p.parents[i] {
		on[i] = true
	}
	return on
}

// leaves returns the entries without children.
func (p *piTree) leaves() (leaves []int) {
	followed := make([]bool, len(p.lines))
	for _, parent := range p.parents {
		if parent >= 0 {
			followed[parent] = true
		}
	}
	for i, line := range p.lines {
		if line.Type != "session" && !followed[i] {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// session returns the session of a branch, whose name distinguishes it from the
// active one, which has none.
func (p *piTree) session(branch []bool, name string) (*Session, error) {
	s, err := newSession(piFormat, p.path, p.app, func(t *transcript) { t.addPiBranch(p, branch) })
	if err == nil && name != "" {
		s.sourceID += "/" + name
		s.SetTeam(s.TeamID)
	}
	return s, err
}

func (t *transcript) addPiBranch(p *piTree, branch []bool) {
	t.toolsFollow, t.skipped = true, p.invalid
	for i, line := range p.lines {
		switch {
		case line.Type == "session":
			if t.id == "" {
				t.id, t.cwd = line.ID, line.CWD
				t.addTime(line.Timestamp.Time)
			}
		case line.Type == "session_info":
			t.title = line.Name
		case line.Type == "model_change", line.Type == "thinking_level_change":
		case line.Type == "message" && branch[i]:
			t.addPi(line)
		default:
			t.skipped++
		}
	}
}

func (t *transcript) addPi(line piLine) {
	m, at := line.Message, line.Timestamp.Time
	switch m.Role {
	case "user":
		t.addHuman(line.ID, piHuman(m.Content.text()), at)
	case "assistant":
		t.addPiReply(line)
	case "toolResult":
		output, failure := m.Content.text(), ""
		if m.IsError {
			output, failure = "", output
		}
		t.completeTool(m.ToolCallID, output, failure, at)
	default:
		t.skipped++
	}
}

func (t *transcript) addPiReply(line piLine) {
	m, at := line.Message, line.Timestamp.Time
	t.speak(agent(piFormat, "Pi"), m.Model)
	t.addReply(line.ID, m.Content.text(), at)
	for _, block := range m.Content {
		if block.Type == "toolCall" {
			t.beginTurn(line.ID, t.timeOf(at))
			t.startTool(block.ID, block.Name, block.Arguments, at)
		}
	}
	u := m.Usage
	t.addUsage(validUsage(projection.Usage{
		Input: u.Input, CachedRead: u.CacheRead, CachedWrite: u.CacheWrite, Output: u.Output,
	}, u.Cost.Total))
	switch m.StopReason {
	case "error", "aborted":
		t.beginTurn(line.ID, t.timeOf(at))
	}
	switch m.StopReason {
	case "error":
		t.stopTurn(line.ID, projection.Failed, m.ErrorMessage, at)
	case "aborted":
		t.stopTurn(line.ID, projection.Cancelled, "", at)
	}
}

// validUsage returns usage with its cost in US dollars, 0 being unknown, and
// without invalid numbers.
func validUsage(u projection.Usage, dollars float64) projection.Usage {
	for _, n := range []*int64{&u.Input, &u.CachedRead, &u.CachedWrite, &u.Output, &u.Thought} {
		*n = max(0, *n)
	}
	if cost := (projection.Cost{Amount: dollars, Currency: "USD"}); dollars > 0 && cost.Valid() {
		u.Cost = &cost
	}
	return u
}

// milliseconds is a time in milliseconds since 1970; an invalid one is the zero
// time.
type milliseconds struct{ time.Time }

// UnmarshalJSON returns no error.
func (m *milliseconds) UnmarshalJSON(data []byte) error {
	var n int64
	if json.Unmarshal(bytes.TrimSpace(data), &n) == nil && n > 0 {
		m.Time, _ = parseTime(projection.FormatTime(time.UnixMilli(n)))
	}
	return nil
}
