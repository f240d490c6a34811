package search

import (
	"context"
	"encoding/json"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// FileQuery selects tool calls whose input names a file, and turns that changed it.
type FileQuery struct {
	// Path is that of a file or a directory; slashes may be backslashes. An absolute path matches itself, and its
	// end after the directory in which the session was created; a relative one matches the end of any path. The
	// path of a directory matches the paths below it.
	Path  string
	Since time.Time // earliest time of an event; zero: any
}

// Touch is a tool call whose input names a file, or a turn that changed it.
type Touch struct {
	Session catalog.Session
	Seq     uint64 // of the event
	Time    time.Time
	TurnID  string
	Call    projection.ToolStarted // the zero value if Changes has elements
	// Changes are what the turn changed of the file or the directory, as captures of the files found.
	Changes []projection.FileChange
}

var (
	typeToolStarted  = projection.TypeOf(projection.ToolStarted{})
	typeFilesChanged = projection.TypeOf(projection.FilesChanged{})
)

// Touches searches the sessions of a list, in its order, for tool calls and changes. It yields errors as Result.Hits
// does.
func Touches(
	ctx context.Context, c *catalog.Catalog, list []*catalog.Entry, q FileQuery,
) iter.Seq2[Touch, error] {
	return q.touches(ctx, c, catalog.Sessions(list), 0)
}

// TouchesAfter searches the events of a session after the one with number seq.
func TouchesAfter(
	ctx context.Context, c *catalog.Catalog, s catalog.Session, seq uint64, q FileQuery,
) iter.Seq2[Touch, error] {
	return q.touches(ctx, c, slices.Values([]catalog.Session{s}), seq)
}

func (q FileQuery) touches(
	ctx context.Context, c *catalog.Catalog, sessions iter.Seq[catalog.Session], after uint64,
) iter.Seq2[Touch, error] {
	file := cleanPath(q.Path)
	m := &matcher{Query: Query{Since: q.Since}, file: file, after: after}
	m.prefilter = newPrefilter(path.Base(file), false)
	return func(yield func(Touch, error) bool) {
		m.search(ctx, c, sessions, func(h Hit, err error) bool {
			if err != nil {
				return yield(Touch{}, err)
			}
			return yield(*h.touch, nil)
		})
	}
}

// touch returns the tool call or the changes of an event, if they name the file.
func (s *searcher) touch(e journal.Event) (Hit, bool) {
	if e.Time.Before(s.matcher.Since) {
		return Hit{}, false
	}
	t := Touch{Session: s.session, Seq: e.Seq, Time: e.Time}
	switch e.Type {
	case typeToolStarted:
		d, ok := conversation.Alone(projection.DecodeEvent(e)).(conversation.Called)
		if !ok || !names(d.Call.Started.Input, s.matcher.file, s.session.CWD) {
			return Hit{}, false
		}
		t.TurnID, t.Call = d.Call.Started.TurnID, d.Call.Started
	case typeFilesChanged:
		p, ok := projection.DecodeEvent(e).Payload.(projection.FilesChanged)
		if !ok {
			return Hit{}, false
		}
		t.TurnID = p.TurnID
		for _, c := range p.Changes {
			if isNamed(slashes(p.Dir)+"/"+string(c.Path), s.matcher.file, s.session.CWD) {
				t.Changes = append(t.Changes, c)
			}
		}
		if t.Changes == nil {
			return Hit{}, false
		}
	default:
		return Hit{}, false
	}
	return Hit{touch: &t}, true
}

// cleanPath returns a path with slashes, and without . and .. at its beginning.
func cleanPath(name string) string {
	name = path.Clean(slashes(name))
	for strings.HasPrefix(name, "../") {
		name = name[3:]
	}
	return name
}

func slashes(text string) string { return strings.ReplaceAll(text, `\`, "/") }

// isAbsolute reports whether a clean path is absolute, on any system.
func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}

// names reports whether a text in the input of a tool names a file. cwd is the directory from which relative paths
// start.
func names(input json.RawMessage, file, cwd string) bool {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return false
	}
	return anyText(value, func(text string) bool { return isNamed(slashes(text), file, cwd) })
}

// isNamed reports whether a text names a file.
func isNamed(text, file, cwd string) bool {
	relative := "" // the file from cwd
	absolute := isAbsolute(file)
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(slashes(cwd), "/")+"/"); ok && absolute && cwd != "" {
		relative = rest
	}
	return hasPath(text, file, !absolute) || relative != "" && hasPath(text, relative, false)
}

// anyText reports whether a condition holds for a text in a JSON value.
func anyText(value any, holds func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return holds(value)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return anyText(v, holds) })
	case map[string]any:
		for _, v := range value {
			if anyText(v, holds) {
				return true
			}
		}
	}
	return false
}

// hasPath reports whether a text has a path, or one below it, that is not a part of a longer name. With inner, other
// directories may precede it.
func hasPath(text, name string, inner bool) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start := at + i
		if beginsPath(text[:start], inner) && endsPath(text[start+len(name):]) {
			return true
		}
		at = start + 1
	}
}

// beginsPath reports whether a path can begin after a text.
func beginsPath(before string, inner bool) bool {
	if before, ok := strings.CutSuffix(before, "/"); ok {
		here, dot := strings.CutSuffix(before, ".")
		return inner || dot && !endsInName(here) || strings.HasSuffix(before, ":/") // of a file URI
	}
	return !endsInName(before)
}

// endsPath reports whether a path can end before a text. A full stop after it may end a sentence.
func endsPath(after string) bool {
	after = strings.TrimLeft(after, ".")
	return after == "" || !isNameByte(after[0])
}

func endsInName(text string) bool { return text != "" && isNameByte(text[len(text)-1]) }

// isNameByte reports whether a byte is part of a name, of which another one is then only a part.
func isNameByte(b byte) bool {
	return b >= 0x80 || b == '_' || b == '-' || b == '.' ||
		'0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
