package editor

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/clipperhouse/displaywidth"
)

// marked returns the text with the cursor as a |, and pastes as their labels.
func marked(e *Editor) string {
	var b strings.Builder
	for i, c := range e.cells {
		if i == e.at {
			b.WriteByte('|')
		}
		if c.lines > 0 {
			b.WriteString(c.shown())
		} else {
			b.WriteString(c.text)
		}
	}
	if e.at == len(e.cells) {
		b.WriteByte('|')
	}
	return b.String()
}

// press types text, a rune at a time, and keys in angle brackets.
func press(t *testing.T, e *Editor, keys string) {
	t.Helper()
	for keys != "" {
		typed, rest, _ := strings.Cut(keys, "<")
		for _, r := range typed {
			e.Type(string(r))
		}
		key, after, found := strings.Cut(rest, ">")
		if found && !e.Press(keyNamed(t, key)) {
			t.Fatalf("no binding of %s", key)
		}
		keys = after
	}
}

// keyNamed returns a key by its name, such as ctrl+a.
func keyNamed(t *testing.T, name string) (key tty.Key) {
	t.Helper()
	parts := strings.Split(name, "+")
	for _, mod := range parts[:len(parts)-1] {
		key.Mod |= map[string]tty.Mod{"ctrl": tty.Ctrl, "alt": tty.Alt, "shift": tty.Shift}[mod]
	}
	code, ok := map[string]tty.Code{
		"enter": tty.Enter, "backspace": tty.Backspace, "delete": tty.Delete, "up": tty.Up, "down": tty.Down,
		"left": tty.Left, "right": tty.Right, "home": tty.Home, "end": tty.End,
	}[parts[len(parts)-1]]
	if !ok {
		code = tty.Code([]rune(parts[len(parts)-1])[0])
	}
	key.Code = code
	return key
}

var edits = []struct{ name, keys, want string }{
	{"typing", "hello", "hello|"},
	{"typing in between", "ab<left>x", "ax|b"},
	{"left and right at the ends", "<left>a<right><right>b", "ab|"},
	{"a combining mark joins", "e\u0301<left>", "|e\u0301"},
	{"a combining mark joins later", "ex<left>\u0301<left>", "|e\u0301x"},
	{"an emoji sequence is one cell", "👩\u200d👩\u200d👧x<left><left>", "|👩\u200d👩\u200d👧x"},
	{"backspace removes a grapheme", "ae\u0301<backspace>", "a|"},
	{"backspace at the start", "a<home><backspace>", "|a"},
	{"delete", "abc<home><delete>", "|bc"},
	{"delete at the end", "a<delete>", "a|"},
	{"home and end of a line", "one<ctrl+j>two<home>x<end>y", "one\nxtwoy|"},
	{"ctrl+a and ctrl+e", "one<ctrl+a>x<ctrl+e>y", "xoney|"},
	{"ctrl+b and ctrl+f", "abc<ctrl+b><ctrl+b><ctrl+b>x<ctrl+f>y", "xay|bc"},
	{"the start of the text", "one<ctrl+j>two<ctrl+home>", "|one\ntwo"},
	{"the end of the text", "one<ctrl+j>two<ctrl+home><ctrl+end>x", "one\ntwox|"},
	{"alt+left and alt+right", "one two<alt+left>x<home><alt+right>y", "oney| xtwo"},
	{"ctrl+h and shift+backspace", "abcd<ctrl+h><shift+backspace>", "ab|"},
	{"ctrl+d", "abc<home><ctrl+d>", "|bc"},
	{"words to the left", "one two-three<alt+b>x<ctrl+left><ctrl+left>y", "one ytwo-xthree"},
	{"words to the right", "one two<home><alt+f>x<ctrl+right>y", "onex twoy"},
	{"kill the word before", "one two-three<alt+backspace>", "one two-|"},
	{"kill to the blank before", "one two-three<ctrl+w>", "one |"},
	{"kill the word after", "one two<home><alt+d>", "| two"},
	{"kill to the start of the line", "one<ctrl+j>two<ctrl+u>", "one\n|"},
	{"kill to the end of the line", "one<ctrl+j>two<ctrl+home><ctrl+k>", "|\ntwo"},
	{"kill a line break", "one<ctrl+j>two<ctrl+home><ctrl+k><ctrl+k>", "|two"},
	{"ctrl+backspace", "one two-three<ctrl+backspace>", "one two-|"},
	{"ctrl+delete", "one two<home><ctrl+delete>", "| two"},
	{"kill without a word before", "--<alt+backspace>", "|"},
	{"kill without a word after", "--<home><alt+d>", "|"},
	{"kill blanks", "  <ctrl+w>", "|"},
	{"kill nothing", "one<ctrl+w>x<home><ctrl+u><end><ctrl+y>", "xone|"},
	{"yank", "one two<ctrl+w><home><ctrl+y>", "two|one "},
	{"yank what was killed backwards", "one two three<ctrl+w><ctrl+w>x<ctrl+y>", "one xtwo three|"},
	{"yank what was killed forwards", "one two<home><alt+d><alt+d>x<ctrl+y>", "xone two|"},
	{"yank after a move between kills", "one two<ctrl+w><left><ctrl+w><ctrl+y>", "one| "},
	{"yank after typing between kills", "one two<ctrl+w>x<ctrl+w><ctrl+y>", "one x|"},
	{"yank after undo between kills", "one two<ctrl+w><ctrl+_><ctrl+w><ctrl+y>", "one two|"},
	{"undo of typed text", "one<ctrl+w>two<ctrl+_>", "|"},
	{"undo twice", "one<ctrl+w>two<ctrl+_><ctrl+_>", "one|"},
	{"undo of nothing", "<ctrl+_>a<ctrl+_><ctrl+_>", "|"},
	{"undo of text after a line break", "one<ctrl+j>two<ctrl+_>", "one\n|"},
	{"undo of text after a move", "on<left><right>e<ctrl+_>", "on|"},
	{"undo of text after undo", "one<ctrl+_>two<ctrl+_>", "|"},
	{"undo after a yank of nothing", "a<ctrl+y><ctrl+_>", "|"},
	{"undo after backspace at the start", "a<home><backspace><ctrl+_>", "|"},
	{"undo of a recalled message", "draft<up><ctrl+_>", "draft|"},
	{"up by one row", "a<ctrl+j>b<ctrl+j>c<up>", "a\nb|\nc"},
	{"down by one row", "a<ctrl+j>b<ctrl+j>c<ctrl+home><down>", "a\n|b\nc"},
	{"ctrl+p and ctrl+n", "ab<ctrl+j>cd<ctrl+p>x<ctrl+n>y", "abx\ncdy|"},
	{"up after typing", "long<ctrl+j>ab<ctrl+j>cd<up>x<up>", "lon|g\nabx\ncd"},
	{"up after a move", "long<ctrl+j>ab<ctrl+j>cd<up><left><up>", "l|ong\nab\ncd"},
	{"up after undo", "abcd<ctrl+j>x<up><ctrl+_><up>", "|abcd\n"},
	{"up to the middle of a wide character", "a请b<ctrl+j>xy<up>", "a|请b\nxy"},
	{"down from a wide character", "a请b<ctrl+j>xyz<up><down>", "a请b\nxyz|"},
	{"up and down keep the column", "long line<ctrl+j>x<ctrl+j>long line<left><left><up><up>", "long li|ne\nx\nlong line"},
	{"down again", "long line<ctrl+j>x<ctrl+j>long line<left><left><up><up><down><down>", "long line\nx\nlong li|ne"},
	{"alt+enter, shift+enter and ctrl+enter", "a<alt+enter>b<shift+enter>c<ctrl+enter>d", "a\nb\nc\nd|"},
	{"controls are no text", "a\x1b[31mb\x00\u009bc", "a[31mbc|"},
}

func TestEditorKeys(t *testing.T) {
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{}
			e.Remember("recalled")
			press(t, e, tt.keys)
			got := marked(e)
			if !strings.Contains(tt.want, "|") {
				got = strings.Replace(got, "|", "", 1)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditorPastes(t *testing.T) {
	lines := strings.Repeat("line\r\n", 200)
	for _, tt := range []struct{ name, pasted, shown, sent string }{
		{"a short paste", "one\rtwo", "see: one\ntwo.|", "see: one\ntwo."},
		{"many lines", lines, "see: [paste: 200 lines].|", "see: " + strings.Repeat("line\n", 200) + "."},
		{"many lines, the last without its end", lines + "end", "see: [paste: 201 lines].|",
			"see: " + strings.Repeat("line\n", 200) + "end."},
		{"seven line breaks", strings.Repeat("x\n", 7), "see: " + strings.Repeat("x\n", 7) + ".|",
			"see: " + strings.Repeat("x\n", 7) + "."},
		{"eight line breaks", strings.Repeat("x\n", 8), "see: [paste: 8 lines].|",
			"see: " + strings.Repeat("x\n", 8) + "."},
		{"a thousand bytes", strings.Repeat("x", 1000), "see: " + strings.Repeat("x", 1000) + ".|",
			"see: " + strings.Repeat("x", 1000) + "."},
		{"a long line", strings.Repeat("x", 5000), "see: [paste: 5000 bytes].|",
			"see: " + strings.Repeat("x", 5000) + "."},
		{"nothing", "", "see: .|", "see: ."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{}
			e.Type("see: ")
			e.Paste(tt.pasted)
			e.Type(".")
			if got := marked(e); got != tt.shown {
				t.Errorf("it shows %q, want %q", got, tt.shown)
			}
			if got := e.Take(); got != tt.sent || !e.Empty() {
				t.Errorf("it sends %.40q…, want %.40q…", got, tt.sent)
			}
		})
	}
	e := &Editor{}
	e.Paste(lines)
	press(t, e, "<backspace>x<ctrl+_><ctrl+_>")
	if got := marked(e); got != "[paste: 200 lines]|" {
		t.Errorf("after Backspace and undo it shows %q", got)
	}
}

func TestEditorRecallsEarlierMessages(t *testing.T) {
	e := &Editor{}
	e.Remember("own")
	press(t, e, "draft")
	e.RememberEarlier([]string{"oldest", " ", "own", "older"})
	for _, step := range []struct{ keys, want string }{
		{"<up>", "own|"}, {"<up>", "older|"}, {"<up>", "oldest|"}, {"<up>", "oldest|"}, {"<down><down><down>", "draft|"},
	} {
		press(t, e, step.keys)
		if got := marked(e); got != step.want {
			t.Errorf("after %s: %q, want %q", step.keys, got, step.want)
		}
	}
}

func TestEditorRecallsMessages(t *testing.T) {
	e := &Editor{}
	e.Remember("first")
	e.Remember("second\nline")
	e.Remember("second\nline")
	for _, step := range []struct{ keys, want string }{
		{"draft<up>", "second\nline|"}, // from the only row
		{"<up>", "seco|nd\nline"},
		{"<up>", "first|"},
		{"<up>", "first|"}, // there is no earlier one
		{"<down>", "second\nline|"},
		{"<down>", "draft|"},
		{"<down>", "draft|"},
		{"<up> edited<up><up><down><down>", "draft|"}, // an edit of a recalled message is dropped
	} {
		press(t, e, step.keys)
		if got := marked(e); got != step.want {
			t.Errorf("after %s: %q, want %q", step.keys, got, step.want)
		}
	}
	press(t, e, "<up>")
	if got := e.Take(); got != "second\nline" {
		t.Errorf("it sends %q", got)
	}
	press(t, e, "<up><home>")
	if got := marked(e); got != "second\n|line" {
		t.Errorf("the message that was sent last is %q", got)
	}
}

func TestEditorBackslashContinuesTheLine(t *testing.T) {
	e := &Editor{}
	press(t, e, "one\\")
	if !e.Continue() || marked(e) != "one\n|" {
		t.Errorf("got %q", marked(e))
	}
	if press(t, e, "<ctrl+_>"); marked(e) != "one\\|" {
		t.Errorf("after undo: %q", marked(e))
	}
	for _, keys := range []string{"", "\\two", "one\\<left>", "\\<home>"} {
		e.Clear()
		if press(t, e, keys); e.Continue() {
			t.Errorf("%s continues the line", keys)
		}
	}
}

func TestEditorMovesInWrappedRows(t *testing.T) {
	for _, tt := range []struct{ name, keys, want string }{
		{"up", "abcdefgh<up>", "abc|defgh"},
		{"up from the end of a full row", "abcdefghij<up>", "abcd|efghij"},
		{"down", "abcdefgh<home><right><down>", "abcdef|gh"},
		{"down from the last column", "abcdefghij<home><right><right><right><right><down>", "abcdefghi|j"},
		{"up from the start of a row", "abcdefgh<left><left><left><up>", "|abcdefgh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{Width: 5}
			if press(t, e, tt.keys); marked(e) != tt.want {
				t.Errorf("got %q, want %q", marked(e), tt.want)
			}
		})
	}
}

func TestTextBeforeTheCursor(t *testing.T) {
	for _, tt := range []struct {
		keys, pasted, typed string
		before              string
		first               bool
	}{
		{"", "", "", "", true},
		{"ask @cr now<left><left>", "", "", "ask @cr n", true},
		{"one<ctrl+j>@cr", "", "", "@cr", false},
		{"one<ctrl+j>", "", "", "", false},
		{"one", strings.Repeat("x\n", 10), "@cr", "@cr", false},
	} {
		e := &Editor{}
		press(t, e, tt.keys)
		e.Paste(tt.pasted)
		e.Type(tt.typed)
		if before, first := e.Before(); before != tt.before || first != tt.first {
			t.Errorf("%s: got %q, first: %v, want %q, %v", tt.keys, before, first, tt.before, tt.first)
		}
	}
}

func TestUndo(t *testing.T) {
	e := &Editor{}
	for range maxUndo + 2 {
		press(t, e, "a<left><right>")
	}
	for range maxUndo + 2 {
		press(t, e, "<ctrl+_>")
	}
	if got := marked(e); got != "aa|" {
		t.Errorf("after a hundred changes were undone, the text is %q", got)
	}
	e.Set("set")
	if press(t, e, "<ctrl+_>"); marked(e) != "aa|" {
		t.Errorf("after undo of Set, the text is %q", marked(e))
	}
	press(t, e, "one")
	e.Clear()
	if press(t, e, "<ctrl+_>"); marked(e) != "|" {
		t.Errorf("undo restores %q, which was cleared", marked(e))
	}
	press(t, e, "one")
	e.Clear()
	if press(t, e, "two<ctrl+_>"); marked(e) != "|" {
		t.Errorf("undo of text after Clear leaves %q", marked(e))
	}
}

func TestEditorRows(t *testing.T) {
	for _, tt := range []struct {
		name, keys   string
		width, limit int
		want         []string
		above, below int
	}{
		{"empty", "", 10, 5, []string{"_"}, 0, 0},
		{"a line", "hello", 10, 5, []string{"hello_"}, 0, 0},
		{"a full row", "0123456789", 10, 5, []string{"0123456789_"}, 0, 0},
		{"two rows", "0123456789ab<left>", 10, 5, []string{"0123456789", "a_b_"}, 0, 0},
		{"wide characters", "请帮我写一个", 5, 5, []string{"请帮", "我写", "一个_"}, 0, 0},
		{"words", "hello dear", 8, 5, []string{"hello ", "dear_"}, 0, 0},
		{"a wide character after a narrow one", "a请", 2, 5, []string{"a", "请_"}, 0, 0},
		{"lines", "a<ctrl+j><ctrl+j>b<up>", 10, 5, []string{"a", "_", "b"}, 0, 0},
		{"more lines than rows", "1<ctrl+j>2<ctrl+j>3<ctrl+j>4<ctrl+j>5", 10, 3, []string{"3", "4", "5_"}, 2, 0},
		{"more lines than rows, at the start", "1<ctrl+j>2<ctrl+j>3<ctrl+j>4<ctrl+home>", 10, 2, []string{"_1_", "2"}, 0, 2},
		{"a tab", "a\tb", 10, 5, []string{"a    b_"}, 0, 0},
		{"bidi controls", "a\u202eb", 20, 5, []string{"a\ufffdb_"}, 0, 0},
		{"a cell wider than the row", "请", 1, 5, []string{"请_"}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{Width: tt.width}
			press(t, e, tt.keys)
			v := e.View(tt.limit)
			v.Rows[v.Caret.Row] = withCaret(v.Rows[v.Caret.Row], v.Caret.Column)
			if !slices.Equal(v.Rows, tt.want) || v.Above != tt.above || v.Below != tt.below {
				t.Errorf("got %q, %d above, %d below, want %q, %d, %d", v.Rows, v.Above, v.Below, tt.want, tt.above, tt.below)
			}
		})
	}
}

// withCaret returns a row with an underscore on both sides of the character at a column, or at its end.
func withCaret(row string, column int) string {
	before := displaywidth.TruncateString(row, column, "")
	at := displaywidth.StringGraphemes(row[len(before):])
	if !at.Next() {
		return row + "_"
	}
	return before + "_" + at.Value() + "_" + row[len(before)+len(at.Value()):]
}

func TestComplete(t *testing.T) {
	sources := Sources{
		Commands: []Choice{{Text: "/status"}, {Text: "/save"}, {Text: "/end"}},
		Members:  []Choice{{Text: "@planner"}, {Text: "@critic"}},
		Paths: func(typed string) []string {
			return map[string][]string{"c": {"c.go"}, "m": {"b/main.go", "m.go"}}[typed]
		},
		Files: fstest.MapFS{
			"src/main.go": {}, "src/map.go": {}, "src/.hidden": {}, "README.md": {}, "with space": {}, "a\x1b[31m": {},
		},
	}
	for _, tt := range []struct {
		before string
		first  bool
		want   string // the choices
		word   int
	}{
		{"/s", true, "/status /save", 2},
		{"/S", true, "/status /save", 2},
		{"/", true, "/status /save /end", 1},
		{"/s", false, "", 2},
		{"say /s", true, "", 2},
		{"/end", true, "/end", 4},
		{"/ends", true, "", 5},
		{"ask\t@cr", false, "@critic", 3},
		{"@", true, "@planner @critic", 1},
		{"see @m", true, "@b/main.go @m.go", 2},
		{"@c", true, "@critic @c.go", 2},
		{"ask @cr", false, "@critic", 3},
		{"me@cr", true, "", 5},
		{"see @./", true, "@./README.md @./src/", 3},
		{"see @./src/m", true, "@./src/main.go @./src/map.go", 8},
		{"see @./src/.", true, "@./src/.hidden", 8},
		{"see @./../", true, "", 6},
		{"see @./nowhere/", true, "", 11},
		{"see @.//", true, "@.//README.md @.//src/", 4},
		{"", true, "", 0},
	} {
		choices, word := Complete(tt.before, tt.first, sources)
		var got []string
		for _, c := range choices {
			got = append(got, c.Text)
		}
		if strings.Join(got, " ") != tt.want || word != tt.word {
			t.Errorf("%q: %q, word of %d bytes, want %q, %d", tt.before, got, word, tt.want, tt.word)
		}
	}
}

func TestReplaceBefore(t *testing.T) {
	e := &Editor{}
	press(t, e, "ask @cr now<left><left><left><left>")
	e.ReplaceBefore(3, "@critic ")
	if got := marked(e); got != "ask @critic | now" {
		t.Errorf("got %q", got)
	}
	e.Set("@cr")
	e.ReplaceBefore(3, "@critic ")
	if got := marked(e); got != "@critic |" {
		t.Errorf("at the start: got %q", got)
	}
}

// openDirs counts the directories that are open.
type openDirs struct {
	fstest.MapFS
	open int
}

func (o *openDirs) Open(name string) (fs.File, error) {
	f, err := o.MapFS.Open(name)
	o.open++
	return &openDir{f.(fs.ReadDirFile), o}, err
}

type openDir struct {
	fs.ReadDirFile
	in *openDirs
}

func (d *openDir) Close() error {
	d.in.open--
	return d.ReadDirFile.Close()
}

func TestCompletionClosesDirectories(t *testing.T) {
	files := &openDirs{MapFS: fstest.MapFS{"src/main.go": {}}}
	if choices, _ := Complete("@./src/", true, Sources{Files: files}); len(choices) != 1 || files.open != 0 {
		t.Errorf("the choices are %v; %d directories are open", choices, files.open)
	}
}

// pipeFS has a named pipe, which cannot be opened.
type pipeFS struct {
	fstest.MapFS
	opened bool
}

func (p *pipeFS) Open(name string) (fs.File, error) {
	p.opened = true
	return nil, fs.ErrInvalid
}

func TestCompletionOpensOnlyDirectories(t *testing.T) {
	files := &pipeFS{MapFS: fstest.MapFS{"pipe": {Mode: fs.ModeNamedPipe}}}
	if choices, _ := Complete("@./pipe/", true, Sources{Files: files}); len(choices) > 0 || files.opened {
		t.Errorf("the choices are %v; opened: %v", choices, files.opened)
	}
}

func TestRecalledMessagesHaveNoControls(t *testing.T) {
	var e Editor
	e.Remember("a\x04\x1b[2J\r\nb")
	e.Press(tty.Key{Code: tty.Up})
	if got := e.Take(); got != "a[2J\nb" {
		t.Errorf("it sends %q", got)
	}
}

func TestLongTextsBecomePastes(t *testing.T) {
	long := strings.Repeat("word ", maxCells/5)
	var e Editor
	for range 10 {
		e.Type(long)
		e.Type("more")
		if len(e.cells) > maxCells {
			t.Fatalf("%d letters are edited", len(e.cells))
		}
	}
	if want := strings.Repeat(long+"more", 10); e.Text() != want {
		t.Errorf("the text has %d bytes, want %d", len(e.Text()), len(want))
	}
	e.Clear()
	letters := strings.Repeat("x", maxCells)
	if e.Type(letters); len(e.cells) != maxCells {
		t.Errorf("%d cells, want %d letters", len(e.cells), maxCells)
	}
	if e.Set(letters); len(e.cells) != maxCells {
		t.Errorf("%d cells, want %d letters", len(e.cells), maxCells)
	}
	press(t, &e, "<home>a")
	if len(e.cells) != maxCells+1 || e.cells[0].lines != 0 {
		t.Errorf("after a letter at the start: %d cells, the first is %v", len(e.cells), e.cells[0])
	}
	press(t, &e, "b")
	if e.cells[0].text != "ab" || e.cells[0].lines != 1 {
		t.Errorf("after two letters at the start, the first cell is %v", e.cells[0])
	}
	e.Set(long + "more more")
	if len(e.cells) != 1 || e.Text() != long+"more more" {
		t.Errorf("%d cells, %d bytes", len(e.cells), len(e.Text()))
	}
}

// FuzzEditor presses keys, types and pastes, and checks what must hold for any of it.
func FuzzEditor(f *testing.F) {
	keys := slices.SortedFunc(maps.Keys(bindings), func(a, b tty.Key) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Mod, b.Mod))
	})
	f.Add("one two", "\x01\x05\x20\x80", 10)
	f.Add("e\u0301\u0301👩\u200d👧\u200d🇩🇪\r\n\t\x1b", "\x00\xff\x10\x11\x12", 3)
	f.Add("\u202e\u200b请\n\n", "\x21\x22\x23\x24\x25\x26", 1)
	f.Fuzz(func(t *testing.T, typed, script string, width int) {
		e := &Editor{Width: max(width, 1)}
		for _, b := range []byte(script) {
			switch {
			case b < 0x80:
				e.Press(keys[int(b)%len(keys)])
			case b < 0xc0:
				e.Type(typed)
			case b < 0xe0:
				e.Paste(strings.Repeat(typed, int(b-0xbf)))
			case b < 0xf0:
				e.Remember(typed)
			default:
				e.Continue()
			}
			if len(e.Text()) > 1<<16 {
				return
			}
			if e.at < 0 || e.at > len(e.cells) {
				t.Fatalf("the cursor is at %d of %d", e.at, len(e.cells))
			}
			v := e.View(5)
			if len(v.Rows) == 0 || len(v.Rows) > 5 || v.Above < 0 || v.Below < 0 {
				t.Fatalf("%d rows, %d above, %d below", len(v.Rows), v.Above, v.Below)
			}
			for _, row := range v.Rows {
				if strings.ContainsFunc(row, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
					t.Fatalf("the row %q has a control character", row)
				}
				if n := displaywidth.String(row); n > max(e.Width, 32)+1 {
					t.Fatalf("the row %q has %d columns", row, n)
				}
			}
			if at := v.Caret; at.Row < 0 || at.Row >= len(v.Rows) || at.Column > displaywidth.String(v.Rows[at.Row]) {
				t.Fatalf("the cursor is at %v of %q", at, v.Rows)
			}
		}
	})
}
