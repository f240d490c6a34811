package turns

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A task is the task that an event sets. The zero task is none.
type task struct {
	seq  uint64
	text string // in one line
}

const taskLength = 300 // code points of task.text

// taskMsg is the task of a row.
type taskMsg struct {
	ctx  context.Context
	task task
}

// readTask reads the task of a row, unless it is known.
func (p *Timeline) readTask(r projection.TimelineRow) tea.Cmd {
	if p.cancel != nil {
		p.cancel()
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if r.Task == p.task.seq {
		return nil
	}
	p.task = task{}
	if r.Task == 0 {
		return nil
	}
	ctx, s := p.ctx, p.list.Session()
	dir := p.app.Catalog.At(s.Dir())
	return func() tea.Msg { return taskMsg{ctx, readTask(ctx, dir, s.ID, r.Task)} }
}

// readTask returns the task that an event sets; none if it cannot be read, which the conversation says.
func readTask(ctx context.Context, dir *catalog.Dir, id string, seq uint64) task {
	r, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return task{}
	}
	defer r.Close()
	r.StopWith(ctx)
	at, err := r.Find(seq)
	if err != nil {
		return task{}
	}
	for e, err := range projection.Decoded(r.ScanAfter(at)) {
		if set, ok := e.Payload.(projection.TaskSet); err == nil && ok && set.Task != nil {
			return task{seq, markdown.OneLine(runecut.Prefix(*set.Task, 8*taskLength), taskLength)}
		}
		break
	}
	return task{}
}

// headLines are above the conversation: which row it ends with, the task, and who was queued.
func (p *Timeline) headLines(columns int) []ansi.Line {
	r, ok := p.list.Selected()
	if !ok {
		return []ansi.Line{rule(columns, "")}
	}
	facts := []string{"event " + fmt.Sprint(r.End)}
	if r.Seq < r.End {
		facts[0] = fmt.Sprintf("events %d–%d", r.Seq, r.End)
	}
	if !r.Time.IsZero() {
		facts = append(facts, r.Time.Local().Format("2006-01-02 15:04:05"))
	}
	facts = append(facts, figures(r)...)
	lines := []ansi.Line{rule(columns, strings.Join(facts, " · "))}
	if p.task.text != "" {
		lines = append(lines, ansi.Line{dimmed("Task   "), {Text: p.task.text}})
	}
	if len(r.Waiting) > 0 {
		lines = append(lines, append(ansi.Line{dimmed("Queue  ")}, p.names(r.Waiting)...))
	}
	for i, line := range lines {
		lines[i] = ansi.Cut(line, columns)
	}
	return lines
}

// rule is a horizontal line with a text in it.
func rule(columns int, text string) ansi.Line {
	if text != "" {
		text = "── " + text + " "
	}
	line := ansi.Cut(ansi.Line{dimmed(text)}, columns)
	return append(line, dimmed(strings.Repeat("─", max(columns-line.Columns(), 0))))
}

// names returns the names of members in their colours.
func (p *Timeline) names(ids []string) (line ansi.Line) {
	var t view.Transcript
	members := p.list.Members()
	t.AddMembers(members)
	for i, id := range ids {
		name := id
		if at := slices.IndexFunc(members, func(m projection.Member) bool { return m.ID == id }); at >= 0 {
			name = members[at].DisplayName
		}
		if i > 0 {
			line = append(line, ansi.Span{Text: ", "})
		}
		line = append(line, ansi.Span{Text: tty.SafeLine(name), Style: ansi.Style{Color: t.Color(id)}})
	}
	return line
}

// keys are the keys of the pane and what they do.
var keys = slices.Concat(MoveKeys, [][2]string{
	{"Enter", "fork the session after the row"},
	{"Tab", "scroll the conversation, or not"},
	{"Esc q t", "close the timeline"},
})
