package sessions

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A memberReply is a turn of a member, and what it changed in files.
type memberReply struct {
	turn  *conversation.Item
	files []projection.FilesChanged
}

// memberReplyJSON is a line of the JSON output.
type memberReplyJSON struct {
	TurnID string `json:"turnId"`
	Panel  string `json:"panel,omitempty"` // the same for turns that were started at the same time
	projection.Entry
	Files []projection.FileChange `json:"files,omitempty"` // that the turn changed
}

// compareMembers prints the newest turns that two members had at the same time, or else the newest of each, and what
// they changed in files.
func (cmd *Diff) compareMembers(ctx context.Context, a *app.App) error {
	session, err := a.FindOrOpen(ctx, cmd.A)
	if err != nil {
		return err
	}
	replay := view.NewReplay(a, session)
	replies, err := newestReplies(ctx, replay, cmd.Member)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Stdout)
	switch {
	case cmd.Output == "json":
		for _, r := range replies {
			entry, _ := r.turn.Entry()
			line := memberReplyJSON{TurnID: r.turn.Turn.ID, Entry: entry, Files: r.changes()}
			if p := r.turn.Turn.Panel; p != nil {
				line.Panel = p.ID
			}
			if err := app.WriteJSON(out, line); err != nil {
				return err
			}
		}
	case tty.IsTerminal(a.Stdout):
		err = printReplies(out, replies, view.OutputStyle(a))
	default:
		fmt.Fprint(out, repliesText(replies))
	}
	return cmp.Or(err, out.Flush())
}

// newestReplies finds the turns to compare.
func newestReplies(ctx context.Context, r *view.Replay, names []string) (replies [2]memberReply, err error) {
	var c conversation.Conversation
	var newest, atOnce [2]*conversation.Item
	files := map[string][]projection.FilesChanged{}
	for item, err := range c.Read(projection.Decoded(r.Events(ctx))) {
		if err != nil {
			return replies, err
		}
		if changed, ok := item.Change.(projection.FilesChanged); ok {
			files[changed.TurnID] = append(files[changed.TurnID], changed)
		}
		if _, ok := item.Entry(); item.Kind != projection.RowTurn || !ok {
			continue
		}
		i := slices.IndexFunc(names, func(name string) bool { return isCalled(item.Speaker, name) })
		if i < 0 {
			continue
		}
		newest[i] = item
		if other := newest[1-i]; other != nil && inOnePanel(item, other) {
			atOnce = newest
		}
	}
	if atOnce[0] != nil {
		newest = atOnce
	}
	for i, item := range newest {
		if item == nil {
			return replies, app.Exit(app.ExitFailed, noReplyText(names[i], r.ID, c.Members()))
		}
		replies[i] = memberReply{item, files[item.Turn.ID]}
	}
	return replies, nil
}

func isCalled(s projection.Speaker, name string) bool {
	return name != "" &&
		(strings.EqualFold(name, s.ID) || strings.EqualFold(name, s.Name) || strings.EqualFold(name, s.DisplayName))
}

// inOnePanel reports whether two turns were started at the same time.
func inOnePanel(a, b *conversation.Item) bool {
	return a.Turn.Panel != nil && b.Turn.Panel != nil && a.Turn.Panel.ID == b.Turn.Panel.ID
}

// noReplyText is for a name that no member with a reply has.
func noReplyText(name, id string, members []projection.Speaker) app.Message {
	var agents []string
	for _, m := range members {
		if m.Type == projection.TypeAI {
			agents = append(agents, tty.SafeLine(m.Name))
		}
	}
	return app.Text("%s has no reply of %s. Its agents are: %s.", id, tty.SafeLine(name),
		cmp.Or(strings.Join(agents, ", "), "none")).With(app.To("read it", "replay", id))
}

// changes returns what the turn changed in files.
func (r memberReply) changes() (changes []projection.FileChange) {
	for _, f := range r.files {
		changes = append(changes, f.Changes...)
	}
	return changes
}

// filesText says what the turn changed in files, in one line.
func (r memberReply) filesText() string {
	var texts []string
	for _, f := range r.files {
		texts = append(texts, tty.SafeLine(f.Text()))
	}
	return cmp.Or(strings.Join(texts, "; "), "no changes of files are recorded")
}

// headText says which turns are compared.
func headText(replies [2]memberReply) string {
	a, b := replies[0].turn, replies[1].turn
	when := "not at the same time"
	if inOnePanel(a, b) {
		when = "at the same time"
	}
	return fmt.Sprintf("%s (turn of event %d) and %s (turn of event %d) answered %s.",
		tty.SafeLine(a.Speaker.DisplayName), a.First, tty.SafeLine(b.Speaker.DisplayName), b.First, when)
}

// bothText names the files that both turns changed; "": there are none.
func bothText(replies [2]memberReply) string {
	var both []string
	for _, c := range replies[0].changes() {
		same := func(other projection.FileChange) bool { return other.Path == c.Path }
		if slices.ContainsFunc(replies[1].changes(), same) {
			both = append(both, tty.SafeLine(strings.ToValidUTF8(string(c.Path), "\uFFFD")))
		}
	}
	if len(both) == 0 {
		return ""
	}
	return "Both changed: " + strings.Join(both, ", ")
}

// repliesText is the text for a pipe.
func repliesText(replies [2]memberReply) string {
	var b strings.Builder
	fmt.Fprintln(&b, headText(replies))
	for i, r := range replies {
		entry, _ := r.turn.Entry()
		mark := "<>"[i : i+1]
		fmt.Fprintf(&b, "%s %d  %s\n%s %s\n", mark, entry.Seq, view.MessageText(entry), mark, r.filesText())
	}
	if both := bothText(replies); both != "" {
		fmt.Fprintln(&b, both)
	}
	return b.String()
}

// printReplies prints what two turns said and did as the chat shows it: side by side, or the one below the other on a
// narrow terminal.
func printReplies(out *bufio.Writer, replies [2]memberReply, s view.Style) error {
	columns := s.Width - 1
	for _, text := range []string{headText(replies), bothText(replies)} {
		for _, line := range ansi.Wrap(ansi.Line{{Text: text, Style: dim}}, columns) {
			if text != "" {
				fmt.Fprintln(out, s.Profile.Encode(line))
			}
		}
	}
	fmt.Fprintln(out)
	return printBeside(out, replies[0].lines(s.Profile), replies[1].lines(s.Profile), s)
}

// lines returns a function that yields the turn, in lines of at most so many columns.
func (r memberReply) lines(p ansi.Profile) func(columns int) iter.Seq2[ansi.Line, error] {
	return func(columns int) iter.Seq2[ansi.Line, error] {
		var lines []ansi.Line
		for _, b := range new(view.Transcript).Item(r.turn) {
			lines = append(lines, view.Lines(b, view.Style{Width: columns + 1, Profile: p})...)
		}
		lines = append(lines, nil)
		lines = append(lines, ansi.Wrap(ansi.Line{{Text: r.filesText(), Style: dim}}, columns)...)
		return func(yield func(ansi.Line, error) bool) {
			for _, line := range lines {
				for _, part := range fitted(line, columns) {
					if !yield(part, nil) {
						return
					}
				}
			}
		}
	}
}
