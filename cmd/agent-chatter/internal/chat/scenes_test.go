//go:build unix

package chat

import (
	"encoding/json"
	"strings"
	"testing/fstest"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A scene is a chat on a screen, with a fixed clock.
type scene struct {
	model         console.Model
	transcript    *view.Transcript
	lines         []string // that are printed
	columns, rows int
	now           time.Time
	turns         int
	noted         bool // a notice was printed last
}

func newScene(columns, rows int) *scene {
	demo := team.Demo()
	s := &scene{
		model: console.Model{
			Parked: true,
			Prompt: "you> ", Style: view.Style{Profile: ansi.Color16}, Status: console.Status{Facts: []string{demo.DisplayName}},
		},
		transcript: view.NewTranscript(demo),
		columns:    columns, rows: rows, now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC),
	}
	s.model.Transcript = s.transcript
	s.lines, s.noted = bannerLines(demo, s.style()), true
	s.model.Sources = sources(&app.App{Home: ".", Cwd: "."}, func() {})
	s.model.Sources.Files = fstest.MapFS{"calc/eval.go": {}, "calc/parse.go": {}, "go.mod": {}, "main.go": {}}
	s.model.Sources.Members = live.Members(demo)
	return s
}

func (s *scene) style() view.Style {
	return view.Style{Width: s.columns, Profile: s.model.Style.Profile}
}

// themed prints what is on a new screen in another theme.
func (s *scene) themed(p ansi.Profile) {
	s.model.Style.Profile = p
	s.lines = bannerLines(team.Demo(), s.style())
}

// notice prints a text as App.Notice does.
func (s *scene) notice(text string) {
	s.lines = append(s.lines, strings.Split(tty.Fold(text, s.columns), "\n")...)
	s.noted = true
}

func (s *scene) print(blocks []view.Block) {
	for _, b := range blocks {
		lines := view.Render(b, s.style())
		if s.noted && len(lines) > 0 && lines[0] != "" {
			s.lines = append(s.lines, "")
		}
		s.noted = s.noted && len(lines) == 0
		s.lines = append(s.lines, lines...)
	}
}

// happens applies events, a second after each other.
func (s *scene) happens(payloads ...projection.Payload) {
	for _, p := range payloads {
		r := projection.Record(s.now, p)
		e := projection.DecodeEvent(journal.Event{Time: r.Time, Type: r.Type, Data: r.Data})
		s.model.Panel.Apply(e, s.transcript.Members.Name)
		s.print(s.transcript.Apply(e))
		s.now = s.now.Add(time.Second)
	}
}

// says applies the message of the person.
func (s *scene) says(text string) {
	s.happens(said("you", "You", projection.TypeHuman, text))
}

// types presses the keys of a text.
func (s *scene) types(text string, keys ...tty.Key) {
	for _, r := range text {
		s.model.Update(tty.Key{Code: tty.Code(r)})
	}
	for _, k := range keys {
		s.model.Update(k)
	}
}

// starts begins a turn of Planner.
func (s *scene) starts() {
	s.turns++
	s.happens(projection.TurnStarted{TurnID: s.turnID(), MemberID: "planner"})
	s.model.Prompt = ""
	s.model.Status = console.Status{Doing: "Planner thinks", Since: s.now.Add(-3 * time.Second), Escape: true}
}

func (s *scene) turnID() string { return strings.Repeat("t", s.turns) }

// uses runs a tool, which takes a second.
func (s *scene) uses(tool, input, output, failure string) {
	s.happens(
		projection.ToolStarted{TurnID: s.turnID(), ToolID: "c", Name: tool, Input: json.RawMessage(input)},
		projection.ToolCompleted{TurnID: s.turnID(), ToolID: "c", Name: tool, Output: output, Error: failure},
	)
}

// replies ends the turn with a reply.
func (s *scene) replies(text string) {
	s.happens(
		said("planner", "Planner", projection.TypeAI, text),
		projection.TurnEnded{
			TurnID: s.turnID(), MemberID: "planner", FinishReason: projection.Done, DurationMS: 4200,
			Usage: &projection.Usage{
				Input: 1200, CachedRead: 20_000, Output: 340, Cost: &projection.Cost{Amount: 0.0421, Currency: "USD"},
			},
		},
	)
	s.idles()
}

// idles waits for the person.
func (s *scene) idles() {
	s.model.Status, s.model.Prompt = console.Status{Facts: []string{"Demo", "2 messages", "sonnet", "12% of 200k", "31k tokens", "0.21 USD", "saved", "kettle (main)"}}, "you> "
}

// enters prints a command, and its answer.
func (s *scene) enters(command, answer string) {
	s.lines = append(s.lines, "", "\x1b[2m> "+command+"\x1b[m")
	s.notice(answer)
}

// answers shows the answer to a command that changes nothing.
func (s *scene) answers(command, answer string) {
	s.model.ShowAnswer(command, strings.Split(tty.Fold(answer, s.columns), "\n"), s.rows)
}

// asks requests permission.
func (s *scene) asks(p agent.Permission) {
	s.lines = append(s.lines, permissionLines("Planner", p, s.style())...)
	q := permissionQuestion(p, true)
	s.model.Question = &q
}

// woods are questions of a member.
var woods = agent.Permission{Title: "Which wood?", Questions: []agent.Question{
	{
		Header: "Wood", Text: "Which wood?", Free: true, Options: []agent.Option{
			{Label: "oak", Description: "hard, and it lasts for longer than the house"}, {Label: "pine", Description: "soft"},
		},
	},
	{
		Text: "What does it need?", Several: true, Optional: true,
		Options: []agent.Option{{Label: "a lock"}, {Label: "a bell"}, {Label: "a hole for the cat"}},
	},
	{Text: "The code of the lock?", Free: true, Secret: true},
}}

// questions asks the question i.
func (s *scene) questions(p agent.Permission, i int) {
	s.lines = append(s.lines, titledLines(host.QuestionText("Planner", p, i), s.style())...)
	q := questionKeys(p.Questions[i], true)
	s.model.Question = &q
}

// live returns the rows of the live region. It may print lines.
func (s *scene) live() []string {
	early, held := s.model.Held(s.columns, s.rows)
	s.lines = append(s.lines, early...)
	if s.noted && len(held) > 0 && held[0] != "" {
		s.lines = append(s.lines, "")
	}
	live, _ := s.model.Live(s.columns, s.rows, held, s.now)
	return live
}

const reply = "# The plan\n\nFirst the **smallest** part that works, then a look at it together:\n\n" +
	"1. parse `1 + 2`\n2. evaluate, see [the tests](https://go.dev/doc/)\n   - also of *errors*\n\n" +
	"> Small steps are cheap to take back.\n\n" +
	"```go\n// eval evaluates an expression.\nfunc eval(e expr) int {\n\treturn e.left + e.right\n}\n```\n\n" +
	"| part | days |\n|---|--:|\n| parser | 2 |\n| évaluation 计算器 | 1 |\n\nThen the rest, and *only* then."

const editInput = `{"file_path":"calc/eval.go","old_string":"func eval(e expr) float64 {\n\treturn e.left / e.right\n}",` +
	`"new_string":"func eval(e expr) (float64, error) {\n\tif e.right == 0 {\n\t\treturn 0, errDivision\n\t}\n\t` +
	`return e.left / e.right, nil\n}"}`

const diffInput = `[{"path":"table/rows.go","kind":{"type":"update"},"diff":"@@ -98,4 +98,5 @@\n // rows returns the newest rows.\n` +
	`-func rows(table string) []row {\n-\treturn query(table, 10)\n+func rows(table string) ([]row, error) {\n` +
	`+\tconst most = 20 // of a page\n+\treturn query(table, most)\n }\n"},` +
	`{"path":"rows.sql","kind":{"type":"update"},"diff":"@@ -7 +7 @@\n-select * from rows limit 10;\n` +
	`+select * from rows limit 20;\n@@ -31,0 +32 @@\n+-- the newest are first\n"}]`

type namedScene struct {
	name string
	play func(s *scene)
}

// palette returns the colours of the terminal that the scene is drawn on.
func (s namedScene) palette() *picture.Palette {
	if strings.HasPrefix(s.name, "light") {
		return &picture.Light
	}
	return &picture.Dark
}

// works has what is in colour: tools, one of which fails, an edit, and a request for permission.
func works(p ansi.Profile) func(s *scene) {
	return func(s *scene) {
		s.themed(p)
		s.says("Division by zero should be an error.")
		s.starts()
		s.uses("Bash", `{"command":"go test ./..."}`, "", "calc/eval.go:7:2: unreachable code\nexit status 1")
		s.uses("Edit", editInput, "The file was edited.", "")
		s.asks(agent.Permission{Tool: "execute", Title: "rm -rf build/"})
	}
}

var scenes = append([]namedScene{
	{"new", func(*scene) {}},
	{"conversation", func(s *scene) {
		s.says("Write me a calculator.\nIn Go, please.")
		s.starts()
		s.replies(reply)
	}},
	{"no_color", func(s *scene) {
		s.themed(ansi.NoColor)
		s.says("Write me a calculator.\nIn Go, please.")
		s.starts()
		s.replies(reply)
	}},
	{"light", func(s *scene) {
		s.themed(ansi.Light)
		s.says("Write me a calculator.\nIn Go, please.")
		s.starts()
		s.replies(reply)
	}},
	{"light_works", works(ansi.Light)},
	{"dark_works", works(ansi.Color16)},
	{"high_contrast_works", works(ansi.HighContrast)},
	{"monochrome_works", works(ansi.Monochrome)},
	{"tools", func(s *scene) {
		s.says("Does it work?")
		s.starts()
		s.uses("Bash", `{"command":"go test ./..."}`, "ok  \tcalc\t0.004s\nok  \tcalc/parse\t0.011s\nok  \tcalc/print\t0.002s\n"+
			"?   \tcalc/cmd\t[no test files]\nok  \tcalc/repl\t0.052s\n", "")
		s.uses("Bash", `{"command":"staticcheck -checks all ./... && golangci-lint run --enable-all --timeout 10m ./..."}`,
			"", "calc/eval.go:7:2: unreachable code\nexit status 1")
		s.happens(projection.ToolStarted{
			TurnID: s.turnID(), ToolID: "r", Name: "Read", Input: json.RawMessage(`{"file_path":"calc/eval.go"}`),
		})
		s.model.Status.Doing = "Planner uses Read"
	}},
	{"edits", func(s *scene) {
		s.says("Division by zero should be an error.")
		s.starts()
		s.uses("Edit", editInput, "The file was edited.", "")
		s.uses("Write", `{"file_path":"calc/errors.go","content":"package calc\n\nimport \"errors\"\n\n`+
			`var errDivision = errors.New(\"division by zero\")\n"}`, "ok", "")
		s.replies("It is one now.")
	}},
	{"diff", func(s *scene) {
		s.says("Show more rows.")
		s.starts()
		s.uses("file_change", diffInput, "", "")
		s.replies("It shows 20 now.")
	}},
	{"todos", func(s *scene) {
		s.says("Go on.")
		s.starts()
		s.happens(projection.PlanUpdated{TurnID: s.turnID(), Entries: []projection.PlanEntry{
			{Content: "Read the parser", Status: projection.Completed},
			{Content: "Return an error for a division by zero, and test that it is returned", Status: projection.InProgress},
			{Content: "Run the tests", Status: projection.Pending},
		}})
	}},
	{"turn_failed", func(s *scene) {
		s.says("Go on.")
		s.starts()
		s.happens(projection.TurnEnded{
			TurnID: s.turnID(), MemberID: "planner", FinishReason: projection.Failed, DurationMS: 61_000,
			Error: "Planner failed: 429 Too Many Requests; wait a while, then retry",
		})
		s.notice("To retry, type: /retry")
		s.idles()
	}},
	{"streaming", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.print(s.transcript.Stream(s.turnID(), reply[:strings.Index(reply, "> Small")]))
		s.print(s.transcript.Stream(s.turnID(), "Now the part of a sentence that is not finished and therefore held"))
	}},
	{"queued", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.print(s.transcript.Stream(s.turnID(), "First the smallest part that works, then a look"))
		s.model.Status.Next = "Critic"
		s.types("and write te")
		s.model.Queued = []tty.Line{{Text: "in Go\nor in C"}, {Text: "/export calculator.json"}}
	}},
	{"sent", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.uses("Bash", `{"command":"ls"}`, "main.go\n", "")
		took := said("you", "You", projection.TypeHuman, "in Go, and nothing else")
		took.Message.ID = "taken"
		s.happens(took, projection.TurnSteered{TurnID: s.turnID(), MessageID: "taken"})
		s.print(s.transcript.Stream(s.turnID(), "In Go, then.\n\nFirst the smallest part that works, then a look"))
		s.says("and write tests")
		s.model.Transcript, s.model.Queued = s.transcript, []tty.Line{{Text: "@critic what do you think?"}}
	}},
	{"status", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.print(s.transcript.Stream(s.turnID(), "First the smallest part that works."))
		s.answers("/status", statusText(status{Speaking: []string{"planner"}, Status: coordinator.Status{
			Phase: coordinator.Active, Waiting: "you",
		}, Session: &coordinator.Session{
			ID: "01HZ0000000000000000000000", Title: "Write me a calculator.", TeamName: "demo",
			Stats: projection.Stats{Messages: 1, Turns: 1, Usage: projection.Totals{
				Input: 1200, CachedRead: 20_000, Output: 340, Costs: map[string]float64{"USD": 0.0421},
			}},
		}}, nil))
	}},
	{"not_saved", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.model.Status.Unsaved = textUnsaved
	}},
	{"multiline", func(s *scene) {
		s.types("Write tests for these:", tty.Key{Code: 'j', Mod: tty.Ctrl})
		s.model.Update(tty.Paste{Text: strings.Repeat("line\n", 200)})
		s.types(" and for everything else that comes to your mind while you read the code of the parser, please.",
			tty.Key{Code: tty.Left, Mod: tty.Ctrl})
	}},
	{"menu", func(s *scene) { s.types("/", tty.Key{Code: tty.Down}, tty.Key{Code: tty.Down}) }},
	{"menu_of_uses", func(s *scene) {
		s.model.Sources.Commands = byUse(s.model.Sources.Commands, map[string]int{"/model": 9, "/usage": 4})
		s.types("/", tty.Key{Code: tty.Down})
	}},
	{"arguments", func(s *scene) {
		ada := team.Member{ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI, AgentType: "claude", Permissions: "edit"}
		of := &arguments{team: &team.Team{Members: []team.Member{ada}}}
		s.model.Sources.Arguments = of.Of
		s.types("/permissions ada ", tty.Key{Code: tty.Down})
	}},
	{"members", func(s *scene) { s.types("@critic what do you think, and @") }},
	{"paths", func(s *scene) { s.types("look at @./calc/", tty.Key{Code: tty.Down}) }},
	{"search", func(s *scene) {
		s.types("", tty.Key{Code: 'r', Mod: tty.Ctrl})
		s.types("calc")
		s.model.Search.Found = []string{"Write me a calculator.\nIn Go, please.", "the calculator is wrong"}
	}},
	{"did_you_mean", func(s *scene) { s.answers("/stauts", unknownCommandText("/stauts", "/status", "/stauts")) }},
	{"permission_command", func(s *scene) {
		s.says("Remove it.")
		s.starts()
		s.asks(agent.Permission{
			Tool: "execute", Title: "rm -rf build/ && go clean -cache -testcache -modcache -fuzzcache ./...", Always: ".rules",
			Input: json.RawMessage(`{"command":"rm -rf build/ && go clean -cache -testcache -modcache -fuzzcache ./...",` +
				`"description":"Remove what was built"}`),
		})
	}},
	{"permission_edit", func(s *scene) {
		s.says("Change it.")
		s.starts()
		s.asks(agent.Permission{Tool: "edit", Title: "Edit main.go", Edits: []agent.FileEdit{{
			Path: "main.go", Old: "package main\n\nvar a = 1\n\nfunc main() {\n", New: "package main\n\nvar a = 2\n\nfunc main() {\n",
		}}})
		s.types("", tty.Key{Code: tty.Enter})
	}},
	{"permission_reason", func(s *scene) {
		s.says("Remove it.")
		s.starts()
		s.asks(agent.Permission{Tool: "execute", Title: "rm -rf build/"})
		s.types("r", tty.Key{Code: tty.Enter})
		s.types("not before the release")
	}},
	{"question", func(s *scene) {
		s.says("Build a door.")
		s.starts()
		s.questions(woods, 0)
	}},
	{"question_several", func(s *scene) {
		s.says("Build a door.")
		s.starts()
		s.questions(woods, 1)
		s.types("t", tty.Key{Code: tty.Enter})
		s.types("1, 3")
	}},
	{"question_secret", func(s *scene) {
		s.says("Build a door.")
		s.starts()
		s.questions(woods, 2)
		s.types("t", tty.Key{Code: tty.Enter})
		s.types("hunter2")
	}},
	{"permission_while_typing", func(s *scene) {
		s.says("Remove it.")
		s.starts()
		s.types("yes, and th")
		s.asks(agent.Permission{Tool: "execute", Title: "rm -rf build/"})
		s.model.Question.Waits = true
	}},
	{"unfinished", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.print(s.transcript.Stream(s.turnID(), "First the smallest"))
		s.happens(projection.TurnEnded{
			TurnID: s.turnID(), MemberID: "planner", FinishReason: projection.Cancelled, DurationMS: 1500,
			Partial: "First the smallest",
		})
		s.notice("Planner was interrupted. The partial reply is kept in the session.")
		s.idles()
	}},
	{"resumed", func(s *scene) {
		s.lines = nil
		s.notice(app.ResumedText("01HZ0000000000000000000000", 12))
		s.notice(restoredText(s.now))
		s.notice(olderText(10, "01HZ0000000000000000000000").String())
		s.print(s.transcript.Item(item("you", "You", projection.TypeHuman, "Write me a calculator.", false)))
		s.print(s.transcript.Item(item("planner", "Planner", projection.TypeAI, "First the **smallest** part.", false)))
		s.print(s.transcript.Item(item("critic", "Critic", projection.TypeAI, "I have weighed", true)))
		s.notice(interruptedTurnText("Critic").String())
		s.model.Status.Facts = []string{"Demo", "12 messages"}
	}},
	{"found_previous", func(s *scene) {
		s.enters("/team deploy calc", offerQuestion(projection.Row{
			Preview: "first message of a session that was about a calculator", MessageCount: 15,
			UpdatedAt: s.now.Add(-2 * time.Hour),
		}, s.now))
		s.model.Prompt, s.model.Question = "", &console.Question{}
	}},
	{"resume_list", func(s *scene) {
		s.enters("/resume", offerList([]catalog.Session{
			{ID: "01HZ000000000000000000QN3X", Row: projection.Row{
				Title: "Write me a calculator in Python", UpdatedAt: s.now.Add(-2 * time.Hour),
			}},
			{ID: "01HZ000000000000000000A1B2", Row: projection.Row{
				Title: "How do we keep a conversation, and for how long, a…", UpdatedAt: s.now.Add(-50 * time.Hour),
			}},
		}, s.now, s.columns))
		s.model.Prompt = ""
	}},
	{"cjk", func(s *scene) {
		s.says("計算機を作ってください。日本語でお願いします。")
		s.starts()
		s.replies("## 計画\n\nまず最小の部分を作り、それから一緒に見直します。長い文は端末の幅で折り返されます。\n\n" +
			"- 中文列表项目，带有标点符号。\n- 한국어 항목입니다.\n\n| 名前 | 値 |\n|---|--:|\n| 東京 | 13,960,000 |\n")
		s.types("次は「テスト」です")
	}},
	{"emoji", func(s *scene) {
		s.says("Ship it 🚀")
		s.starts()
		s.replies("Done ✅ 🎉\n\n- 🐛 fixed\n- 🧪 tested\n\n| 🍎 | count |\n|---|--:|\n| 🍌🍌 | 2 |\n")
		s.types("thanks 🎉")
	}},
	{"combining", func(s *scene) {
		s.says("Cafe\u0301, nai\u0308ve, Việt Nam?")
		s.starts()
		s.replies("A\u030angstro\u0308m, Việt Nam.\n\n| e\u0301 | x\u0302 |\n|---|---|\n| o\u0308 | y\u0302 |\n")
		s.types("re\u0301sume\u0301")
	}},
	{"right_to_left", func(s *scene) {
		s.says("שלום, אפשר מחשבון?")
		s.starts()
		s.replies("מרחבا: جملة عربية طويلة تلتف إلى السطر التالي عندما تكون الشاشة ضيقة.\n\n- פריט `code` אחד\n\n" +
			"An override: \u202eare\u202c shown.")
		s.types("תודה")
	}},
}, panelScenes...)

func item(id, name, kind, text string, partial bool) *conversation.Item {
	m := said(id, name, kind, text).Message
	i := &conversation.Item{Kind: projection.RowTurn, Turn: &conversation.Turn{ID: "t"}, Speaker: m.Speaker, Text: text}
	if !partial {
		i.Message = &m
	}
	return i
}

func said(id, name, kind, text string) projection.MessageAppended {
	by := projection.Speaker{ID: id, Name: id, DisplayName: name, Type: kind}
	return projection.NewMessage("m", time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), by, text, nil)
}
