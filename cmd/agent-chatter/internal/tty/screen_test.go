package tty

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// frames are what a screen writes.
type frames []string

func (f *frames) Write(p []byte) (int, error) {
	*f = append(*f, string(p))
	return len(p), nil
}

func screenOf(f *frames, a *area) *Screen {
	var at place
	return &Screen{
		out: f, area: func() area { return *a }, alternate: func(bool) error { return nil },
		place: func() place { return at }, setPlace: func(p place) { at = p },
	}
}

func TestDrawWritesOneFrame(t *testing.T) {
	var f frames
	s := screenOf(&f, &area{columns: 10, rows: 4})
	for _, draw := range []struct{ done, live []string }{
		{[]string{"a line", "longer than the terminal"}, []string{"> \x1b[7m \x1b[m", "a row that is cut", "status"}},
		{nil, nil},
		{[]string{"last"}, nil},
	} {
		if err := s.Draw(draw.done, draw.live, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := frames{
		"\x1b[?2026h\r\x1b[K\x1b[C\x1b[J\ra line\r\nlonger than the terminal\r\n" +
			"\x1b[?7l> \x1b[7m \x1b[m\r\na row tha\r\nstatus\x1b[?7h\r\x1b[2A\x1b[?2026l",
		"\x1b[?2026h\r\x1b[K\x1b[C\x1b[J\r\x1b[?7l\x1b[?7h\r\x1b[?2026l",
		"\x1b[?2026h\r\x1b[K\x1b[C\x1b[J\rlast\r\n\x1b[?7l\x1b[?7h\r\x1b[?2026l",
	}
	if !slices.Equal(f, want) {
		t.Errorf("it writes %q\nwant %q", f, want)
	}
}

func TestDrawSkipsUnchangedFrames(t *testing.T) {
	var f frames
	a := area{columns: 10, rows: 4}
	s := screenOf(&f, &a)
	draw := func(want int) {
		t.Helper()
		if err := s.Draw(nil, []string{"> live"}, nil); err != nil || len(f) != want {
			t.Errorf("%d frames, want %d: %v", len(f), want, err)
		}
	}
	draw(1)
	draw(1)
	a.changes++ // as after a resize to the same size
	draw(2)
	s.Clear()
	draw(3)
	draw(3)
	if err := s.Page([]string{"page"}); err != nil {
		t.Fatal(err)
	}
	draw(5)
}

func TestRowsFitTheTerminal(t *testing.T) {
	for _, row := range []string{
		strings.Repeat("界", 40),
		strings.Repeat("🫖", 40),
		strings.Repeat("👨‍👩‍👧‍👦", 40),
		strings.Repeat("🇩🇪", 40),
		strings.Repeat("e\u0301\u0302\u0303", 40),
		strings.Repeat("שלום ", 20),
		strings.Repeat("\u0301", 5000) + "x",
		strings.Repeat("\u200b", 5000) + "x",
		"\x1b[1m" + strings.Repeat("x", 100) + "\x1b[m",
	} {
		for columns := 2; columns < 30; columns++ {
			var f frames
			if err := screenOf(&f, &area{columns: columns, rows: 4}).Draw(nil, []string{row}, nil); err != nil {
				t.Fatal(err)
			}
			shown := strings.TrimSuffix(strings.TrimPrefix(f[0], beginUpdate+eraseBelow+wrapOff), wrapOn+"\r"+endUpdate)
			text := ansi.Strip(shown)
			if width := ansi.StringWidth(text); width >= columns || !strings.HasPrefix(ansi.Strip(row), text) {
				t.Errorf("on %d columns, %.20q takes %d: %.40q", columns, row, width, shown)
			}
			if strings.HasSuffix(row, "\x1b[m") && !strings.HasSuffix(shown, "\x1b[m") {
				t.Errorf("%q does not end its emphasis", shown)
			}
		}
	}
}

func TestScreenReportsLostOutput(t *testing.T) {
	lost := func(bool) error { return errFull }
	for name, s := range map[string]*Screen{
		"the output":           {out: full{}, alternate: func(bool) error { return nil }},
		"the alternate screen": {out: new(frames), alternate: lost},
	} {
		s.area, s.place = func() area { return area{columns: 10, rows: 4} }, func() place { return place{} }
		s.setPlace = func(place) {}
		if err := s.Draw([]string{"a"}, nil, nil); err != errFull {
			t.Errorf("%s: Draw returns %v", name, err)
		}
		if err := s.Page([]string{"a"}); err != errFull {
			t.Errorf("%s: Page returns %v", name, err)
		}
	}
}

func TestPageShowsTheFirstRows(t *testing.T) {
	var f frames
	s := screenOf(&f, &area{columns: 6, rows: 2})
	if err := s.Page([]string{"longer", "b", "c"}); err != nil {
		t.Fatal(err)
	}
	if want := beginUpdate + wrapOff + "\x1b[Hlonge\x1b[K\r\nb\x1b[K\x1b[J" + wrapOn + endUpdate; f[0] != want {
		t.Errorf("it writes %q, want %q", f[0], want)
	}
}

// full is an output that takes nothing.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestDrawMovesTheCursorToTheCaret(t *testing.T) {
	var f frames
	a := area{columns: 10, rows: 4}
	s := screenOf(&f, &a)
	for _, draw := range []struct {
		live    []string
		columns int
		caret   *Caret
	}{
		{[]string{"", "> a", "status"}, 10, &Caret{1, 3}},
		{[]string{"", "> a", "status"}, 10, &Caret{1, 3}}, // the same
		{[]string{"123456789", "> a", "status"}, 10, &Caret{1, 20}},
		{[]string{"> a"}, 4, &Caret{0, 0}}, // the first row was broken into three
		{[]string{"> a"}, 4, nil},
		{[]string{"0", "1", "2", "3", "4"}, 4, &Caret{1, 1}},
		{[]string{"0", "1", "2", "3", "4"}, 4, &Caret{0, 1}}, // the row is not on the screen
	} {
		a.columns = draw.columns
		if err := s.Draw(nil, draw.live, draw.caret); err != nil {
			t.Fatal(err)
		}
	}
	var moves []string
	for _, frame := range f {
		before, rest, _ := strings.Cut(strings.TrimPrefix(frame, beginUpdate), eraseBelow)
		_, after, _ := strings.Cut(rest, wrapOn+"\r")
		moves = append(moves, before+" / "+strings.TrimSuffix(after, endUpdate))
	}
	want := []string{
		" / \x1b[2A\x1b[1B\x1b[3C\x1b[?25h",
		"\x1b[?25l\x1b[1A / \x1b[2A\x1b[1B\x1b[9C\x1b[?25h",
		"\x1b[?25l\x1b[3A / \x1b[?25h",
		"\x1b[?25l / ",
		" / \x1b[3A\x1b[1C\x1b[?25h",
		"\x1b[?25l / \x1b[3A",
	}
	if !slices.Equal(moves, want) {
		t.Errorf("got %q\nwant %q", moves, want)
	}
}
