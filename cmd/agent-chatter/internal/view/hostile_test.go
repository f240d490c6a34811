package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// everywhere returns the blocks of a session in which a text is everything that an agent can choose.
func everywhere(text string, chunk int, s Style) []Block {
	var all session
	all.create()
	all.add(projection.TurnStarted{TurnID: "t", MemberID: text})
	quoted, _ := json.Marshal(text)
	all.call("t", "1", text, fmt.Sprintf(`{"command":%s}`, quoted), text, "")
	all.call("t", "2", text, fmt.Sprintf(`{"file_path":"a","content":%s}`, quoted), "", text)
	all.add(projection.PlanUpdated{TurnID: "t", Entries: []projection.PlanEntry{{Content: text}}})
	var t Transcript
	var blocks []Block
	for _, e := range all.events {
		blocks = append(blocks, t.Apply(projection.DecodeEvent(e))...)
	}
	for rest := text; rest != ""; {
		n := min(max(chunk, 1), len(rest))
		blocks = append(blocks, t.Stream("t", rest[:n])...)
		blocks = append(blocks, t.Held()...)
		blocks = append(blocks, t.Release(s, 10)...)
		rest = rest[n:]
	}
	all.add(projection.TurnEnded{TurnID: "t", MemberID: text, FinishReason: projection.FinishReason(text), Error: text,
		Usage: &projection.Usage{Cost: &projection.Cost{Amount: 1, Currency: text}}})
	return append(blocks, t.Apply(projection.DecodeEvent(all.events[len(all.events)-1]))...)
}

// ownSequence is a control sequence that Render writes itself: a style, or a link.
var ownSequence = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;((https?://|mailto:)[!-~]*)?\x1b\\\\")

// checkLines checks that the lines of a block change nothing outside of their place.
func checkLines(t testing.TB, b Block, s Style) {
	t.Helper()
	for _, line := range Render(b, s) {
		open := false
		for _, sequence := range ownSequence.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(sequence[0], "\x1b]") {
				open = sequence[1] != ""
			}
		}
		if open || strings.LastIndex(line, "\x1b[") > strings.LastIndex(line, "\x1b[m") {
			t.Fatalf("a link or a style continues after %q", line)
		}
		text := ownSequence.ReplaceAllString(line, "")
		if text != line && (s.Plain || s.Profile == ansi.NoColor) {
			t.Fatalf("%q has control sequences", line)
		}
		for _, r := range text {
			if r < ' ' && (r != '\t' || !s.Plain) || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("%q has %U", line, r)
			}
		}
		if n := displaywidth.String(text); n >= max(s.Width, 12) && !s.Plain && !long(b) && !longWord(b, text) {
			t.Fatalf("%q takes %d of %d columns", line, n, s.Width-1)
		}
	}
}

// long reports whether a block may have long lines, so that they can be copied.
func long(b Block) bool {
	switch c := b.content.(type) {
	case Text:
		return c.Piece.Kind == markdown.CodeBlock
	case Call:
		return c.Result == nil || c.Result.Error != ""
	}
	return false
}

// mark is what precedes the text in containers.
var mark = regexp.MustCompile(`^((│|•|[0-9]+\.)? +)*`)

// longWord reports whether a line is one word of a text, so that it can be copied and opened.
func longWord(b Block, line string) bool {
	switch c := b.content.(type) {
	case message:
	case Text:
		if c.Piece.Kind != markdown.Paragraph && c.Piece.Kind != markdown.Heading {
			return false
		}
	default:
		return false
	}
	word := line[len(mark.FindString(line)):]
	return !strings.Contains(word, " ") && displaywidth.String(word) <= 2000
}

func FuzzRender(f *testing.F) {
	for _, text := range append([]string{toolText}, hostileTexts(100)...) {
		f.Add(text, 80, 7)
	}
	for _, text := range scripts {
		f.Add(text, 40, 3)
	}
	f.Fuzz(func(t *testing.T, text string, width, chunk int) {
		if len(text) > 512 {
			return
		}
		for _, s := range []Style{
			{Width: width}, {Width: width, Profile: ansi.Color16}, {Width: width, Plain: true}, {Width: width, Whole: true},
		} {
			if width < 0 {
				s.Width = 0
			}
			for _, b := range everywhere(text, chunk, s) {
				if s.Width == 0 {
					b := b
					s := s
					s.Width = 1 << 30
					checkLines(t, b, s)
					continue
				}
				checkLines(t, b, s)
			}
		}
	})
}

const toolText = `*** Begin Patch
-a
+b`

// hostileTexts are texts of about n bytes.
func hostileTexts(n int) []string {
	var controls strings.Builder
	for r := range rune(0xa0) {
		controls.WriteRune(r)
	}
	columns := strings.Repeat("|a", n/4)
	fill := func(unit string) string { return strings.Repeat(unit, n/len(unit)+1) }
	return []string{
		fill(controls.String()), fill("\x80\x9b31m\x9d52;c;QQ==\x9c"), fill("\x1b]52;c;QQ==\a"), fill("\x1b]8;;http://a\x1b\\b"),
		fill("\x1bP+q544e\x1b\\"), fill("\x1b[2J\x1b[?1049h"), fill("[a](http://b\x1b]8;;\x1b\\) "), fill("\u202ea\u2066b"), fill("\u200b"),
		fill("a\u0301\u0302"), fill("\u0301"), fill("👨‍"), fill("word"), fill("two words "), fill("line\n"), fill("para\n\n"), fill("- a\n"),
		columns + "\n" + strings.ReplaceAll(columns, "a", "-") + "\n" + columns + "\n", fill("> "), fill("```\n"), fill("*a _b "), fill("[a]("), fill("`"),
		"```go\n" + fill("/* \" "), "```\n" + fill("\n"), fill("\t"), fill(" ") + "a", fill("|a\n|-\n"), fill("<http://"), fill("&amp;"),
		"```\n" + fill("[NEXT: a]"), fill("[NEXT: a]"),
	}
}

func TestHostileTextStaysInItsPlace(t *testing.T) {
	racetest.SkipSequential(t)
	for _, text := range hostileTexts(2 << 10) {
		for _, s := range []Style{{Width: 40}, {Width: 80, Profile: ansi.Color16}, {Width: 20, Plain: true}} {
			for _, b := range everywhere(text, 100, s) {
				checkLines(t, b, s)
			}
		}
	}
}

// stream streams a text in chunks and shows it.
func stream(text string) {
	var t Transcript
	s := Style{Width: 80, Profile: ansi.Color16}
	t.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "ada"}))
	show := func(blocks []Block) {
		for _, b := range blocks {
			Render(b, s)
		}
	}
	for text != "" {
		n := min(len(text), 64<<10)
		show(t.Stream("t", text[:n]))
		show(t.Held())
		text = text[n:]
	}
	show(t.Close())
}
