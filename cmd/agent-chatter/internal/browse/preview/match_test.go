package preview

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func literal(text string) func(string) [][]int {
	text = strings.ToValidUTF8(text, "")
	pattern := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	return func(text string) [][]int { return pattern.FindAllStringIndex(text, -1) }
}

// signed returns the rows that have a sign.
func signed(p *Pane) (rows []string) {
	for _, row := range p.Rows() {
		if text, ok := strings.CutPrefix(row, matchSign); ok {
			rows = append(rows, text)
		}
	}
	return rows
}

func TestMessageIsShownAtATopThird(t *testing.T) {
	s := newSession(t)
	var seqs []uint64
	for i := range 100 {
		seqs = append(seqs, s.say(mia, fmt.Sprintf("Question %d.", i)),
			s.turn(ada, fmt.Sprintf("Answer %d.\n\n", i), strings.Repeat("It is so. ", 30)+"kettle"))
	}
	for _, i := range []int{0, 1, 60, 61, 120, 121, 198, 199} {
		p := New(s.app)
		p.SetMatch(literal("answer"))
		drive(p, p.SetSize(60, 36))
		drive(p, p.Show(s.row(), seqs[i]))
		want := fmt.Sprintf("Question %d.", i/2)
		if i%2 == 1 {
			want = fmt.Sprintf("Answer %d.", i/2)
		}
		row := slices.IndexFunc(shown(p), func(row string) bool { return plain(row) == want })
		switch third := p.height() / 3; {
		case row < 0:
			t.Errorf("%q is not shown:\n%s", want, strings.Join(shown(p), "\n"))
		case p.top > 0 && p.top < p.lastTop() && (row < third || row > third+1):
			t.Errorf("%q is in row %d of %d", want, row, p.height())
		}
	}
	p := s.pane(60, 36, seqs[121])
	p.SetMatch(literal("kettle"))
	drive(p, p.Show(s.row(), seqs[61])) // it is not loaded
	if from, to, _ := p.find(seqs[61]); p.match == nil || p.row(*p.match) < from || p.row(*p.match) >= to ||
		p.row(*p.match) != p.top+p.height()/3 {
		t.Errorf("the match is %+v, the message is in rows %d to %d of the pane", p.match, from-p.top, to-p.top)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func plain(row string) string { return escapes.ReplaceAllString(row, "") }

func TestMatchesAreMarked(t *testing.T) {
	for _, tt := range []struct{ name, said, pattern, want string }{
		{"none", "one two", "three", ""},
		{"a word", "one two one", "one", "\x1b[7mone\x1b[m two \x1b[7mone\x1b[m"},
		{"in bold text", "one **two** three", "e two t", "on\x1b[7me \x1b[m\x1b[1;7mtwo\x1b[m\x1b[7m t\x1b[mhree"},
		{"in two rows", "one two three four five six seven", "five six", "one two three four \x1b[7mfive\x1b[m|\x1b[7msix\x1b[m seven"},
		{"in two rows of a list", "- one two three four five six", "four five", "\x1b[2m• \x1b[mone two three \x1b[7mfour\x1b[m|  \x1b[7mfive\x1b[m six"},
		{"in two rows of a quote", "> one two three four five six", "four five",
			"\x1b[2m│ \x1b[mone two three \x1b[7mfour\x1b[m|\x1b[2m│ \x1b[m\x1b[7mfive\x1b[m six"},
		{"in two rows of wide characters", "你好世界再见你好世界再见你好世界", "好世", "你\x1b[7m好世\x1b[m界再见你\x1b[7m好世\x1b[m界再见|你\x1b[7m好世\x1b[m界"},
		{"wide characters in two rows", "你好世界再见你好世界再见你好世界", "见你", "你好世界再\x1b[7m见你\x1b[m好世界再\x1b[7m见\x1b[m|\x1b[7m你\x1b[m好世界"},
		{"not in two paragraphs", "one\n\ntwo", "one two", ""},
	} {
		s := newSession(t)
		s.say(mia, tt.said)
		p := s.pane(26, 20, 0)
		p.SetMatch(literal(tt.pattern))
		if got := strings.Join(signed(p), "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		p.SetMatch(nil)
		if got := signed(p); got != nil {
			t.Errorf("%s: without a pattern %q are marked", tt.name, got)
		}
	}
}

func TestMarkBeginsAboveThePane(t *testing.T) {
	s := newSession(t)
	s.say(mia, "one two three four five six seven eight")
	p := s.pane(26, 1, 0)
	p.SetMatch(literal("five six"))
	if got := strings.Join(p.Rows(), "|"); got != "▸ \x1b[7msix\x1b[m seven eight" {
		t.Errorf("it shows %q", got)
	}
}

func TestNextAndPreviousMatch(t *testing.T) {
	s := newSession(t)
	var seqs []uint64
	for i := range 40 {
		text := fmt.Sprintf("Message %d.", i)
		if i%10 == 5 {
			text = fmt.Sprintf("Match %d and match.", i)
		}
		seqs = append(seqs, s.say(mia, text))
	}
	p := s.pane(60, 20, seqs[0])
	if _, ok := p.NextMatch(); ok {
		t.Error("there is a match without a pattern")
	}
	p.SetMatch(literal("match"))
	jump := func(next bool) string {
		t.Helper()
		cmd, ok := p.PreviousMatch, false
		if next {
			cmd = p.NextMatch
		}
		c, ok := cmd()
		drive(p, c)
		if !ok {
			return ""
		}
		row := p.row(*p.match)
		if row < p.top || row >= p.top+p.height() {
			t.Errorf("row %d is not shown", row)
		}
		return plain(p.texts(row, row+1)[0])
	}
	for _, want := range []string{"Match 5 and match.", "Match 15 and match.", "Match 25 and match.", "Match 35 and match.", ""} {
		if got := jump(true); got != want {
			t.Errorf("the next one is %q, want %q", got, want)
		}
	}
	for _, want := range []string{"Match 25 and match.", "Match 15 and match.", "Match 5 and match.", ""} {
		if got := jump(false); got != want {
			t.Errorf("the previous one is %q, want %q", got, want)
		}
	}
	press(p, "end") // from here on
	if got := jump(false); got != "Match 25 and match." {
		t.Errorf("the one before the end is %q", got)
	}
}
