package interchange_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
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
			if err := interchange.Markdown(&page, interchange.Page{}, oneMessage(test.content)); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(page.String(), "\n\n__\n\n")
			if got != test.want+"\n" {
				t.Errorf("%q\n got %q\nwant %q", test.content, got, test.want+"\n")
			}
		})
	}
}
