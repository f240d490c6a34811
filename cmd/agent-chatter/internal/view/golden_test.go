package view

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

const markdownText = `# Heading one with *emphasis*

## Heading two

### Heading three

A paragraph with *emphasis*, **strong text**, ***both***, ` + "`code`" + `, a [link](https://go.dev/doc/), a
[file](coordinator/turn.go), <https://example.com> and an ![image](https://example.com/a.png). It is long enough for
every width: supercalifragilisticexpialidocioussupercalifragilisticexpialidocious.

Steps:
1. First
   - with an item
   - and **another** one that is so long that it has to be wrapped, so that its second line is below its first

     and a paragraph
2. Second

   ` + "```sh" + `
   go test ./... # all
   ` + "```" + `
10. Third

> A quote that is long enough to be wrapped in a narrow terminal, and with a list:
>
> - one
> - two

| Name | What it does | Cost |
|:-----|--------------|-----:|
| ` + "`plan`" + ` | Reads the code and writes what to do, in order | 0.42 |
| build | Builds it | 12.00 |

| a | b | c | d | e | f | g | h | i | j | k | l | m | n | o | p | q | r |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
| 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 |

---

` + "```go" + `
// Sum adds numbers.
func Sum(numbers ...int) (sum int) {
	for _, n := range numbers {
		sum += n // 0x2a
	}
	return sum /* "x" */
}
` + "```" + `

` + "```diff" + `
--- a/x
+++ b/x
@@ -1 +1 @@
-old
+new
` + "```" + `
The end.`

// scripts are messages with everything that Markdown has, and in several scripts.
var scripts = map[string]string{
	"markdown": markdownText,
	"reading": "Tasks:\n\n- [ ] an open task that is long enough to be wrapped in a narrow terminal, of forty columns\n- [x] a **done** task\n" +
		"  - [X] in a list\n  - [ ]\n- [y] no task\n- [ ]no task\n1. [ ] a step\n\n> - [x] quoted\n\n" +
		"| File | What it does | Owner | Days | Risk |\n|---|---|---|--:|---|\n" +
		"| eval.go | evaluates expressions, with errors for divisions by zero | Ada | 2 | low |\n" +
		"| a/very/long/path/to/some/file/parser.go | parses | Bea | 13 | high, since it is old |\n\n" +
		"| 名前 | 説明 |\n|---|---|\n| 東京都千代田区 | 長い文は端末の幅で折り返されます。表はそのまま表です。 |\n\n" +
		"```python\ndef f(x):\n\tif x:\n        return 'a line of code that does not fit in forty columns, nor in eighty ones'\n\n    return 1\n```\n\n" +
		"    indented code\n      more\n\n- an item\n  ```go\n  func a() {\n  \treturn\n  }\n  ```\n\n" +
		"https://example.com/a/very/long/address/that/does/not/fit/in/forty/columns?and=more\n",
	"cjk": "## 日本語の見出し\n\nこれは日本語の段落です。「引用」と、句読点。長い文は端末の幅で折り返されます。EnglishとMixした文。\n\n- 中文列表项目，带有标点符号。\n" +
		"- 한국어 항목입니다. 띄어쓰기가 있습니다.\n\n| 名前 | 値 |\n|---|--:|\n| 東京 | 13,960,000 |\n| 大阪市 | 2,750,000 |\n",
	"emoji": "Done ✅ 🎉 👍🏽 by 👩‍💻 and the family 👨‍👩‍👧‍👦 in 🇩🇪 🇯🇵, #️⃣ 1️⃣ ❤️ ☺︎.\n\n- 🚀 launch\n- 🐛 fix\n\n| 🍎 | count |\n|---|--:|\n| 🍌🍌 | 2 |\n| 👨‍👩‍👧‍👦 | 4 |\n",
	"combining": "Cafe\u0301, nai\u0308ve, A\u030angstro\u0308m, Việt Nam, हिन्दी में नमस्ते, ภาษาไทยไม่มีช่องว่าง, ქართული.\n\n| नाम | e\u0301 |\n|---|---|\n| हिन्दी | x\u0302y\u0302 |\n\n" +
		"Zalgo: H" + "\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030d\u030e\u030f\u0310\u0311\u0312\u0313\u0314\u0315\u0316\u0317\u0318\u0319\u031a\u031b\u031c\u031d\u031e\u031f\u0320\u0321\u0322\u0323 and zero width: a\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200bb.\n",
	"rtl": "שלום, זה משפט ארוך בעברית שצריך לגלוש לשורה הבאה כאשר המסוף צר.\n\nمرحبا بالعالم، هذه جملة عربية طويلة تلتف إلى السطر التالي.\n\n- פריט `code` אחד\n- عنصر **غامق**\n\n" +
		"Overrides \u202eare\u202c shown, \u2066isolates\u2069 too.\n",
}

// toolSession is a session with the tool calls of several agents.
func toolSession() []journal.Event {
	var s session
	s.create()
	s.add(projection.TurnStarted{TurnID: "t", MemberID: "bo"})
	s.call("t", "1", "Edit", `{"file_path":"kettle/plug.go","old_string":"package kettle\n\nfunc Plug() {\n\treturn\n}","new_string":"package kettle\n\nfunc Plug() error {\n\treturn nil\n}"}`, "The file was edited.", "")
	s.call("t", "2", "Write", `{"file_path":"a.txt","content":"`+strings.Repeat(`line\n`, 30)+`"}`, "ok", "")
	s.call("t", "3", "Bash", `{"command":"git log --oneline --graph --decorate --all --since=yesterday --author=Mia -- kettle cord plug lid"}`,
		"", "exit status 128: fatal: not a git repository (or any of the parent directories): .git\nusage: git log")
	s.call("t", "4", "Grep", `{"pattern":"boil\u001b[2J"}`, "a\x1b]52;c;QQ==\ab\n"+strings.Repeat("x", 200), "")
	s.call("t", "5", "shell", `{"command":["bash","-lc","true"]}`, "", "")
	s.call("t", "todo", "TodoWrite", `{"todos":[{"content":"Find the plug"}]}`, "ok", "") // the list shows it
	s.add(projection.PlanUpdated{TurnID: "t", More: 3, Entries: []projection.PlanEntry{
		{Content: "Find the plug", Status: projection.Completed},
		{Content: "Write a test that fails without the plug, and run it on all systems that are supported", Status: projection.InProgress},
		{Content: "Repair it", Status: projection.Pending}}})
	s.add(projection.ToolStarted{TurnID: "t", ToolID: "6", Name: "Task", Input: []byte(`{"description":"Look around"}`)})
	s.add(projection.TurnEnded{TurnID: "t", MemberID: "bo", FinishReason: projection.Failed, DurationMS: 4_000_000,
		Error: "429 Too Many Requests", Usage: &projection.Usage{Input: 1_250_000, Output: 999}})
	return s.events
}

// goldenSessions are the sessions of the golden screens.
func goldenSessions() map[string][]journal.Event {
	sessions := map[string][]journal.Event{"conversation": wholeSession(), "tools": toolSession()}
	for name, text := range scripts {
		var s session
		s.create()
		s.reply(ada, text)
		sessions[name] = s.events
	}
	return sessions
}

// TestGoldenScreens compares what a person sees with the golden files.
func TestGoldenScreens(t *testing.T) {
	for name, events := range goldenSessions() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{40, 80, 120} {
				for profile, called := range []string{"no colours", "16 colours"} {
					fmt.Fprintf(&b, "==== %d columns, %s\n", width, called)
					for _, line := range render(fold(events), Style{Width: width, Profile: ansi.Profile(profile)}) {
						b.WriteString(strings.ReplaceAll(line, "\x1b", `\e`) + "\n")
					}
				}
			}
			apptest.Golden(t, filepath.Join("testdata", "screens", name+".golden"), b.String())
		})
	}
}
