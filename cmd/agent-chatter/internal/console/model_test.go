package console

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/clipperhouse/displaywidth"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// keyNames are the keys that scripts of tests name in angle brackets, with c- for Ctrl.
var keyNames = map[string]tty.Key{
	"enter": key(tty.Enter, 0), "esc": key(tty.Escape, 0), "tab": key(tty.Tab, 0), "s-tab": key(tty.Tab, tty.Shift), "up": key(tty.Up, 0),
	"down": key(tty.Down, 0), "bs": key(tty.Backspace, 0), "c-c": key('c', tty.Ctrl), "c-d": key('d', tty.Ctrl),
	"c-r": key('r', tty.Ctrl), "c-j": key('j', tty.Ctrl), "c-l": key('l', tty.Ctrl), "c-z": key('z', tty.Ctrl),
	"c-g": key('g', tty.Ctrl), "c-o": key('o', tty.Ctrl), "left": key(tty.Left, 0), "right": key(tty.Right, 0),
	"c-v": key('v', tty.Ctrl),
	"c-s": key('s', tty.Ctrl), "c-n": key('n', tty.Ctrl), "c-p": key('p', tty.Ctrl), "c-home": key(tty.Home, tty.Ctrl),
	"home": key(tty.Home, 0), "pgup": key(tty.PageUp, 0), "pgdn": key(tty.PageDown, 0), "end": key(tty.End, 0),
}

// press types a script and returns the effects other than None, with their texts.
func press(t *testing.T, m *Model, script string) (effects []string) {
	t.Helper()
	names := map[Effect]string{Sent: "sent", Cancel: "cancel", End: "end", Suspend: "suspend", Clear: "clear",
		Extern: "extern", Output: "output", Chosen: "chosen", Find: "look", PastePicture: "picture"}
	update := func(e tty.Event) {
		if effect, text := m.Update(e); effect != None {
			effects = append(effects, strings.TrimSpace(names[effect]+" "+text))
		}
	}
	for script != "" {
		typed, rest, _ := strings.Cut(script, "<")
		for _, r := range typed {
			update(key(tty.Code(r), 0))
		}
		name, after, found := strings.Cut(rest, ">")
		if k, ok := keyNames[name]; found && ok {
			update(k)
		} else if found {
			t.Fatalf("unknown key %s", name)
		}
		script = after
	}
	return effects
}

func newModel() *Model {
	return &Model{Prompt: "you> ", Parked: true, Sources: editor.Sources{
		Commands: []editor.Choice{
			{Text: "/help", Help: "list the commands"}, {Text: "/end", Help: "save and end"},
			{Text: "/export", Help: "write a snapshot"},
		},
		Members: []editor.Choice{{Text: "@planner", Help: "Planner"}, {Text: "@critic", Help: "Critic"}},
	}}
}

// rows returns the live region as text. The cursor is a _.
func rows(m *Model, width, height int, held ...string) string {
	live, _ := m.Live(width, height, held, noon)
	text := strings.Join(live, "\n")
	return strings.NewReplacer("\x1b[7m \x1b[27m", "_", "\x1b[7m", "[", "\x1b[27m", "]").Replace(text)
}

func TestModelKeys(t *testing.T) {
	for _, tt := range []struct{ name, keys, effects, input string }{
		{"a message", "hello<enter>", "sent hello", ""},
		{"an empty line", "<enter>", "sent", ""},
		{"two lines", "a\\<enter>b<enter>", "sent a\nb", ""},
		{"a line break", "a<c-j>b<enter>", "sent a\nb", ""},
		{"Ctrl+C clears text first", "text<c-c>", "", ""},
		{"Ctrl+C on an empty line ends", "text<c-c><c-c>", "end", ""},
		{"Ctrl+D on an empty line", "<c-d>", "sent \x04", ""},
		{"Ctrl+D in a text deletes", "ab<left><c-d>", "", "a"},
		{"Escape interrupts", "text<esc>", "cancel", "text"},
		{"Escape closes the menu first", "/e<esc><esc>", "cancel", "/e"},
		{"other effects", "<c-l><c-z><c-g><c-o><c-v>", "clear, suspend, extern, output, picture", ""},
		{"Tab completes", "/e<tab>", "", "/end "},
		{"Tab completes the chosen one", "/e<down><tab>", "", "/export "},
		{"Enter takes what arrows have chosen", "/e<down><enter>", "", "/export "},
		{"Enter sends what arrows have not chosen", "/en<enter>", "sent /en", ""},
		{"the choices go round", "/e<up><tab>", "", "/export "},
		{"the choices go round downwards", "/e<c-n><c-n><tab>", "", "/end "},
		{"the choices go round upwards", "/<c-p><c-p><c-p><tab>", "", "/help "},
		{"the choices go round from the first", "/<up><tab>", "", "/export "},
		{"Enter takes what Up has chosen", "/e<up><enter>", "", "/export "},
		{"Enter sends what was taken", "/e<down><enter><enter>", "sent /export", ""},
		{"Ctrl+C closes the menu", "/e<down><c-c><enter>", "sent", ""},
		{"typing opens a closed menu", "/e<esc>x<tab>", "", "/export "},
		{"a menu that was closed for another text", "/e<esc>x<bs><tab>", "", "/end "},
		{"Tab opens the menu again", "/e<esc><tab><tab>", "", "/end "},
		{"Tab completes a member", "ask @c<tab>now", "", "ask @critic now"},
		{"Up recalls a message", "one<enter>two<enter><up><up>", "sent one, sent two", "one"},
		{"a search", "<c-r>x<enter>", "look, look", "found it"},
		{"the second of a search", "<c-r><down><enter>", "look", "and this"},
		{"the first of a search again", "<c-r><c-r><up><tab>", "look", "found it"},
		{"beyond the last of a search", "<c-r><down><down><down><c-s><enter>", "look", "found it"},
		{"before the first of a search", "<c-r><up><up><down><enter>", "look", "and this"},
		{"typing in a search selects the first", "<c-r><down>x<enter>", "look, look", "found it"},
		{"Backspace in a search selects the first", "<c-r>x<down><bs><enter>", "look, look, look", "found it"},
		{"Backspace in an empty search", "<c-r><bs><esc>", "look", ""},
		{"a search that is left", "text<c-r>x<esc>", "look, look", "text"},
		{"Ctrl+C leaves a search", "text<c-r><c-c>", "look", "text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel()
			before, after, searches := strings.Cut(tt.keys, "<c-r>")
			effects := press(t, m, before)
			if searches {
				effects = append(effects, press(t, m, "<c-r>")...)
				m.Search.Found = []string{"found it", "and this"}
				effects = append(effects, press(t, m, after)...)
			}
			if got := strings.Join(effects, ", "); got != tt.effects || m.Editor.Text() != tt.input {
				t.Errorf("effects %q, input %q, want %q, %q", got, m.Editor.Text(), tt.effects, tt.input)
			}
			if m.Search != nil || m.menu.open() && m.Editor.Empty() {
				t.Errorf("open are the search %+v and the menu %+v", m.Search, m.menu)
			}
		})
	}
}

// Whatever puts a text into the input box opens the menu.
// The path of a picture that is pasted is shown as its label; another text is pasted as it is.
func TestPastedPictureIsALabel(t *testing.T) {
	m := newModel()
	m.Pasted = func(text string) (string, bool) { return "[a.png]", text == "/tmp/a.png" }
	for _, text := range []string{"see ", "/tmp/a.png", "/tmp/b.png"} {
		m.Update(tty.Paste{Text: text})
	}
	if got := m.Editor.Text(); got != "see [a.png] /tmp/b.png" {
		t.Errorf("the input is %q", got)
	}
}

func TestTextOpensTheMenu(t *testing.T) {
	for name, put := range map[string]func(m *Model){
		"typed":  func(m *Model) { m.Type("/e") },
		"pasted": func(m *Model) { m.Update(tty.Paste{Text: "/e"}) },
		"queued": func(m *Model) { m.Return([]string{"/e"}) },
		"found": func(m *Model) {
			m.Search = &Search{Found: []string{"/e"}}
			m.Update(key(tty.Enter, 0))
		},
	} {
		m := newModel()
		if put(m); m.menu.open() {
			m.Update(key(tty.Tab, 0))
		}
		if got := m.Editor.Text(); got != "/end " {
			t.Errorf("%s: the input is %q", name, got)
		}
	}
}

func TestSelectionOfASearch(t *testing.T) {
	for keys, want := range map[string]string{
		"<down><down><up><enter>": "2", "<down><down><down><enter>": "3", "<down><up><up><enter>": "1",
	} {
		m := newModel()
		m.Search = &Search{Found: strings.Split("123", "")}
		if press(t, m, keys); m.Editor.Text() != want {
			t.Errorf("%s: %q, want %q", keys, m.Editor.Text(), want)
		}
	}
	m := newModel()
	press(t, m, "<c-r><down>") // before anything is found
	m.Search.Found = strings.Split("123", "")
	if press(t, m, "<enter>"); m.Editor.Text() != "1" {
		t.Errorf("the input is %q", m.Editor.Text())
	}
}

func TestEscapeAndCtrlCAnswerACommandWithAnEmptyLine(t *testing.T) {
	for keys, want := range map[string]string{
		"<esc>": "sent", "9<esc>": "sent", "/e<esc><esc>": "sent", "<c-c>": "sent", "9<c-c>": "", "9<c-c><c-c>": "sent",
	} {
		m := newModel()
		m.Prompt, m.asks = "", true
		if got := strings.Join(press(t, m, keys), ", "); got != want || !m.Editor.Empty() {
			t.Errorf("%s: effects %q, input %q, want %q", keys, got, m.Editor.Text(), want)
		}
	}
}

var permission = []KeyChoice{
	{Key: 'y', Text: "[Y] Allow"}, {Key: 'n', Text: "[N] Refuse"}, {Key: 'r', Text: "[R] Reason", Asks: "Reason"},
	{Key: tty.KeyEscape, Text: "[Esc] Cancel the turn"},
}

func TestQuestionKeys(t *testing.T) {
	for _, tt := range []struct{ name, typed, keys, effects, input string }{
		{"an answer", "", "y<enter>", "chosen y", ""},
		{"a word", "", "Yes<enter>", "chosen y", ""},
		{"a capital", "", "N<enter>", "chosen n", ""},
		{"a letter without Enter", "", "y", "", "y"},
		{"a sentence that begins with an answer", "", "yes, but not that<enter>", "sent yes, but not that", ""},
		{"a letter that is no answer", "", "x<enter>", "sent x", ""},
		{"Enter alone", "", "<enter>", "", ""},
		{"an arrow", "", "<right><enter>", "chosen y", ""},
		{"arrows", "", "<right><right><left><down><enter>", "chosen n", ""},
		{"the last choice", "", "<up><enter>", "chosen \x1b", ""},
		{"around the choices", "", "<tab><tab><tab><tab><tab><enter>", "chosen y", ""},
		{"a letter after an arrow", "", "<right>n<enter>", "chosen n", ""},
		{"arrows in a text", "", "yn<left><enter>", "sent yn", ""},
		{"a command", "", "/status<enter>", "sent /status", ""},
		{"an answer after a command", "", "/queue<enter>n<enter>", "sent /queue, chosen n", ""},
		{"Tab does not complete", "", "/e<tab><enter>", "chosen y", "/e"},
		{"a reason", "", "r<enter>too risky<enter>", "chosen rtoo risky", ""},
		{"no reason", "", "r<enter>  <enter>", "", "  "},
		{"a reason that is edited", "", "r<enter>too<left>x<enter>", "chosen rtoxo", ""},
		{"back from the reason", "", "r<enter>too<esc>y<enter>", "chosen y", ""},
		{"a reason, and a message before it", "hell", "o<tab><tab><tab><enter>too<enter>", "chosen rtoo", "hello"},
		{"a message before what is no reason", "hell", "o<tab><tab><tab><enter>too<esc><tab><enter>", "chosen y", "hello"},
		{"Escape", "", "<esc>", "chosen \x1b", ""},
		{"Escape, and a message before it", "hell", "<esc>", "chosen \x1b", "hell"},
		{"a letter with Ctrl", "", "<c-n>", "", ""},
		{"Ctrl+C", "", "<c-c>", "end", ""},
		{"Ctrl+C clears text that is being typed", "hell", "o<c-c>y<enter>", "chosen y", ""},
		{"Ctrl+C clears a reason", "", "r<enter>too<c-c>", "", ""},
		{"typing continues", "hell", "o y", "", "hello y"},
		{"a letter from before the question", "y", "<enter>", "sent y", ""},
		{"the box is empty again", "y", "<bs>y<enter>", "chosen y", ""},
		{"Tab answers", "hell", "o<tab><enter>", "chosen y", "hello"},
		{"Enter sends what is typed", "hell", "o<enter>", "sent hello", ""},
		{"a search continues", "<c-r>", "yes<enter>n<enter>", "look, look, look, chosen n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel()
			press(t, m, tt.typed)
			m.Question = &Question{Choices: permission, Again: "Again.", Waits: tt.typed != ""}
			got := strings.Join(press(t, m, tt.keys), ", ")
			if got != tt.effects || m.Editor.Text() != tt.input || m.menu.open() {
				t.Errorf("effects %q, input %q, want %q, %q", got, m.Editor.Text(), tt.effects, tt.input)
			}
		})
	}
}

const choices = "  [Y] Allow  [N] Refuse  [R] Reason  [Esc] Cancel the turn"

func TestTextThatIsBegunDuringAQuestionIsNoAnswer(t *testing.T) {
	for name, begin := range map[string]tty.Event{"a key": key('/', 0), "a paste": tty.Paste{Text: "/"}} {
		m := newModel()
		m.Question = &Question{Choices: permission, Again: "Again.", wrong: true}
		m.Update(begin)
		got := press(t, m, "y")
		want := "\n> /y_\n" + choices + "\n" + textNoAnswer
		if shown := rows(m, 80, 24); len(got) > 0 || shown != want {
			t.Errorf("%s: effects %q, got\n%s", name, got, shown)
		}
		press(t, m, "<tab>")
		if shown := rows(m, 80, 24); strings.Contains(shown, "Again.") || !strings.Contains(shown, "▸ [Y] Allow") {
			t.Errorf("%s: after Tab, got\n%s", name, shown)
		}
	}
}

func TestKeysBeforeTheQuestionIsSeenAreNoAnswer(t *testing.T) {
	m := newModel()
	m.Question = &Question{Choices: permission, unseen: true}
	if got := press(t, m, "yes"); len(got) > 0 || m.Editor.Text() != "yes" {
		t.Errorf("effects %q, input %q", got, m.Editor.Text())
	}
	m.Question.unseen = false
	if got := strings.Join(press(t, m, "<enter>y<enter>"), ", "); got != "sent yes, chosen y" || m.Editor.Text() != "" {
		t.Errorf("effects %q, input %q", got, m.Editor.Text())
	}
}

func TestLiveRegion(t *testing.T) {
	busy := Status{Doing: "Ada thinks", Since: noon.Add(-3 * time.Second), Escape: true}
	for _, tt := range []struct {
		name          string
		width, height int
		prepare       func(m *Model)
		keys          string
		want          string
	}{
		{"a person is next", 80, 24, nil, "", "you> _\n/help"},
		{"text", 80, 24, nil, "hello<left>", "you> hell[o]\n/help"},
		{"several lines", 80, 24, nil, "a<c-j>b", "you> a\n     b_\n/help"},
		{"a long line", 20, 24, nil, "0123456789abcdef", "you> 0123456789abc\n     def_\n/help"},
		{"words", 20, 24, nil, "hello dear world, again 界界", "you> hello dear \n     world, again \n     界界_\n/help"},
		{"more lines than fit", 80, 9, nil, "1<c-j>2<c-j>3<c-j>4<c-j>5", "↑    3\n     4\n     5_\n/help"},
		{"a line more than fits", 80, 9, nil, "1<c-j>2<c-j>3<c-j>4", "↑    2\n     3\n     4_\n/help"},
		{"a line more below", 80, 9, nil, "1<c-j>2<c-j>3<c-j>4<c-home>", "you> [1]\n     2\n↓    3\n/help"},
		{"a narrow screen", 4, 24, nil, "ab", "> a\n  b_\n"},
		{"more lines below", 80, 9, nil, "1<c-j>2<c-j>3<c-j>4<c-j>5<c-home>", "you> [1]\n     2\n↓    3\n/help"},
		{"a prompt of half the columns", 11, 24, nil, "a", "you> a_\n/help"},
		{"a prompt of more than half", 10, 24, nil, "a", "> a_\n/help"},
		{"a long prompt", 12, 24, func(m *Model) { m.Prompt = "anna or bob> " }, "", "> _\n/help"},
		{"a command asks", 80, 24, func(m *Model) { m.Prompt, m.asks = "", true }, "", "> _\n" + textWaits},
		{"an agent speaks", 80, 24, func(m *Model) { m.Status, m.Prompt = busy, "" }, "next",
			"> next_\n⠴ Ada thinks 3s · esc to interrupt"},
		{"an agent with a longer name", 80, 24, func(m *Model) {
			m.Status, m.Prompt = busy, ""
			m.Status.Doing = "Architect thinks"
		}, "", "> _\n⠴ Architect thinks 3s · esc to interrupt"},
		{"an agent with a long name", 80, 24, func(m *Model) {
			m.Status, m.Prompt = busy, ""
			m.Status.Doing = strings.Repeat("long ", 10) + "thinks"
		}, "", "> _\n⠴ long long long long long long long long long long thi… 3s"},
		{"who is next", 80, 24, func(m *Model) {
			m.Status, m.Prompt = Status{Doing: "Ada thinks", Since: noon, Next: "Bea"}, ""
		}, "", "> _\n⠋ Ada thinks 0s · next: Bea"},
		{"who is next, and Escape", 80, 24, func(m *Model) {
			m.Status, m.Prompt = busy, ""
			m.Status.Next = "Bea"
		}, "", "> _\n⠴ Ada thinks 3s · esc to interrupt · next: Bea"},
		{"no agent speaks", 80, 24, func(m *Model) { m.Status.Facts = []string{"Calculator", "3 messages"} }, "",
			"you> _\nCalculator · 3 messages · /help"},
		{"no agent speaks in a team with a long name", 80, 24, func(m *Model) {
			m.Status.Facts = []string{strings.Repeat("long ", 13)}
		}, "", "you> _\nlong long long long long long long long long long… · /help"},
		{"not saved", 80, 24, func(m *Model) { m.Status = Status{Unsaved: "not saved"} }, "",
			"you> _\nnot saved · /help"},
		{"not saved while an agent speaks", 80, 24, func(m *Model) {
			m.Status, m.Prompt = busy, ""
			m.Status.Unsaved = "not saved"
		}, "", "> _\nnot saved · ⠴ Ada thinks 3s · esc to interrupt"},
		{"what is being said", 80, 24, func(m *Model) { m.Prompt = "" }, "", "held 1\nheld 2\n\n> _\n/help"},
		{"a low screen", 80, 5, func(m *Model) { m.Prompt = "" }, "", "held 1\nheld 2\n> _\n/help"},
		{"a lower screen", 80, 3, func(m *Model) { m.Prompt = "" }, "", "> _\n/help"},
		{"a screen of one row", 80, 1, func(m *Model) { m.Prompt = "" }, "", "> _"},
		{"queued messages", 20, 24, func(m *Model) {
			m.Prompt, m.Queued = "", typed("one\ntwo", "a longer message", endOfInput)
		}, "", "> _\nqueued: one two\nqueued: a longer m…\nqueued: /end\n/help"},
		{"many queued messages", 80, 24, func(m *Model) { m.Prompt, m.Queued = "", typed(strings.Split("12345", "")...) },
			"", "> _\nqueued: 1\nqueued: 2\nqueued: 3\n… 2 more messages queued\n/help"},
		{"the menu", 80, 24, nil, "/e", "you> /e_\n▸ /end     save and end\n  /export  write a snapshot\n1 of 2 · tab completes · ↑↓"},
		{"the menu on a narrow screen", 20, 24, nil, "/e<down>",
			"you> /e_\n  /end     save an…\n▸ /export  write a…\n2 of 2 · tab compl…"},
		{"the middle of a long menu", 80, 9, func(m *Model) {
			m.Sources.Commands = nil
			for _, text := range []string{"/e1", "/e2", "/e3", "/e4", "/e5"} {
				m.Sources.Commands = append(m.Sources.Commands, editor.Choice{Text: text})
			}
		}, "/e<down><down>", "you> /e_\n  /e2\n▸ /e3\n  /e4\n3 of 5 · tab completes · ↑↓"},
		{"the end of a long menu", 80, 9, func(m *Model) {
			m.Sources.Commands = nil
			for _, text := range []string{"/e1", "/e2", "/e3", "/e4", "/e5"} {
				m.Sources.Commands = append(m.Sources.Commands, editor.Choice{Text: text})
			}
		}, "/e<up>", "you> /e_\n  /e3\n  /e4\n▸ /e5\n5 of 5 · tab completes · ↑↓"},
		{"the middle of a long menu of four rows", 80, 12, func(m *Model) {
			m.Sources.Commands = nil
			for _, text := range []string{"/e1", "/e2", "/e3", "/e4", "/e5", "/e6", "/e7"} {
				m.Sources.Commands = append(m.Sources.Commands, editor.Choice{Text: text})
			}
		}, "/e<down><down><down>", "you> /e_\n  /e2\n  /e3\n▸ /e4\n  /e5\n4 of 7 · tab completes · ↑↓"},
		{"the menu on a low screen", 80, 5, nil, "/e", "you> /e_\n▸ /end     save and end\n1 of 2 · tab completes · ↑↓"},
		{"a choice with a column for its help", 11, 24, nil, "/ex", "you> /ex_\n▸ /export…\n1 of 1 · …"},
		{"a choice that takes all columns", 10, 24, nil, "/ex", "> /ex_\n▸ /export\n1 of 1 ·…"},
		{"a search on a low screen", 80, 5, func(m *Model) { m.Search = &Search{Found: strings.Split("12", "")} },
			"<down>", "search> _\n▸ 2\n/help"},
		{"lines on a low screen", 80, 5, nil, "1<c-j>2", "↑    2_\n/help"},
		{"a menu that was closed", 80, 24, nil, "/e<esc><left>", "you> /[e]\n/help"},
		{"a menu that is complete", 80, 24, nil, "/end", "you> /end_\n/help"},
		{"a search", 80, 24, nil, "<c-r>x", "search> x_\n  nothing found\n/help"},
		{"a search without its last letter", 80, 24, nil, "<c-r>xé<bs>", "search> x_\n  nothing found\n/help"},
		{"a search that runs", 80, 24, func(m *Model) { m.Search = &Search{Text: "x", Running: true} }, "",
			"search> x_\n  …\n/help"},
		{"what was found", 80, 24, func(m *Model) { m.Search = &Search{Found: []string{"one\ntwo", "three"}} }, "<down>",
			"search> _\n  one two\n▸ three\n/help"},
		{"more than fits was found", 80, 9, func(m *Model) { m.Search = &Search{Found: strings.Split("12345", "")} },
			"<down><down>", "search> _\n  2\n▸ 3\n  4\n/help"},
		{"the end of what was found", 80, 9, func(m *Model) { m.Search = &Search{Found: strings.Split("12345", "")} },
			"<down><down><down><down>", "search> _\n  3\n  4\n▸ 5\n/help"},
		{"more than four rows were found", 80, 12, func(m *Model) {
			m.Search = &Search{Found: strings.Split("1234567", "")}
		}, "<down><down><down>", "search> _\n  2\n  3\n▸ 4\n  5\n/help"},
		{"a question", 60, 24, func(m *Model) { m.Question = &Question{Choices: permission, Again: "Again."} }, "<enter>",
			"> _\n  [Y] Allow  [N] Refuse  [R] Reason  [Esc] Cancel the turn\nAgain.\n" + textChooses},
		{"a question that is longer than the screen", 80, 24, func(m *Model) {
			m.Question = &Question{Choices: permission, Lines: 100}
		}, "", "> _\nThe question has 100 lines: scroll up to its beginning.\n" +
			"  [Y] Allow  [N] Refuse  [R] Reason  [Esc] Cancel the turn\n" + textChooses},
		{"a question of half the screen", 80, 24, func(m *Model) {
			m.Question = &Question{Choices: permission, Lines: 12}
		}, "", "> _\n  [Y] Allow  [N] Refuse  [R] Reason  [Esc] Cancel the turn\n" + textChooses},
		{"a question of more than half the screen", 80, 24, func(m *Model) {
			m.Question = &Question{Choices: permission, Lines: 13}
		}, "", "> _\nThe question has 13 lines: scroll up to its beginning.\n" +
			"  [Y] Allow  [N] Refuse  [R] Reason  [Esc] Cancel the turn\n" + textChooses},
		{"a row that two answers fill", 24, 24, func(m *Model) { m.Question = &Question{Choices: permission} }, "",
			"> _\n  [Y] Allow  [N] Refuse\n  [R] Reason\n  [Esc] Cancel the turn\na letter and Enter, or…"},
		{"a row that three answers fill", 36, 24, func(m *Model) { m.Question = &Question{Choices: permission} }, "",
			"> _\n  [Y] Allow  [N] Refuse  [R] Reason\n  [Esc] Cancel the turn\n" + textChooses},
		{"a question with an answer in each row", 13, 24, func(m *Model) { m.Question = &Question{Choices: permission} }, "",
			"> _\n  [Y] Allow\n  [N] Refuse\n  [R] Reason\n  [Esc] Can…\na letter an…"},
		{"a question during a search", 60, 24, func(m *Model) {
			m.Question, m.Search = &Question{Choices: permission, Waits: true}, &Search{}
		}, "x", "search> x_\n" + choices + "\n  nothing found\n" + textChooses},
		{"a question on a narrow screen", 30, 24, func(m *Model) { m.Question = &Question{Choices: permission} }, "",
			"> _\n  [Y] Allow  [N] Refuse\n  [R] Reason\n  [Esc] Cancel the turn\na letter and Enter, or ←→ an…"},
		{"the reason of a refusal", 80, 24, func(m *Model) { m.Question = &Question{Choices: permission} }, "r<enter>too",
			"Reason> too_\nEnter: send it. Esc: back.\nwaiting for your answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel()
			if tt.prepare != nil {
				tt.prepare(m)
			}
			press(t, m, tt.keys)
			var held []string
			if strings.Contains(tt.want, "held") || strings.Contains(tt.name, "screen of one") {
				held = []string{"held 1", "held 2"}
			}
			// A blank row separates the input box from what is above, if there is room.
			got := strings.TrimPrefix(rows(m, tt.width, tt.height, held...), "\n")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestStatusRowFits(t *testing.T) {
	for _, unsaved := range []string{"", "not saved"} {
		for _, doing := range []string{"", "Ada thinks", "请 thinks", strings.Repeat("请", 30)} {
			for _, next := range []string{"", "Bea", strings.Repeat("long", 20)} {
				for columns := 1; columns <= 100; columns++ {
					s := Status{Doing: doing, Next: next, Unsaved: unsaved, Escape: true, Since: noon.Add(-time.Hour),
						Facts: []string{"Calculator", "12 messages", "on the hub"}}
					if row := s.row(columns, plainText, noon); displaywidth.String(row) > columns {
						t.Errorf("%q has more than %d columns", row, columns)
					}
				}
			}
		}
	}
}

func plainText(_ ansi.Style, text string) string { return text }

func TestStatusRow(t *testing.T) {
	since := noon.Add(-time.Second)
	for _, tt := range []struct {
		status  Status
		columns int
		color   bool
		want    string
	}{
		{Status{Unsaved: "not saved", Doing: "Ada", Since: since, Next: "Bea"}, 38, false,
			"not saved · ⠇ Ada 1s · next: Bea"},
		{Status{Unsaved: "not saved"}, 38, true, "\x1b[31mnot saved\x1b[m\x1b[2m · /help\x1b[m"},
		{Status{Unsaved: "not saved"}, 17, false, "not saved · /help"},
		{Status{Unsaved: "not saved"}, 16, false, "not saved"},
		{Status{Unsaved: "not saved"}, 9, false, "not saved"},
		{Status{Unsaved: "not saved"}, 4, true, ""},
		{Status{Unsaved: "not saved"}, 9, true, "\x1b[31mnot saved\x1b[m"},
		{Status{Unsaved: "not saved", Doing: "Ada", Since: since, Next: "Bea"}, 32, false,
			"not saved · ⠇ Ada 1s · next: Bea"},
		{Status{Unsaved: "not saved", Doing: "Ada", Since: since, Next: "Bea", Escape: true}, 38, false,
			"not saved · ⠇ Ada 1s · esc · next: Bea"},
		{Status{Unsaved: "not saved", Doing: "Architect uses a tool with a name", Since: since}, 38, false,
			"not saved · ⠇ Architect uses a too… 1s"},
		{Status{Doing: "Ada thinks", Since: since}, 9, false, "⠇ Ada… 1s"},
		{Status{Doing: "Ada thinks", Since: since}, 8, false, ""},
		{Status{Doing: "Ada", Since: since, Escape: true}, 27, false, "⠇ Ada 1s · esc to interrupt"},
		{Status{Doing: "Ada", Since: since, Escape: true}, 26, false, "⠇ Ada 1s · esc to stop"},
		{Status{Doing: "Ada", Since: since, Escape: true, Next: "Bea"}, 39, false, "⠇ Ada 1s · esc to interrupt · next: Bea"},
		{Status{Doing: "Ada", Since: since, Escape: true, Next: "Bea"}, 34, false, "⠇ Ada 1s · esc to stop · next: Bea"},
		{Status{Doing: "Ada", Since: since, Escape: true, Next: "Bea"}, 33, false, "⠇ Ada 1s · esc · next: Bea"},
		{Status{Doing: "Ada", Since: since, Escape: true, Next: "Bea"}, 20, false, "⠇ Ada 1s · esc"},
		{Status{Doing: "Ada", Since: since, Next: "a long name, and another"}, 30, false, "⠇ Ada 1s · next: a long name,…"},
		{Status{Doing: "Ada", Since: since, Next: "a long name"}, 17, false, "⠇ Ada 1s · next:…"},
		{Status{Doing: "Ada", Since: since, Next: "a long name"}, 16, false, "⠇ Ada 1s"},
		{Status{Facts: []string{"Calculator"}}, 9, false, "/help"},
	} {
		styled := plainText
		if tt.color {
			styled = ansi.Color16.Style
		}
		if got := tt.status.row(tt.columns, styled, noon); got != tt.want {
			t.Errorf("%+v in %d columns: got %q, want %q", tt.status, tt.columns, got, tt.want)
		}
	}
}

func TestStatusFollowsTools(t *testing.T) {
	var s Status
	var c conversation.Conversation
	for _, tt := range []struct {
		payload projection.Payload
		doing   string
	}{
		{projection.TurnStarted{TurnID: "t", MemberID: "ada"}, "ADA thinks"},
		{projection.ToolStarted{TurnID: "t", Name: "Bash"}, "ADA uses Bash"},
		{projection.TurnStarted{TurnID: "u", MemberID: "bo"}, "ADA uses Bash"},
		{projection.ToolCompleted{TurnID: "t"}, "ADA thinks"},
		{projection.TurnEnded{TurnID: "t", MemberID: "ada"}, "BO thinks"},
		{projection.TurnEnded{TurnID: "u", MemberID: "bo"}, ""},
	} {
		c.Apply(projection.Event{Payload: tt.payload})
		s.Follow(c.Open(), strings.ToUpper, noon)
		if s.Doing != tt.doing || s.spins() != (tt.doing != "") {
			t.Errorf("%T: %q, spins %v, want %q", tt.payload, s.Doing, s.spins(), tt.doing)
		}
	}
}

func TestPlaceholderIsInTheInputBox(t *testing.T) {
	m := newModel()
	m.Style.Profile = ansi.Color16
	want := "\x1b[1myou> \x1b[m_\x1b[2m" + cut(textNextMessage, 20) + "\x1b[m"
	if got := strings.Split(rows(m, 27, 24), "\n")[1]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCutAndStyled(t *testing.T) {
	m := newModel()
	m.Style.Profile = ansi.Color16
	for got, want := range map[string]string{
		cut("abc", 0): "…", cut("abc", 1): "…", cut("abc", 2): "a…", cut("abc", 3): "abc",
		m.styled(bold, ""): "", m.styled(ansi.Style{}, "no style"): "no style", m.styled(bold, "x"): "\x1b[1mx\x1b[m",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The mark of the lines takes columns from them.
func TestTranscriptIsAsWideAsTheTerminal(t *testing.T) {
	m := newModel()
	m.Mark = "| "
	for columns, want := range map[int]int{80: 78, 3: 1, 2: 1, 1: 1} {
		if got := m.style(columns).Width; got != want {
			t.Errorf("on %d columns: %d, want %d", columns, got, want)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(m *Model)
		want   string
	}{
		{"a person is next", func(*Model) {}, textNextMessage},
		{"an agent speaks", func(m *Model) { m.Prompt, m.Status.Doing = "", "Ada thinks" }, textTypeAhead},
		{"an agent is next", func(m *Model) { m.Prompt = "" }, ""},
		{"a text", func(m *Model) { m.Editor.Set("text") }, ""},
		{"a question", func(m *Model) { m.Question = &Question{} }, ""},
		{"a search", func(m *Model) { m.Search = &Search{} }, ""},
		{"no colours", func(m *Model) { m.Style.Profile = ansi.NoColor }, ""},
	} {
		m := newModel()
		m.Style.Profile = ansi.Color16
		tt.change(m)
		if got := m.placeholder(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPastes(t *testing.T) {
	for _, tt := range []struct {
		name         string
		change       func(m *Model)
		input, found string
		effect       Effect
	}{
		{"into the input box", func(*Model) {}, "a\nb", "", None},
		{"into a search", func(m *Model) { m.Search = &Search{Text: "x"} }, "", "xa b", Find},
		{"during a question", func(m *Model) { m.Question = &Question{Choices: permission} }, "a\nb", "", None},
		{"during a question that every key answers", func(m *Model) { m.Question = &Question{} }, "", "", None},
		{"during a question that waits", func(m *Model) { m.Question = &Question{Choices: permission, Waits: true} },
			"a\nb", "", None},
	} {
		m := newModel()
		tt.change(m)
		effect, _ := m.Update(tty.Paste{Text: "a\nb"})
		found := ""
		if m.Search != nil {
			found = m.Search.Text
		}
		if effect != tt.effect || m.Editor.Text() != tt.input || found != tt.found {
			t.Errorf("%s: effect %v, input %q, search %q", tt.name, effect, m.Editor.Text(), found)
		}
	}
}

func TestReturnPutsQueuedMessagesBack(t *testing.T) {
	m := newModel()
	press(t, m, "typed")
	m.Return([]string{"one", endOfInput, "two"})
	if got := m.Editor.Text(); got != "one\ntwo\ntyped" {
		t.Errorf("the input is %q", got)
	}
}

func TestPageKeys(t *testing.T) {
	for _, tt := range []struct{ name, keys, first, last string }{
		{"the beginning", "", "1", "1–4 of 10 · q closes"},
		{"down", "j<down>", "3", "3–6 of 10 · q closes"},
		{"up at the beginning", "k<up>", "1", "1–4 of 10 · q closes"},
		{"a page", " ", "4", "4–7 of 10 · q closes"},
		{"the end", "G", "7", "7–10 of 10 · q closes"},
		{"up", "Gk", "6", "6–9 of 10 · q closes"},
		{"a row up by its key", "G<up>", "6", "6–9 of 10 · q closes"},
		{"a page back by its key", "G<pgup>", "4", "4–7 of 10 · q closes"},
		{"the end by its key", "<end>", "7", "7–10 of 10 · q closes"},
		{"the beginning by its key", "G<home>", "1", "1–4 of 10 · q closes"},
		{"a page by its key", "<pgdn>", "4", "4–7 of 10 · q closes"},
		{"beyond the end", "G j", "7", "7–10 of 10 · q closes"},
		{"a page back", "Gb", "4", "4–7 of 10 · q closes"},
		{"the beginning again", "Gg", "1", "1–4 of 10 · q closes"},
		{"with keys that have names", "<end><pgup><pgdn><home><pgdn><enter>", "5", "5–8 of 10 · q closes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel()
			m.page = &page{render: func(int) []string { return strings.Split("1 2 3 4 5 6 7 8 9 10", " ") }}
			m.page.rows(80, 5)
			for _, k := range regexp.MustCompile(`<.*?>|.`).FindAllString(tt.keys, -1) {
				press(t, m, k)
				m.page.rows(80, 5)
			}
			if rows := m.page.rows(80, 5); rows[0] != tt.first || rows[4] != tt.last {
				t.Errorf("got %q, want %s … %s", rows, tt.first, tt.last)
			}
		})
	}
	for _, keys := range []string{"q", "<esc>", "<c-o>", "<c-c>"} {
		m := newModel()
		m.page = &page{}
		if effects := press(t, m, keys); m.page != nil || effects != nil {
			t.Errorf("%s does not only close the page", keys)
		}
	}
}

func TestPageIsRenderedForTheWidthOfTheTerminal(t *testing.T) {
	p := &page{render: func(columns int) []string { // a line of 400 columns
		return strings.Split(strings.TrimSuffix(strings.Repeat(strings.Repeat("x", columns)+"\n", 400/columns), "\n"), "\n")
	}}
	for _, tt := range []struct {
		columns, first int
		last           string
	}{
		{80, 0, "1–3 of 5 · q closes"}, {40, 0, "1–3 of 10 · q closes"}, {40, 4, "5–7 of 10 · q closes"},
		{20, 4, "9–11 of 20 · q closes"}, {80, 9, "3–5 of 5 · q closes"},
	} {
		p.first = tt.first
		if got := p.rows(tt.columns, 4); len(got[0]) != tt.columns || got[3] != tt.last {
			t.Errorf("on %d columns it shows %q", tt.columns, got)
		}
	}
}

func TestPageOnALowScreen(t *testing.T) {
	m := newModel()
	m.page = &page{render: func(int) []string { return strings.Split("12345", "") }}
	for _, tt := range []struct {
		height int
		want   string
	}{
		{1, "1|1–1 of 5 · q closes"}, {2, "1|1–1 of 5 · q closes"}, {3, "1|2|1–2 of 5 · q closes"},
	} {
		if got := strings.Join(m.page.rows(80, tt.height), "|"); got != tt.want {
			t.Errorf("on %d rows it shows %q, want %q", tt.height, got, tt.want)
		}
	}
	press(t, m, "<pgdn>")
	if got := strings.Join(m.page.rows(80, 3), "|"); got != "2|3|2–3 of 5 · q closes" {
		t.Errorf("the next page is %q", got)
	}
}

// At the end of one long line, the end of its parts is shown.
func TestPageThatBecomesNarrowStaysAtTheEnd(t *testing.T) {
	p := &page{render: func(columns int) []string { return make([]string, 400/columns) }}
	p.rows(400, 4)
	p.first = 1
	if got := p.rows(40, 4)[3]; got != "8–10 of 10 · q closes" {
		t.Errorf("it shows %q", got)
	}
}

func TestRegionWithoutInputBox(t *testing.T) {
	m := Model{OnlyShows: true}
	if got, _ := m.Live(40, 8, []string{"1", "2", "3", "4", "5"}, noon); strings.Join(got, "|") != "2|3|4|5" {
		t.Errorf("it has the rows %q", got)
	}
	var c conversation.Conversation
	c.Apply(projection.Event{Payload: projection.TurnStarted{TurnID: "t", MemberID: "ada"}})
	c.Apply(projection.Event{Payload: projection.ToolStarted{TurnID: "t", Name: "Bash"}})
	m.Status.Follow(c.Open(), strings.ToUpper, noon)
	if got, _ := m.Live(40, 8, []string{"1"}, noon.Add(time.Second)); strings.Join(got, "|") != "1||⠇ ADA uses Bash 1s" {
		t.Errorf("during a turn it has the rows %q", got)
	}
	if got, _ := m.Live(40, 8, nil, noon.Add(-time.Hour)); strings.Join(got, "|") != "|⠋ ADA uses Bash 0s" {
		t.Errorf("with a clock that is late it has the rows %q", got)
	}
	m.Status.Follow(nil, nil, noon)
	if got, _ := m.Live(40, 8, nil, noon); len(got) > 0 {
		t.Errorf("after it it has the rows %q", got)
	}
}

func TestWhatAnAgentSaysIsNoPartOfAQuestion(t *testing.T) {
	m := newModel()
	m.Transcript = &view.Transcript{}
	started := projection.Record(noon, projection.TurnStarted{TurnID: "t", MemberID: "ada"})
	m.Transcript.Apply(projection.DecodeEvent(journal.Event{Time: started.Time, Type: started.Type, Data: started.Data}))
	m.Transcript.Stream("t", "Ada requests permission for: ls")
	if _, held := m.Held(80, 24); len(held) == 0 {
		t.Fatal("nothing is held")
	}
	m.Question = &Question{Choices: permission}
	if early, held := m.Held(80, 2); len(early)+len(held) > 0 {
		t.Errorf("below the question is %q %q", early, held)
	}
	m.Question = nil
	if _, held := m.Held(80, 24); len(held) == 0 {
		t.Error("after the question nothing is held")
	}
}
