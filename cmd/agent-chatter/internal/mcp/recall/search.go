package recall

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// searchInput has the arguments of search_sessions.
type searchInput struct {
	Query     string `json:"query" jsonschema:"the text to find; case-sensitive if it has capital letters"`
	Regex     bool   `json:"regex,omitempty" jsonschema:"read query as a regular expression in the syntax of RE2"`
	Speaker   string `json:"speaker,omitempty" jsonschema:"only messages of this speaker: id or name"`
	Since     string `json:"since,omitempty" jsonschema:"earliest time of a message such as 2026-11-21, or its maximum age such as 7d or 12h"`
	Directory string `json:"directory,omitempty" jsonschema:"only sessions that were started in this directory: its absolute path"`
	Session   string `json:"session,omitempty" jsonschema:"only this session: its id"`
	Limit     int    `json:"limit,omitempty" jsonschema:"maximum number of messages"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"nextCursor of the call before, with the same other arguments"`
}

// searchOutput is the result of search_sessions.
type searchOutput struct {
	Notice     string      `json:"notice" jsonschema:"how to treat the quotations"`
	Hits       []searchHit `json:"hits" jsonschema:"messages, those of the most recently updated session first"`
	Searched   int         `json:"searched" jsonschema:"number of sessions that the arguments select"`
	Problems   []string    `json:"problems,omitempty" jsonschema:"what could not be searched, such as damaged sessions"`
	NextCursor string      `json:"nextCursor,omitempty" jsonschema:"cursor for the next call; missing: nothing is left"`
}

// A searchHit is a message that has the text.
type searchHit struct {
	Cite    string `json:"cite" jsonschema:"session and event, ID#seq"`
	Session string `json:"session" jsonschema:"id of the session"`
	Seq     uint64 `json:"seq" jsonschema:"number of the event"`
	Time    string `json:"time,omitempty"`
	Partial bool   `json:"partial,omitempty" jsonschema:"it is the text of an unfinished reply"`
	Title   string `json:"title" jsonschema:"title of the session, quoted"`
	Speaker string `json:"speaker" jsonschema:"name of the speaker, quoted"`
	Quote   string `json:"quote" jsonschema:"the line around the match, quoted"`
}

// Search is search_sessions.
func (r *Recall) Search(ctx context.Context, in searchInput) (searchOutput, string, error) {
	at := in.Cursor
	in.Cursor = ""
	s := &searching{walk: r.newWalk(searchTool, in), limit: in.Limit}
	q := search.Query{Text: in.Query, Regexp: in.Regex, Speaker: in.Speaker}
	if n := q.Steps(); n > maxSteps {
		return s.out, "", failure("The expression has %d steps, and the limit is %d. Repeat less in it.", n, maxSteps)
	}
	var err error
	q.Since, err = since(in.Since, time.Now())
	if err == nil {
		err = s.start(at)
	}
	if err != nil {
		return s.out, "", err
	}
	entries, err := r.entries(ctx, in.Session, catalog.Query{CWD: in.Directory})
	if err != nil {
		return s.out, "", err
	}
	s.out.Hits, s.out.Searched = []searchHit{}, len(entries)
	err = s.run(ctx, entries, func(list []*catalog.Entry) (bool, error) {
		hits, err := search.In(ctx, r.app.Catalog, list, q)
		return err == nil && s.take(hits), err
	}, func(session catalog.Session, seq uint64) (bool, error) {
		hits, err := search.After(ctx, r.app.Catalog, session, seq, q)
		return err == nil && s.take(hits), err
	})
	if err != nil {
		return s.out, "", err
	}
	s.out.Notice, s.out.Problems, s.out.NextCursor = quoteNotice, s.allProblems(ctx), s.next
	return s.out, s.text(q), nil
}

const searchTool = "search_sessions"

// maxSteps is how many instructions a regular expression may have. Each character of a text may take as many steps, and
// a match in one message, which may have megabytes, cannot be interrupted.
const maxSteps = 250

// entries returns the sessions of a query, or the one of them with a name.
func (r *Recall) entries(ctx context.Context, name string, q catalog.Query) ([]*catalog.Entry, error) {
	list, err := r.list(ctx, q)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return list.Matches, nil
	}
	s, _, err := r.find(ctx, name)
	return slices.DeleteFunc(list.Matches, func(e *catalog.Entry) bool { return e.Key() != s.Key() }), err
}

// since returns the time of an argument: a time, or an age. Zero: it is missing.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	var age home.Days
	if age.UnmarshalText([]byte(text)) == nil {
		return now.Add(-time.Duration(age)), nil
	}
	if t, ok := view.ParseTime(text); ok {
		return t, nil
	}
	return time.Time{}, failure("since takes a time such as 2026-11-21, or an age such as 7d or 12h.")
}

// A searching is a call of search_sessions that runs.
type searching struct {
	*walk
	limit int
	out   searchOutput
	size  int // of the quotations
}

// take adds hits to the result, and reports whether it is full.
func (s *searching) take(hits iter.Seq2[search.Hit, error]) (full bool) {
	for hit, err := range hits {
		if err != nil {
			s.report(err)
			continue
		}
		secrets := s.secrets(hit.Session.Source)
		hit, ok := hit.With(contentWithout(secrets, hit))
		if !ok {
			continue // only a secret has the text
		}
		h := searchHit{
			Cite: cite(hit.Session.ID, hit.Seq), Session: hit.Session.ID, Seq: hit.Seq, Time: timeText(hit.Time),
			Partial: hit.Partial, Title: quotedLine(titleOf(secrets, hit.Session)),
			Speaker: quotedLine(name(secrets, hit.Speaker)), Quote: strings.TrimSuffix(quotedText(excerpt(hit)), "\n"),
		}
		s.size += len(h.Quote) + len(h.Title) + len(h.Speaker)
		if len(s.out.Hits) > 0 && (len(s.out.Hits) == s.limit || s.size > maxResult) {
			s.stopAt(s.last)
			return true
		}
		s.out.Hits = append(s.out.Hits, h)
		s.last = positionAfter(hit.Session, hit.Seq)
	}
	return false
}

// text returns the result of a query as a text.
func (s *searching) text(q search.Query) string {
	t := newText()
	for _, h := range s.out.Hits {
		partial := ""
		if h.Partial {
			partial = "  unfinished reply"
		}
		t.say("%s  %s%s", h.Cite, h.Time, partial)
		fmt.Fprintf(t, "%s, in %s\n%s\n", h.Speaker, strings.TrimPrefix(h.Title, quotePrefix), h.Quote)
	}
	switch {
	case s.out.Searched == 0:
		t.say("The arguments select no session. Call list_sessions without arguments for all of them.")
	case len(s.out.Hits) == 0:
		t.say("No message matches in %s. Try a single word or other words, or call list_sessions.",
			app.Count(s.out.Searched, "session"))
		if !q.Regexp && search.MatchesCase(q.Text) {
			t.say("The query has capital letters: in lower case, it matches both.")
		}
	default:
		t.say("To read around a message, call read_session with its ID#seq as session.")
	}
	return t.end(s.out.Problems, s.out.NextCursor, searchTool)
}

// contentWithout returns the content of a message without secrets. That of an unfinished turn may end in one.
func contentWithout(secrets *redact.Redactor, h search.Hit) string {
	if !h.Partial {
		return secrets.Text(h.Content)
	}
	s := secrets.Stream()
	return s.Next(h.Content) + s.Truncated()
}

// The bounds of an excerpt and of names, in bytes.
const (
	maxBefore = 200 // of the line before the match
	maxMatch  = 400
	maxAfter  = 400
	maxTitle  = 200
)

// excerpt returns the line of a hit around the match.
func excerpt(h search.Hit) string {
	before := runecut.Suffix(h.Line[:h.Start], maxBefore)
	if len(before) < h.Start {
		before = "…" + before
	}
	return before + short(h.Line[h.Start:h.End], maxMatch) + short(h.Line[h.End:], maxAfter)
}

// name returns the name of a speaker.
func name(secrets *redact.Redactor, s projection.Speaker) string {
	return short(secrets.Text(cmp.Or(s.DisplayName, s.Name, s.ID)), maxTitle)
}

// titleOf returns the title of a session, or what its first message says. Both may end within a secret.
func titleOf(secrets *redact.Redactor, s catalog.Session) string {
	return short(startWithout(secrets, cmp.Or(s.Title, s.Preview, "without a title")), maxTitle)
}

// startWithout returns a text without secrets, which may be the start of a longer one.
func startWithout(secrets *redact.Redactor, text string) string {
	for _, mark := range []string{"…", "..."} {
		if cut, ok := strings.CutSuffix(text, mark); ok {
			return secrets.Stream().Next(cut) + mark
		}
	}
	return secrets.Text(text)
}
