package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

var (
	begun = time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	mia   = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia Ø", Type: projection.TypeHuman}
	ada   = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
)

// session writes a session in which Mia and Ada take turns, one message a
// minute.
func session(t testing.TB, c *catalog.Catalog, n int, texts ...string) string {
	t.Helper()
	id := fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C5B%04d", n)
	records := []journal.Record{
		projection.Record(begun, projection.SessionCreated{Format: 1, SessionID: id, Team: projection.Team{
			ID:      "review",
			Members: []projection.Member{{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}},
		}}),
	}
	for i, text := range texts {
		at := begun.Add(time.Duration(n*100+i) * time.Minute)
		by := []projection.Speaker{mia, ada}[i%2]
		records = append(records, projection.Record(at, projection.NewMessage(fmt.Sprint(i), at, by, text, nil)))
	}
	write(t, c, id, records...)
	return id
}

func write(t testing.TB, c *catalog.Catalog, id string, records ...journal.Record) {
	t.Helper()
	log, err := c.Team("review").Journals().Create(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func newCatalog(t testing.TB) *catalog.Catalog { return catalog.New(t.TempDir(), journal.Options{}) }

// hits returns the session number, the seq and the line of each hit, with the
// match in brackets.
func hits(t testing.TB, c *catalog.Catalog, q search.Query) (found []string, failed []error) {
	t.Helper()
	result, err := search.Search(context.Background(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	for hit, err := range result.Hits {
		if err != nil {
			failed = append(failed, err)
			continue
		}
		found = append(found, fmt.Sprintf("%s:%d:%s[%s]%s", strings.TrimLeft(hit.Session.ID[22:], "0"), hit.Seq,
			hit.Line[:hit.Start], hit.Line[hit.Start:hit.End], hit.Line[hit.End:]))
	}
	return found, failed
}

func TestMatchesOfAHit(t *testing.T) {
	c := newCatalog(t)
	session(t, c, 1, "Äpfel, äpfel and a pear")
	for _, tt := range []struct {
		q    search.Query
		text string
		want [][2]int
	}{
		{search.Query{Text: "äpf"}, "an ÄPFEL or äpfel", [][2]int{{3, 7}, {13, 17}}},
		{search.Query{Text: "Äpf"}, "an ÄPFEL or Äpfel", [][2]int{{13, 17}}},
		{search.Query{Text: "pear"}, "", nil},
		{search.Query{Text: "e"}, "eee", [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		{search.Query{Text: "a|pe*", Regexp: true}, "Appear", [][2]int{{0, 1}, {1, 2}, {2, 4}, {4, 5}}},
		{search.Query{Text: "x*", Regexp: true}, "äxx本x", [][2]int{{2, 4}, {7, 8}}},
	} {
		result, err := search.Search(context.Background(), c, tt.q)
		if err != nil {
			t.Fatal(err)
		}
		for hit, err := range result.Hits {
			if got := hit.Matches(tt.text); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%+v in %q: %v, %v, want %v", tt.q, tt.text, got, err, tt.want)
			}
		}
	}
	if got := (search.Hit{}).Matches("a"); got != nil {
		t.Errorf("of the zero Hit: %v", got)
	}
}

func TestHitWithAnotherContent(t *testing.T) {
	c := newCatalog(t)
	session(t, c, 1, "a pear\nand an apple")
	result, err := search.Search(context.Background(), c, search.Query{Text: "apple"})
	if err != nil {
		t.Fatal(err)
	}
	for hit, err := range result.Hits {
		with, ok := hit.With("two\nAPPLES here\nno pear")
		if err != nil || !ok || with.Seq != hit.Seq || with.Line != "APPLES here" || with.Start != 0 || with.End != 5 {
			t.Errorf("%+v, %t, %v", with, ok, err)
		}
		if _, ok := hit.With("two pears"); ok {
			t.Error("it matches another text")
		}
	}
	if _, ok := (search.Hit{}).With("a"); ok {
		t.Error("the zero Hit matches")
	}
}

func TestQuery(t *testing.T) {
	c := newCatalog(t)
	session(t, c, 1, "The first line\r\nand the Second\tone", `a "quoted" C:\path <b>&amp;</b>`, "日本語のテキスト")
	session(t, c, 2, "grüne Äpfel", "GRÜNE ÄPFEL, 100% of them", "func main() {\n\treturn nil\n}", "")
	for _, c2 := range []struct {
		q    search.Query
		want []string
	}{
		{search.Query{Text: "second"}, []string{"1:2:and the [Second]\tone"}},
		{search.Query{Text: "Second"}, []string{"1:2:and the [Second]\tone"}},
		{search.Query{Text: "SECOND"}, nil},
		{search.Query{Text: "the"}, []string{"2:3:GRÜNE ÄPFEL, 100% of [the]m", "1:2:[The] first line"}},
		{search.Query{Text: "line\r\nand"}, []string{"1:2:The first [line]"}},
		{search.Query{Text: "second\tone"}, []string{"1:2:and the [Second\tone]"}},
		{search.Query{Text: `"quoted"`}, []string{`1:3:a ["quoted"] C:\path <b>&amp;</b>`}},
		{search.Query{Text: `c:\path`}, []string{`1:3:a "quoted" [C:\path] <b>&amp;</b>`}},
		{search.Query{Text: `</b>`}, []string{`1:3:a "quoted" C:\path <b>&amp;[</b>]`}},
		{search.Query{Text: "grüne"}, []string{"2:2:[grüne] Äpfel", "2:3:[GRÜNE] ÄPFEL, 100% of them"}},
		{search.Query{Text: "Äpfel"}, []string{"2:2:grüne [Äpfel]"}},
		{search.Query{Text: "äpf"}, []string{"2:2:grüne [Äpf]el", "2:3:GRÜNE [ÄPF]EL, 100% of them"}},
		{search.Query{Text: "本語"}, []string{"1:4:日[本語]のテキスト"}},
		{search.Query{Text: "ä"}, []string{"2:2:grüne [Ä]pfel", "2:3:GRÜNE [Ä]PFEL, 100% of them"}},
		{search.Query{Text: "Ä"}, []string{"2:2:grüne [Ä]pfel", "2:3:GRÜNE [Ä]PFEL, 100% of them"}},
		{search.Query{Text: "return nil"}, []string{"2:4:\t[return nil]"}},
		{search.Query{Text: "content"}, nil}, // a key of the JSON, not of a message
		{search.Query{Text: "mia"}, nil},
		{search.Query{Text: "the", Speaker: "MIA"}, []string{"1:2:[The] first line"}},
		{search.Query{Text: "the", Speaker: "mia ø"}, []string{"1:2:[The] first line"}},
		{search.Query{Text: "e", Speaker: "eve"}, nil},
		{search.Query{Text: "the", Since: begun.Add(200 * time.Minute)}, []string{"2:3:GRÜNE ÄPFEL, 100% of [the]m"}},
		{search.Query{Text: "the", Since: begun.Add(202 * time.Minute)}, nil},
		{search.Query{Text: `fir?st|nil$`, Regexp: true}, []string{"1:2:The [first] line"}},
		{search.Query{Text: `(?m)nil$`, Regexp: true}, []string{"2:4:\treturn [nil]"}},
		{search.Query{Text: `\d+% OF`, Regexp: true}, nil},
		{search.Query{Text: `\d+%\S* of`, Regexp: true}, []string{"2:3:GRÜNE ÄPFEL, [100% of] them"}},
		{search.Query{Text: `(?i)SECOND`, Regexp: true}, []string{"1:2:and the [Second]\tone"}},
		{search.Query{Text: `(?i)secondS?\tONE`, Regexp: true}, []string{"1:2:and the [Second\tone]"}},
		{search.Query{Text: `Second|quoted`, Regexp: true}, []string{"1:2:and the [Second]\tone",
			`1:3:a "[quoted]" C:\path <b>&amp;</b>`}},
		{search.Query{Text: `^\pL+ äpfel`, Regexp: true}, []string{"2:2:[grüne Äpfel]", "2:3:[GRÜNE ÄPFEL], 100% of " +
			"them"}},
	} {
		got, failed := hits(t, c, c2.q)
		if len(failed) > 0 || !slices.Equal(got, c2.want) {
			t.Errorf("%+v: %q, %v; want %q", c2.q, got, failed, c2.want)
		}
	}
	var invalid *search.PatternError
	_, err := search.Search(context.Background(), c, search.Query{Text: "(", Regexp: true})
	if !errors.As(err, &invalid) || err.Error() != `"(" is not a regular expression: missing closing )` {
		t.Errorf("pattern %q: %v", "(", err)
	}
}

// Texts for which the prefilter looks for a part, or at the start or the end of a line.
func TestTextsAreFoundWhereverTheirPartsAre(t *testing.T) {
	c := newCatalog(t)
	session(t, c, 1, `a "本" b`, "A", "Z", "Second", "ǆ", "\u212a")
	for _, tt := range []struct {
		q    search.Query
		want []string
	}{
		{search.Query{Text: `"本"`}, []string{`1:2:a ["本"] b`}},
		{search.Query{Text: "a"}, []string{`1:2:[a] "本" b`, "1:3:[A]"}},
		{search.Query{Text: "z"}, []string{"1:4:[Z]"}},
		{search.Query{Text: `\x53econd`, Regexp: true}, []string{"1:5:[Second]"}},
		{search.Query{Text: "ǅ"}, []string{"1:6:[ǆ]"}}, // neither an upper nor a lower case
		{search.Query{Text: "k"}, nil},                 // the lower case of the sign of kelvin
		{search.Query{Text: "12345q"}, nil},            // a line begins with {"seq
		{search.Query{Text: "}ee"}, nil},               // and ends with }
	} {
		if got, failed := hits(t, c, tt.q); len(failed) > 0 || !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, %v; want %q", tt.q, got, failed, tt.want)
		}
	}
}

func TestErrorOfTheListIsReturned(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := newCatalog(t)
	session(t, c, 1, "needle")
	cancel()
	if _, err := search.Search(ctx, c, search.Query{Text: "needle"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The lower case of Ⱥ is a byte longer.
func TestMatchWhoseLowerCaseHasAnotherLength(t *testing.T) {
	c := newCatalog(t)
	session(t, c, 1, "ȺȺ a needle", "xȺȺx\nȺ")
	for text, want := range map[string][]string{
		"needle": {"1:2:ȺȺ a [needle]"},
		"ⱥ a n":  {"1:2:Ⱥ[Ⱥ a n]eedle"},
		"ⱥⱥx":    {"1:3:x[ȺȺx]"},
	} {
		if got, failed := hits(t, c, search.Query{Text: text}); len(failed) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", text, got, failed, want)
		}
	}
}

// The prefilter never rejects a line that has a match, however JSON spells it.
func TestPrefilterPassesEveryMatch(t *testing.T) {
	alphabet := []rune("aAbkKqQ \"\\/<\n\tüÜſK本é\u2028\x7f")
	texts := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 12, -1)
	propertytest.Check(t, func(rt *rapid.T) {
		c := newCatalog(t)
		content, needle := texts.Draw(rt, "content"), texts.Draw(rt, "needle")
		if rapid.Bool().Draw(rt, "part") && content != "" {
			runes := []rune(content)
			from := rapid.IntRange(0, len(runes)-1).Draw(rt, "from")
			needle = string(runes[from:])
		}
		if needle == "" {
			needle = "a"
		}
		record := projection.Record(begun, projection.NewMessage("1", begun, mia, content, nil))
		if rapid.Bool().Draw(rt, "escaped") { // as some JSON writers do
			record.Data = json.RawMessage(escapeAll(string(record.Data)))
		}
		begin := projection.Record(begun, projection.SessionCreated{
			Format: 1, SessionID: "01KAHV6T3R8Q4Y2M0N7C5B0001", Team: projection.Team{ID: "review"},
		})
		write(t, c, "01KAHV6T3R8Q4Y2M0N7C5B0001", begin, record)
		for _, q := range []search.Query{{Text: needle}, {Text: regexp.QuoteMeta(needle), Regexp: true}} {
			got, failed := hits(t, c, q)
			if strings.Contains(content, needle) && len(got) == 0 || len(failed) > 0 {
				rt.Errorf("%+v is not found in %q: %v", q, content, failed)
			}
			if len(got) > 0 && !strings.Contains(strings.ToLower(content), strings.ToLower(needle)) &&
				!regexp.MustCompile("(?i)"+regexp.QuoteMeta(needle)).MatchString(content) {
				rt.Errorf("%+v is found in %q: %q", q, content, got)
			}
		}
	})
}

// escapeAll escapes slashes, DEL and everything beyond ASCII.
func escapeAll(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case r < 0x7f:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func TestHitsAreInOrderOfSessions(t *testing.T) {
	c := newCatalog(t)
	var want []string
	for n := 40; n >= 1; n-- {
		many := slices.Repeat([]string{"needle"}, 1+(n%3)*50)
		session(t, c, n, many...)
		for seq := range many {
			want = append(want, fmt.Sprintf("%d:%d:[needle]", n, seq+2))
		}
		if n%2 == 0 {
			if err := journaltest.Archive(t.Context(), c.Team("review").Journals(), fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C5B%04d",
				n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, failed := hits(t, c, search.Query{Text: "needle"})
	if len(failed) > 0 || !slices.Equal(got, want) {
		t.Errorf("%d hits, want %d; %v", len(got), len(want), failed)
	}
}

func TestSearchOnlySelectedSessions(t *testing.T) {
	c := newCatalog(t)
	session(t, c, 1, "needle one")
	session(t, c, 2, "needle two")
	q := search.Query{Text: "needle", Sessions: catalog.Query{Text: "One"}}
	if got, failed := hits(t, c, q); len(failed) > 0 || !slices.Equal(got, []string{"1:2:[needle] one"}) {
		t.Errorf("%q, %v", got, failed)
	}
}

func TestSearchStopsEarly(t *testing.T) {
	c := newCatalog(t)
	for n := range 20 {
		session(t, c, n, slices.Repeat([]string{"needle"}, 300)...)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, err := search.Search(ctx, c, search.Query{Text: "needle"})
	if err != nil {
		t.Fatal(err)
	}
	for range result.Hits { // the caller stops
		break
	}
	n := 0
	for range result.Hits { // the context is done
		if n++; n == 3 {
			cancel()
		}
	}
	if n < 3 || n >= 20*300 {
		t.Errorf("%d hits", n)
	}
}

func TestDamagedSessionIsReported(t *testing.T) {
	c := newCatalog(t)
	bad := session(t, c, 2, "needle")
	session(t, c, 1, "another needle")
	team := c.Team("review")
	damage(t, team, bad, "needle")
	got, failed := hits(t, c, search.Query{Text: "needle"})
	if !slices.Equal(got, []string{"1:2:another [needle]"}) || len(failed) != 1 {
		t.Fatalf("%q, %v", got, failed)
	}
	of, corrupt := new(search.Error), new(journal.CorruptError)
	if !errors.As(failed[0], &of) || of.Session.ID != bad || !errors.As(failed[0], &corrupt) {
		t.Error(failed[0])
	}
	if got, want := failed[0].Error(), "session "+bad+": "+of.Err.Error(); got != want {
		t.Errorf("the error is %q, want %q", got, want)
	}
}

// The sessions are listed before their journals are read.
func TestJournalThatCannotBeReadIsReportedUnlessItWasRemoved(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed":              os.Remove,
		"a directory by now":   func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"damaged and removed":  os.Remove,
		"damaged and replaced": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCatalog(t)
			bad := session(t, c, 2, "needle")
			session(t, c, 1, "another needle")
			if strings.HasPrefix(name, "damaged") {
				damage(t, c.Team("review"), bad, "needle")
			}
			result, err := search.Search(t.Context(), c, search.Query{Text: "needle"})
			if err != nil {
				t.Fatal(err)
			}
			if err := replace(filepath.Join(c.Team("review").Journals().Path(), bad+".jsonl")); err != nil {
				t.Fatal(err)
			}
			var found, failed []string
			for hit, err := range result.Hits {
				of := new(search.Error)
				if errors.As(err, &of) {
					failed = append(failed, of.Session.ID)
				} else {
					found = append(found, hit.Line)
				}
			}
			want := []string{bad}
			if strings.Contains(name, "removed") {
				want = nil
			}
			if !slices.Equal(found, []string{"another needle"}) || !slices.Equal(failed, want) {
				t.Errorf("found %q, failed %q, want %q", found, failed, want)
			}
		})
	}
}

func TestOnlyMessagesBeforeDamageAreFound(t *testing.T) {
	c := newCatalog(t)
	bad := session(t, c, 1, "needle", "pin", "needle after the damage")
	damage(t, c.Team("review"), bad, "pin")
	got, failed := hits(t, c, search.Query{Text: "needle"})
	if !slices.Equal(got, []string{"1:2:[needle]"}) || len(failed) != 1 {
		t.Errorf("%q, %v", got, failed)
	}
}

// The time of its last message is unknown.
func TestDamagedSessionIsReportedWhateverTheTime(t *testing.T) {
	c := newCatalog(t)
	bad := session(t, c, 1, "needle")
	session(t, c, 2, "needle")
	damage(t, c.Team("review"), bad, "needle")
	got, failed := hits(t, c, search.Query{Text: "needle", Since: begun.Add(1000 * time.Hour)})
	of := new(search.Error)
	if len(got) > 0 || len(failed) != 1 || !errors.As(failed[0], &of) || of.Session.ID != bad {
		t.Errorf("%q, %v", got, failed)
	}
}

func TestEventsAfterAnotherAreSearched(t *testing.T) {
	c := newCatalog(t)
	id := session(t, c, 1, "needle", "pin", "needle again", "needle at the end")
	s, err := c.Team("review").Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[uint64][]uint64{0: {2, 4, 5}, 1: {2, 4, 5}, 2: {4, 5}, 3: {4, 5}, 4: {5}, 5: nil, 99: nil} {
		found, err := search.After(t.Context(), c, s, after, search.Query{Text: "needle"})
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for hit, err := range found {
			if err != nil {
				t.Errorf("after %d: %v", after, err)
			}
			got = append(got, hit.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d: %d, want %d", after, got, want)
		}
	}
	if _, err := search.After(t.Context(), c, s, 1, search.Query{Text: "(", Regexp: true}); err == nil {
		t.Error("an invalid expression is searched")
	}
}

func TestUnfinishedReplyIsFound(t *testing.T) {
	c := newCatalog(t)
	id := "01KAHV6T3R8Q4Y2M0N7C5B0001"
	write(t, c, id,
		projection.Record(begun, projection.SessionCreated{
			Format: 1, SessionID: id, Team: projection.Team{ID: "review", Members: []projection.Member{
				{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI},
			}},
		}),
		projection.Record(begun, projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		projection.Record(begun, projection.TurnText{TurnID: "t1", Text: "half an answer"}),
		projection.Record(begun, projection.TurnEnded{
			TurnID: "t1", MemberID: "ada", FinishReason: projection.Cancelled, Partial: "half an answer",
		}))
	result, err := search.Search(context.Background(), c, search.Query{Text: "answer", Speaker: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for hit, err := range result.Hits {
		if n++; err != nil || !hit.Partial || hit.Seq != 4 || hit.Speaker.DisplayName != ada.DisplayName {
			t.Errorf("%+v, %v", hit, err)
		}
	}
	if n != 1 {
		t.Errorf("%d hits", n)
	}
}

// damage changes the first line with a word. Later lines record that it was synced.
func damage(t testing.TB, team *catalog.Dir, id, word string) {
	t.Helper()
	for range 2 {
		renamed := projection.Record(begun, projection.SessionRenamed{Title: "x"})
		if err := team.Append(context.Background(), id, renamed); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(team.Journals().Path(), id+".jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte(word), []byte(strings.ToUpper(word)), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }
