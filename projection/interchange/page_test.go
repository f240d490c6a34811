package interchange_test

import (
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/google/go-cmp/cmp"
)

// oneMessage yields a message with the content.
func oneMessage(content string) iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		yield(projection.Entry{Message: projection.Message{Content: content}}, nil)
	}
}

func TestMarkdownEscapesHTMLOutsideFences(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"text", "a *b*\n", "a *b*\n"},
		{"a tag", "<b>\n\n<!-- c -->", "&lt;b>\n\n&lt;!-- c -->"},
		{"a code span", "`<b>`", "`&lt;b>`"},
		{"a fence", "<a>\n```\n<b>\n```\n<c>", "&lt;a>\n```\n<b>\n```\n&lt;c>"},
		{"a fence in the last line", "~~~\n<b>\n~~~", "~~~\n<b>\n~~~"},
		{"an open fence", "````\n<b>\n```", "````\n<b>\n```\n````"},
		{"an open fence after a blank line", "```\n<b>\n\n", "```\n<b>\n\n\n```"},
		{"a closing fence that is indented", "```\na\n   ```\n<b>", "```\na\n   ```\n&lt;b>"},
		{"a closing fence with text", "```\n<a>\n``` x\n<b>\n```\n<c>", "```\n<a>\n``` x\n<b>\n```\n&lt;c>"},
		{"an indented fence", "  ```\n<b>\n```", "  ```\n&lt;b>\n```"},
		{"an indented fence that a longer one closes", "   ```\n````\n<b>", "   ```\n````\n&lt;b>"},
		{"a fence in a list", "- ```\n  <b>\n  ```", "- ```\n  &lt;b>\n  ```"},
		{"a fence in a quote", "> ```\n> <b>\n", "> ```\n> &lt;b>\n"},
		{"backticks in a line", "```a```\n<b>", "```a```\n&lt;b>"},
		{"indented code", "    <b>", "    &lt;b>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var page strings.Builder
			if err := markdownOf(&page, interchange.Page{}, oneMessage(test.content)); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(page.String(), "\n\n__\n\n")
			if got != test.want+"\n" {
				t.Errorf("%q\n got %q\nwant %q", test.content, got, test.want+"\n")
			}
		})
	}
}

// markdownOf writes a document of entries.
func markdownOf(w io.Writer, p interchange.Page, entries iter.Seq2[projection.Entry, error]) error {
	err := p.Markdown(w)
	for entry, failed := range entries {
		if err = errors.Join(err, failed); err == nil {
			err = interchange.Markdown(w, entry)
		}
	}
	return err
}

// entries yields messages of a person and an agent, the second unfinished, and then err
// unless it is nil.
func entries(err error) iter.Seq2[projection.Entry, error] {
	ann := projection.Speaker{ID: "ann", Name: "ann", DisplayName: "Ann <*>", Type: projection.TypeHuman}
	bo := projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
	return func(yield func(projection.Entry, error) bool) {
		all := []projection.Entry{
			{Seq: 2, Message: projection.Message{Speaker: ann, Timestamp: "2026-11-21T12:00:00.000Z",
				Content: "<script>alert(1)</script>"}},
			{Seq: 5, Partial: true, Message: projection.Message{Speaker: bo, Timestamp: "2026-11-21T12:00:01.000Z",
				Content: "half \"an\" & answer"}},
		}
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(projection.Entry{}, err)
		}
	}
}

var page = interchange.Page{
	Title: "A *bold*\ntitle <b>", ID: "01KAJ0000000000000000000AA", Team: "re_view", CreatedAt: "2026-11-21",
	Updated: "2026-11-22", Task: "Build [it]",
}

func TestMarkdownPage(t *testing.T) {
	var got strings.Builder
	if err := markdownOf(&got, page, entries(nil)); err != nil {
		t.Fatal(err)
	}
	const want = `# A \*bold\* title \<b\>

- session: ` + "`01KAJ0000000000000000000AA`" + `
- team: re\_view
- created: 2026-11-21
- last message: 2026-11-22
- task: Build \[it\]

## Ann \<\*\>

_2026-11-21T12:00:00.000Z_

&lt;script>alert(1)&lt;/script>

## Bo (unfinished)

_2026-11-21T12:00:01.000Z_

half "an" & answer
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPageWithoutTask(t *testing.T) {
	without := page
	without.Task = ""
	var got strings.Builder
	err := markdownOf(&got, without, entries(nil))
	if err != nil || strings.Contains(strings.ToLower(got.String()), "task:") {
		t.Errorf("%v\n%s", err, got.String())
	}
}

// fullWriter fails once it has n bytes.
type fullWriter struct{ n int }

var errFull = errors.New("full")

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestPageReturnsErrors(t *testing.T) {
	broken := errors.New("broken")
	if err := markdownOf(io.Discard, page, entries(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	var whole strings.Builder
	if err := markdownOf(&whole, page, entries(nil)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, whole.Len() - 1, whole.Len() - 30, whole.Len() - 200} {
		if err := markdownOf(&fullWriter{n}, page, entries(nil)); !errors.Is(err, errFull) {
			t.Errorf("after %d of %d bytes: %v", n, whole.Len(), err)
		}
	}
}
