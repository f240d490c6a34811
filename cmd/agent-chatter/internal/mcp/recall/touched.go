package recall

import (
	"context"
	"fmt"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// touchedInput has the arguments of who_touched.
type touchedInput struct {
	Path      string `json:"path" jsonschema:"file or directory: an absolute path, or the end of a path such as src/main.go"`
	Since     string `json:"since,omitempty" jsonschema:"earliest time such as 2026-11-21, or its maximum age such as 7d or 12h"`
	Directory string `json:"directory,omitempty" jsonschema:"only sessions that were started in this directory: its absolute path"`
	Limit     int    `json:"limit,omitempty" jsonschema:"maximum number of calls and turns"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"nextCursor of the call before, with the same other arguments"`
}

// touchedOutput is the result of who_touched.
type touchedOutput struct {
	Notice     string   `json:"notice" jsonschema:"how to treat the quotations"`
	Calls      []Touch  `json:"calls" jsonschema:"tool calls and turns, those of the most recently updated session first"`
	Searched   int      `json:"searched" jsonschema:"number of sessions that the arguments select"`
	Problems   []string `json:"problems,omitempty" jsonschema:"what could not be searched, such as damaged sessions"`
	NextCursor string   `json:"nextCursor,omitempty" jsonschema:"cursor for the next call; missing: nothing is left"`
}

// A Touch is a tool call that named the file, or a turn that changed it.
type Touch struct {
	Cite    string `json:"cite" jsonschema:"session and event, ID#seq"`
	Session string `json:"session" jsonschema:"id of the session"`
	Seq     uint64 `json:"seq" jsonschema:"number of the event"`
	Turn    uint64 `json:"turn,omitempty" jsonschema:"number of the event that began the turn; missing: unknown"`
	Time    string `json:"time,omitempty"`
	Changed bool   `json:"changed,omitempty" jsonschema:"the call is an edit, or the turn changed the file: not only a look at it"`
	Title   string `json:"title" jsonschema:"title of the session, quoted"`
	Member  string `json:"member,omitempty" jsonschema:"name of the member whose turn it was, quoted"`
	Call    string `json:"call,omitempty" jsonschema:"tool and input, quoted; missing: see changes"`
	Changes string `json:"changes,omitempty" jsonschema:"what differs after the turn, by any tool or program, quoted"`
}

const touchedTool = "who_touched"

// Touched is who_touched.
func (r *Recall) Touched(ctx context.Context, in touchedInput) (touchedOutput, string, error) {
	at := in.Cursor
	in.Cursor = ""
	t := &touching{walk: r.newWalk(touchedTool, in), limit: in.Limit}
	since, err := since(in.Since, time.Now())
	if err == nil {
		err = t.start(at)
	}
	if err == nil && strings.Trim(path.Clean(strings.ReplaceAll(in.Path, `\`, "/")), "./") == "" {
		err = failure("path takes a file or a directory, such as src/main.go. Call who_touched with one.")
	}
	if err != nil {
		return t.out, "", err
	}
	entries, err := r.entries(ctx, "", catalog.Query{CWD: in.Directory})
	if err != nil {
		return t.out, "", err
	}
	t.out.Calls, t.out.Searched = []Touch{}, len(entries)
	q := search.FileQuery{Path: in.Path, Since: since}
	err = t.run(ctx, entries, func(list []*catalog.Entry) (bool, error) {
		return t.take(ctx, search.Touches(ctx, r.app.Catalog, list, q)), nil
	}, func(s catalog.Session, seq uint64) (bool, error) {
		return t.take(ctx, search.TouchesAfter(ctx, r.app.Catalog, s, seq, q)), nil
	})
	if err != nil {
		return t.out, "", err
	}
	t.out.Notice, t.out.Problems, t.out.NextCursor = quoteNotice, t.allProblems(ctx), t.next
	return t.out, touchedText(t.out), nil
}

// A touching is a call of who_touched that runs.
type touching struct {
	*walk
	limit int
	out   touchedOutput
	size  int // of the quotations
}

// take adds tool calls to the result, and reports whether it is full.
func (t *touching) take(ctx context.Context, calls iter.Seq2[search.Touch, error]) (full bool) {
	for call, err := range calls {
		if err != nil {
			t.report(err)
			continue
		}
		secrets := t.secrets(call.Session.Source)
		touch := Touch{
			Cite: cite(call.Session.ID, call.Seq), Session: call.Session.ID, Seq: call.Seq, Time: timeText(call.Time),
			Changed: call.Changes != nil || view.ChangesIn(call.Call.Input) != nil,
			Title:   quotedLine(titleOf(secrets, call.Session)),
		}
		if call.Changes != nil {
			touch.Changes = quotedLine(short(secrets.Text(changesText(call.Changes)), maxCall))
		} else {
			input := secrets.Text(view.MainInput(call.Call.Input))
			touch.Call = quotedLine(short(secrets.Text(call.Call.Name), maxTitle) + ": " + short(input, maxCall))
		}
		t.size += len(touch.Title) + len(touch.Call) + len(touch.Changes)
		if len(t.out.Calls) > 0 && (len(t.out.Calls) == t.limit || t.size > maxResult) {
			t.stopAt(t.last)
			return true
		}
		turn := t.turnOf(ctx, call, secrets)
		touch.Turn, touch.Member = turn.seq, turn.member
		t.out.Calls = append(t.out.Calls, touch)
		t.last = positionAfter(call.Session, call.Seq)
	}
	return false
}

// changesText describes changes of files.
func changesText(changes []projection.FileChange) string {
	var texts []string
	for _, c := range changes {
		text := c.Text()
		if c.Plus != nil && c.Minus != nil {
			text += fmt.Sprintf(" +%d \u2212%d", *c.Plus, *c.Minus)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// A turn is the beginning of a turn. The zero turn is unknown.
type turn struct {
	seq    uint64
	member string // quoted
}

// turnOf returns the turn of a tool call.
func (t *touching) turnOf(ctx context.Context, call search.Touch, secrets *redact.Redactor) turn {
	r, err := t.app.Catalog.At(call.Session.Dir()).Journals().Reader(call.Session.ID, journal.Position{})
	if err != nil {
		return turn{}
	}
	defer r.Close()
	found := conversation.FindTurn(ctx, r, call.TurnID, call.Seq)
	if found == nil {
		return turn{}
	}
	return turn{found.Began, quotedLine(name(secrets, found.Speaker))}
}

func touchedText(out touchedOutput) string {
	t := newText()
	for _, c := range out.Calls {
		kind := "named the file"
		what := c.Call
		switch {
		case c.Changes != "":
			kind, what = "the turn changed the file", c.Changes
		case c.Changed:
			kind = "changed the file"
		}
		if c.Turn > 0 {
			kind += fmt.Sprintf("  in the turn that begins at #%d", c.Turn)
		}
		t.say("%s  %s  %s", c.Cite, c.Time, kind)
		fmt.Fprintf(t, "%s, in %s\n%s\n", orUnknown(c.Member), unquoted(c.Title), what)
	}
	switch {
	case len(out.Calls) == 0:
		t.say("No tool call names the file and no turn changed it in %s. Try the end of its path, or search_sessions.",
			app.Count(out.Searched, "session"))
	default:
		t.say("To read the turn, call read_session with the ID#seq as session.")
	}
	return t.end(out.Problems, out.NextCursor, touchedTool)
}

func orUnknown(member string) string {
	if member == "" {
		return quotedLine("an agent")
	}
	return member
}
