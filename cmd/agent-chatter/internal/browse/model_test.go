package browse

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/find"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const (
	one   = "The checkout rounds 0.125 down. Why?"
	two   = "Release notes"
	three = "日本語の論文を要約してください"
	four  = "An old question about rounding"
)

var five = id(5)

func TestListIsNewestFirst(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.expect(">"+one, two, five, three, four)
}

func TestKeysSelect(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	for _, step := range []struct {
		keys string
		want int
	}{
		{"down", 1}, {"j", 2}, {"k", 1}, {"up", 0}, {"up", 0}, {"G", 4}, {"down", 4}, {"g", 0}, {"end", 4}, {"home", 0},
		{"pgdown", 4}, {"pgup", 0}, {"ctrl+d", 4}, {"ctrl+u", 0},
	} {
		b.press(step.keys)
		if b.m.list.selected != step.want {
			t.Errorf("after %s row %d is selected, want %d", step.keys, b.m.list.selected, step.want)
		}
	}
}

func TestSearchFindsTitlesMessagesAndArchives(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("/", "round")
	b.expect(">"+one, three, four)
	if got := b.m.finder.Found[b.m.list.shown[0].Key()]; !got.Title || got.Hits != 2 || len(got.Seqs) != 2 {
		t.Errorf("got %+v", got)
	}
	b.press("ings")
	b.expect()
	b.press("backspace")
	b.expect(">"+one, three, four)
	b.press("down", "esc")
	b.expect(one, two, five, ">"+three, four) // the session that was found stays selected
}

func TestSearchIgnoresCaseWithoutCapitals(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{Text: "thank"})
	b.expect(">" + three)
	b.press("/", "ctrl+u", "THANK")
	b.expect()
	b.press("/", "ctrl+u", "RELEASE") // in a title
	b.expect()
	b.press("/", "ctrl+u", "Release")
	b.expect(">" + two)
}

func TestHighlightedPartsMatch(t *testing.T) {
	for searched, want := range map[string][]string{"the": {"The", "the", "the"}, "The": {"The"}, "THE": nil, "": nil} {
		var got []string
		for _, span := range highlighted("The other, the end", searched, ansi.Style{}) {
			if span.Underline {
				got = append(got, span.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q is highlighted, want %q", searched, got, want)
		}
	}
}

func TestSearchFindsIDTeamAndDirectory(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	for text, want := range map[string]string{"000002": two, "shop/api": five, "papers": three} {
		b.press("/", "ctrl+u", text, "enter")
		if got := strings.TrimPrefix(b.titles()[0], ">"); got != want {
			t.Errorf("%s finds %q first, want %q", text, got, want)
		}
	}
	b.press("/", "ctrl+u", "research", "enter")
	b.expect(">"+three, four)
}

func TestNextHitShowsMessage(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{Text: "round"})
	first := b.m.previewed.at
	b.press("n")
	if b.m.previewed.at <= first || b.m.notice != "Match 2 of 2" {
		t.Errorf("at %d, then %d: %q", first, b.m.previewed.at, b.m.notice)
	}
	b.press("n")
	if b.m.notice != "There is no other match in this session." {
		t.Errorf("got %q", b.m.notice)
	}
	b.press("N")
	if b.m.previewed.at != first {
		t.Errorf("at %d, want %d", b.m.previewed.at, first)
	}
	b.press("esc", "n")
	if b.m.notice != "No message of this session has the text." {
		t.Errorf("got %q", b.m.notice)
	}
}

func TestNextHitOfMoreThanAreKept(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{Text: "round"})
	key := b.m.previewed.key
	b.send(find.HitsMsg{Request: b.m.finder.Request, Done: true, Found: map[catalog.Key]*find.Found{
		key: {Hits: find.MaxSeqs, Seqs: slices.Repeat([]uint64{2}, find.MaxSeqs)},
	}})
	b.m.previewed.hit = find.MaxSeqs - 1
	b.press("n")
	if want := "n and N go through the first 1000 of 1002 matches."; b.m.notice != want {
		t.Errorf("got %q, want %q", b.m.notice, want)
	}
}

// The first result is selected until everything that was asked for has arrived, in whatever order.
func TestFirstResultIsSelected(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	entries, request := b.m.list.all, func() int { return b.m.finder.Request }
	search := func() {
		b.m.search("")
		b.m.search("round") // what it finds is sent below
		b.m.finder.Stop()
	}
	hits := func(n int) find.HitsMsg {
		return find.HitsMsg{Request: request(), Done: true, Found: map[catalog.Key]*find.Found{entries[n].Key(): {Hits: 1}}}
	}
	titles := func(n int) find.TitlesMsg {
		return find.TitlesMsg{Request: request(), Keys: []catalog.Key{entries[n].Key()}}
	}
	search()
	b.m.update(hits(3))
	b.m.update(titles(1))
	b.expect(">"+two, three)

	search()
	b.m.reload()
	b.m.update(titles(1))
	b.m.update(hits(3))
	reversed := slices.Clone(entries)
	slices.Reverse(reversed)
	b.m.update(listedMsg{request: b.m.loader.request, entries: reversed})
	b.expect(">"+three, two)
	b.m.reload()
	b.m.update(listedMsg{request: b.m.loader.request, entries: entries})
	b.expect(two, ">"+three)
}

// add appends a message to a session of the team shop.
func add(t *testing.T, dir string, number int, at time.Duration, text string) {
	t.Helper()
	log, err := catalog.New(filepath.Join(dir, "sessions"), journal.Options{}).Team("shop").Journals().
		Open(t.Context(), id(number))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	said := projection.NewMessage(text, noon.Add(at), mia, text, nil)
	if _, err := log.Append(projection.Record(noon.Add(at), said)); err != nil {
		t.Fatal(err)
	}
}

// A message is found once, and so is a session that is begun during the search.
func TestSearchFindsWhatIsWrittenMeanwhile(t *testing.T) {
	dir := home(t)
	b := open(t, dir, 120, 40, Options{Text: "pond"})
	b.expect()
	expect := func(hits int, titles ...string) {
		t.Helper()
		b.run(b.m.reload())
		b.expect(titles...)
		if one := b.m.finder.Found[b.m.previewed.key]; one.Hits != hits || len(one.Seqs) != hits {
			t.Errorf("found %+v, want %d messages", one, hits)
		}
	}
	add(t, dir, 2, time.Minute, "is there a pond?")
	expect(1, ">"+two)
	add(t, dir, 2, 2*time.Minute, "no")
	expect(1, ">"+two)
	add(t, dir, 2, 3*time.Minute, "a pond!")
	add(t, dir, 1, 4*time.Minute, "another pond")
	chat{number: 6, team: "shop", messages: []string{"the pond"}}.write(t, b.m.catalog)
	expect(2, one, ">"+two, "the pond")
	b.press("n")
	if b.m.notice != "Match 2 of 2" {
		t.Errorf("it says %q", b.m.notice)
	}
	b.press("g")
	expect(1, ">"+one, two, "the pond")
}

func TestFilters(t *testing.T) {
	dir := home(t)
	log, err := catalog.New(filepath.Join(dir, "sessions"), journal.Options{}).Team("shop").Journals().Open(t.Context(), id(2))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b := open(t, dir, 120, 40, Options{})
	b.press("2")
	b.expect(">" + two)
	b.press("3")
	b.expect(">" + four)
	b.press("4")
	b.expect(">" + five)
	b.press("1", "T")
	b.expect(">"+one, two, five)
	b.press(".")
	b.expect(">"+one, two)
	b.press(".", "T", "s", "s")
	b.expect(">"+one, three, two, four, five)
	b.press("esc", "esc")
	if !b.quit {
		t.Error("the second Escape does not quit")
	}
}

func TestEnterChoosesSession(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("down", "enter")
	if !b.quit || !b.m.choice.Chosen || b.m.choice.Session.ID != id(2) {
		t.Errorf("got %+v", b.m.choice)
	}
}

func TestDamagedSessionIsNotChosen(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("4", "enter")
	if b.quit || b.m.notice != "The session is damaged. Type agent-chatter verify "+id(5) {
		t.Errorf("quit %v: %q", b.quit, b.m.notice)
	}
}

func TestOpenSessionIsNotChosen(t *testing.T) {
	dir := home(t)
	log, err := catalog.New(filepath.Join(dir, "sessions"), journal.Options{}).Team("shop").Journals().Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b := open(t, dir, 120, 40, Options{})
	b.press("enter")
	if b.quit || !strings.Contains(b.m.notice, "is open in process ") || !strings.HasSuffix(b.m.notice, "chat --follow "+id(1)) {
		t.Errorf("quit %v: %q", b.quit, b.m.notice)
	}
	b.m.running = b.m.list.shown[0].Key()
	b.press("enter")
	if b.quit || b.m.notice != "This session is already open in this chat." {
		t.Errorf("quit %v: %q", b.quit, b.m.notice)
	}
}

func TestTimelineForks(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("down", "t", "g", "enter")
	if !b.quit || b.m.choice.Session.ID != id(2) || b.m.choice.ForkAt != 2 {
		t.Errorf("got %+v", b.m.choice)
	}
}

func TestComparisonNeedsTwoSessions(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("D")
	if b.m.notice != "Mark two sessions with Space to compare them." || b.m.mode != choosing {
		t.Errorf("mode %d: %q", b.m.mode, b.m.notice)
	}
	b.press("space", "space", "space")
	if got := b.m.list.marked; len(got) != 2 || got[0].ID != id(2) || got[1].ID != id(5) {
		t.Errorf("marked %v", got)
	}
	b.press("up", "space", "D") // removes the mark of the damaged session
	if b.m.mode != comparing {
		t.Errorf("mode %d: %q", b.m.mode, b.m.notice)
	}
	b.press("q")
	if b.m.mode != choosing || b.quit {
		t.Errorf("mode %d", b.m.mode)
	}
}

// TestTimelineGrowsWithItsSession appends to a session that is open elsewhere while its timeline is shown.
func TestTimelineGrowsWithItsSession(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	journals := catalog.New(b.m.app.Home+"/sessions", journal.Options{}).Team("shop").Journals()
	log, err := journals.Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b.press("t")
	said := projection.NewMessage("m9", noon, mia, "And a test?", nil)
	if _, err := log.Append(projection.Record(noon, said)); err != nil {
		t.Fatal(err)
	}
	b.send(tickMsg{})
	if screen := b.screen(ansi.NoColor); !strings.Contains(screen, "And a test?") {
		t.Errorf("the message is not in the timeline:\n%s", screen)
	}
}

// TestListThatCannotBeReadAgain shows the last list, and that it is not current.
func TestListThatCannotBeReadAgain(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.m.loader.request++
	b.send(listedMsg{request: b.m.loader.request, err: errors.New("no such disk")})
	if screen := b.screen(ansi.NoColor); !strings.Contains(screen, "the list is not current: ") {
		t.Errorf("got\n%s", screen)
	}
	b.expect(">"+one, two, five, three, four)
}

func TestTimelineCloses(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	for _, key := range []string{"t", "q", "esc"} {
		b.press("t", key)
		if b.m.mode != choosing || b.quit {
			t.Errorf("after %s: mode %d, quit %v", key, b.m.mode, b.quit)
		}
	}
}

func TestSelectionStaysOnItsSession(t *testing.T) {
	dir := home(t)
	b := open(t, dir, 120, 40, Options{})
	b.press("down")
	chat{number: 6, team: "shop", cwd: "/", age: 0, messages: []string{"new"}}.write(t, b.m.catalog)
	b.run(b.m.reload())
	b.expect("new", one, ">"+two, five, three, four)
}

func TestEnterKeepsWhatIsSelected(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.press("/")
	l := &b.m.list
	all := l.all
	l.fill()
	l.replace(all, all[1:])
	b.press("enter")
	l.replace(all, all) // one more is found
	b.expect(one, ">"+two, five, three, four)
}

func TestHelpFitsSmallTerminal(t *testing.T) {
	b := open(t, home(t), 50, 15, Options{})
	var shown strings.Builder
	b.press("?")
	for b.m.mode == helping {
		shown.WriteString(b.screen(ansi.NoColor))
		b.press("j")
	}
	for _, text := range []string{"select a session", "compare two", "✗ damaged", "shows more", "returns to"} {
		if !strings.Contains(shown.String(), text) {
			t.Errorf("%q is missing in\n%s", text, shown.String())
		}
	}
	if strings.Contains(shown.String(), "…") {
		t.Errorf("a line is cut:\n%s", shown.String())
	}
	b.press("?", "esc")
	if b.m.mode != choosing {
		t.Error("Escape does not return")
	}
}

func TestRowOfUnreadableSession(t *testing.T) {
	b := open(t, home(t), 80, 24, Options{})
	line := b.m.rowLine(catalog.Session{ID: id(9), Damaged: "EIO"}, false, 60)
	if got := ansi.NoColor.Encode(line); !strings.HasSuffix(got, "    0    -") {
		t.Errorf("got %q", got)
	}
}

// Sessions with the same title can be told apart in the list beside the preview, and in one of the whole width.
func TestRowNamesTeamAndOriginal(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	for _, columns := range []int{leastList, 48, 80} {
		copied := catalog.Session{ID: id(9), TeamID: "review"}
		copied.Title, copied.Parent = "Question 1 about topic 1", id(3)
		line := b.m.rowLine(copied, false, columns)
		want := "← " + id(3)[len(id(3))-4:] + " review "
		if text := ansi.NoColor.Encode(line); !strings.Contains(text, want) || line.Columns() > columns {
			t.Errorf("%d columns: %q, want %q", columns, text, want)
		}
	}
}

func TestCtrlCQuits(t *testing.T) {
	for _, key := range []string{"?", "t", "tab", "5"} {
		b := open(t, home(t), 120, 40, Options{})
		if b.press(key, "ctrl+c"); !b.quit {
			t.Errorf("Ctrl+C after %s does not quit", key)
		}
	}
}

func TestFailedSearchIsShown(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{Text: "round"})
	if screen := b.screen(ansi.NoColor); !strings.Contains(screen, "3 sessions  1 session not searched to the end") {
		t.Errorf("got\n%s", screen)
	}
}

func TestLongNoticeIsWhole(t *testing.T) {
	for _, rows := range []int{1, 2, 15} {
		b := open(t, home(t), 50, rows, Options{})
		b.press("4", "enter")
		screen := b.screen(ansi.NoColor)
		if n := strings.Count(screen, "\n"); n != rows {
			t.Errorf("%d rows of %d", n, rows)
		}
		if rows > 2 && !strings.Contains(screen, id(5)) {
			t.Errorf("the command is cut:\n%s", screen)
		}
	}
}

func TestLastLineNamesHelp(t *testing.T) {
	for _, columns := range []int{42, allKeys - 1, allKeys} {
		b := open(t, home(t), columns, 15, Options{})
		if screen := b.screen(ansi.NoColor); !strings.Contains(screen, "? help  q quit") {
			t.Errorf("%d columns:\n%s", columns, screen)
		}
	}
}

func TestMouse(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	b.send(tea.MouseClickMsg{X: 5, Y: headerRows + 1, Button: tea.MouseLeft})
	b.expect(one, ">"+two, five, three, four)
	b.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	b.expect(one, two, five, three, ">"+four)
	b.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	b.expect(one, ">"+two, five, three, four)
	b.send(tea.MouseClickMsg{X: 100, Y: 20, Button: tea.MouseLeft})
	if b.m.mode != reading {
		t.Error("a click does not give the keys to the preview")
	}
	b.send(tea.MouseClickMsg{X: 5, Y: 39, Button: tea.MouseLeft})
	b.expect(one, ">"+two, five, three, four)
}

// With a search a session has two rows: an odd row at the end of the list belongs to none.
func TestClickBelowTheListSelectsNothing(t *testing.T) {
	b := open(t, home(t), 120, 8, Options{Text: "round"})
	b.send(tea.MouseClickMsg{X: 5, Y: 6, Button: tea.MouseLeft})
	b.expect(">"+one, three, four)
	b.send(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseLeft})
	b.expect(one, ">"+three, four)
}

// Each list reports a directory again.
func TestUnreadableTeamsAreCountedOnce(t *testing.T) {
	b := open(t, home(t), 120, 40, Options{})
	for _, path := range []string{"/a", "/b", "/a", "/a"} {
		b.send(unreadableMsg(path))
	}
	if got := b.screen(ansi.NoColor); !strings.Contains(got, "2 teams unreadable") {
		t.Errorf("got\n%s", got)
	}
}

// screenSizes are the sizes of the golden screens.
var screenSizes = []picture.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}, {Columns: 50, Rows: 15}}

// TestScreens compares what a person sees with golden files, with and without colour, and draws it. -update rewrites
// both.
func TestScreens(t *testing.T) {
	for _, scene := range []struct {
		name string
		keys []string
	}{
		{"list", nil},
		{"search", []string{"/", "round"}},
		{"preview", []string{"tab", "g"}},
		{"filters", []string{"T", "s"}},
		{"help", []string{"?"}},
		{"timeline", []string{"t", "up"}},
		{"compare", []string{"space", "D"}},
		{"nothing", []string{"/", "nothing has this"}},
		{"rename", []string{"r"}},
		{"delete", []string{"d"}},
		{"notice", []string{"r", "ctrl+u", "use ghp_0123456789abcdefghijklmnopqrstuvwxyz", "enter"}},
	} {
		t.Run(scene.name, func(t *testing.T) {
			var golden strings.Builder
			var screens []picture.Screen
			for _, size := range screenSizes {
				b := open(t, home(t), size.Columns, size.Rows, Options{})
				b.press(scene.keys...)
				screen := picture.Parse(b.screen(ansi.Color16))
				screens = append(screens, screen)
				fmt.Fprintf(&golden, "==== %dx%d\n%s", size.Columns, size.Rows, screen)
			}
			for _, size := range screenSizes {
				b := open(t, home(t), size.Columns, size.Rows, Options{})
				b.m.app.NoColor = true
				b.m.profile = ansi.NoColor
				b.press(scene.keys...)
				fmt.Fprintf(&golden, "==== %dx%d without colour\n%s", size.Columns, size.Rows, b.screen(ansi.NoColor))
			}
			apptest.Golden(t, filepath.Join("testdata", "screens", scene.name+".golden"), golden.String())
			apptest.Golden(t, filepath.Join("testdata", "screens", scene.name+".svg"), picture.Dark.Draw(screens, screenSizes))
		})
	}
}

func TestEmptyHome(t *testing.T) {
	b := open(t, t.TempDir(), 80, 24, Options{})
	b.press("enter", "tab", "n", "space", "T", ".", "s", "down", "G")
	if got := b.screen(ansi.NoColor); !strings.Contains(got, "There are no sessions yet. Start one: agent-chatter chat") {
		t.Errorf("got\n%s", got)
	}
}
