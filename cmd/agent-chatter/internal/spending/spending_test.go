package spending

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func dollars(amount float64) *projection.Cost {
	return &projection.Cost{Amount: amount, Currency: "USD"}
}

// part is what turns used; nil used is unknown.
func part(turns int, used *projection.Usage) (s Sum) {
	t := projection.Tally{Turns: turns}
	if used != nil {
		t.Totals.Add(*used)
		t.Costed = used.Cost != nil
	}
	if t.Tokens() == 0 {
		t.Unknown = turns
	}
	s.Add(t, nil)
	return s
}

func TestSpendingTexts(t *testing.T) {
	known := part(2, &projection.Usage{Input: 1200, CachedRead: 34_000, Output: 560, Cost: dollars(0.25)})
	unknown := part(3, nil)
	partly := of([]row{{Sum: known}, {Sum: unknown}})
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("nothingText", "", nothingText("", ""))
	add("nothingText", "of a team", nothingText(apptest.Hostile, "7d"))
	add("unknownText", "nothing", unknownText(known))
	add("unknownText", "", unknownText(partly))
	add("unknownText", "of cost", unknownText(part(1, &projection.Usage{Input: 1})))
	add("damagedText", "", damagedText(2))
	name := func(id string) string { return id + apptest.Hostile }
	members := []projection.Tally{
		{Member: "ada", Turns: 2, Costed: true, Totals: known.Totals}, {Member: "bo", Turns: 3, Unknown: 3},
	}
	for _, columns := range []int{40, 79} {
		add("SessionText", fmt.Sprintf("%d columns", columns), SessionText(members, partly, nil, columns, name))
	}
	members[1] = projection.Tally{Member: "bo", Model: "m", Turns: 3, Unknown: 1, Totals: projection.Totals{Input: 2_000_000}}
	add("SessionText", "own prices", SessionText(members, partly, ownPrices("m"), 79, name))
	add("SessionText", "without turns", SessionText(nil, Sum{}, nil, 79, name))
	apptest.CheckTexts(t, texts)
}

func TestTableOfUsage(t *testing.T) {
	rows := []row{
		{key{day: "2026-11-26"}, part(12, &projection.Usage{
			Input: 1_234_567, CachedRead: 98_765_432, Output: 345_678, Cost: dollars(12.5),
		})},
		{key{day: "2026-11-27"}, part(1, &projection.Usage{Input: 12, Output: 3, Cost: dollars(0)})},
		{key{day: "2026-11-28"}, part(7, &projection.Usage{
			Input: 617_000, CachedRead: 5, Output: 99_999, Thought: 12, Cost: dollars(6.3),
		})},
	}
	const id = apptest.AliceID
	sessions := []row{
		{key{session: id, title: "A title " + apptest.Hostile}, rows[0].Sum},
		{key{session: id, title: "設計"}, of([]row{rows[2], {Sum: part(2, nil)}})},
		{key{session: id}, part(2, nil)},
	}
	models := []row{
		{key{model: "claude-opus-4-5"}, rows[0].Sum}, {key{agent: "codex"}, part(2, &projection.Usage{Output: 7})},
		{key{}, part(1, nil)},
	}
	var b strings.Builder
	for _, columns := range []int{40, 80, 120} {
		for _, by := range []By{ByDay, ByModel, BySession} {
			fmt.Fprintf(&b, "%s, %d columns:\n", by, columns)
			shown := table(by, map[By][]row{ByDay: rows, ByModel: models, BySession: sessions}[by])
			for _, line := range shown.Lines(columns - 1) {
				if line.Columns() >= columns {
					t.Errorf("%d of %d columns", line.Columns(), columns)
				}
				b.WriteString(strings.TrimRight(ansi.NoColor.Encode(line), " ") + "\n")
			}
		}
	}
	apptest.Golden(t, "testdata/table.golden", b.String())
}

// spent returns the app of a home in which members of two teams had turns at some times, with its outputs.
func spent(t *testing.T, times ...time.Time) (a *app.App, stdout, stderr *strings.Builder) {
	t.Helper()
	dir := t.TempDir()
	for i, at := range times {
		id := fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C5B%04d", i)
		team := []string{"kitchen", "garden"}[i%2]
		log, err := catalog.New(filepath.Join(dir, "sessions"), journal.Options{}).Team(team).Journals().Create(id)
		if err != nil {
			t.Fatal(err)
		}
		ended := projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done}
		if i%3 < 2 {
			ended.Usage = &projection.Usage{Input: 10, Output: 5}
		}
		if i%3 == 0 {
			ended.Usage.Cost = dollars(0.5)
		}
		_, err = log.Append(
			projection.Record(at, projection.SessionCreated{
				Format: 1, SessionID: id, Team: projection.Team{ID: team, Name: team}, CWD: "/",
			}),
			projection.Record(at, projection.TurnStarted{TurnID: id, MemberID: "ada", AgentType: "claude"}),
			projection.Record(at, ended),
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr = new(strings.Builder), new(strings.Builder)
	a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	return a, stdout, stderr
}

func in(t *testing.T, zone string) {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Local
	time.Local = location
	t.Cleanup(func() { time.Local = before })
}

// The day of a turn is that of the time zone in which the usage is read, whatever zone the index was written in.
func TestDaysAreLocal(t *testing.T) {
	times := []time.Time{
		time.Date(2026, 11, 27, 18, 20, 0, 0, time.UTC), // 00:05 in Kathmandu
		time.Date(2026, 11, 27, 18, 10, 0, 0, time.UTC), // 23:55 in Kathmandu
		time.Date(2026, 11, 28, 7, 59, 0, 0, time.UTC),  // 23:59 in Los Angeles
	}
	a, stdout, _ := spent(t, times...)
	for zone, want := range map[string]string{
		"Asia/Kathmandu":      "2026-11-27 1\n2026-11-28 2\n",
		"UTC":                 "2026-11-27 2\n2026-11-28 1\n",
		"America/Los_Angeles": "2026-11-27 3\n",
	} {
		in(t, zone)
		stdout.Reset()
		if err := (&Command{By: "day", Output: "text"}).Run(a); err != nil {
			t.Fatal(err)
		}
		got := ""
		for line := range strings.Lines(stdout.String()) {
			got += strings.Join(strings.Fields(line)[:2], " ") + "\n"
		}
		if got != want {
			t.Errorf("%s: %s", zone, got)
		}
	}
}

func TestUsageOfAllSessions(t *testing.T) {
	in(t, "Europe/Berlin")
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	var times []time.Time
	for i := range 6 {
		times = append(times, at.AddDate(0, 0, -i))
	}
	a, stdout, stderr := spent(t, times...)
	var b strings.Builder
	for _, cmd := range []Command{
		{By: "day"}, {By: "day", Since: "2026-11-27"}, {By: "member"}, {By: "model"}, {By: "team"}, {By: "session"},
		{By: "day", Team: "garden"}, {By: "day", Since: "2030-01-01"}, {By: "member", Output: "json"},
		{By: "day", Since: "2026-11-26", Output: "json"}, {By: "day", Since: "2030-01-01", Output: "json"},
	} {
		fmt.Fprintf(&b, "%+v\n", cmd)
		if cmd.Output == "" {
			cmd.Output = "text"
		}
		stdout.Reset()
		stderr.Reset()
		if err := cmd.Run(a); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s%s\n", stdout, strings.ReplaceAll(stderr.String(), a.Home, "HOME"))
	}
	apptest.Golden(t, "testdata/usage.golden", b.String())
}

func TestSinceOfUsage(t *testing.T) {
	in(t, "Europe/Berlin")
	now := time.Date(2026, 11, 28, 9, 30, 0, 0, time.Local)
	for since, want := range map[string]time.Time{
		"":           {},
		"1d":         time.Date(2026, 11, 28, 0, 0, 0, 0, time.Local),
		"7d":         time.Date(2026, 11, 22, 0, 0, 0, 0, time.Local),
		"40d":        time.Date(2026, 10, 20, 0, 0, 0, 0, time.Local), // summer time
		"12h":        now.Add(-12 * time.Hour),
		"2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
	} {
		if got, err := (&Command{Since: since}).since(now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, not %v", since, got, err, want)
		}
	}
	if _, err := (&Command{Since: "x\x1b[2J"}).since(now); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("got %v", err)
	}
}

func TestTodayIsTheLocalDay(t *testing.T) {
	in(t, "America/Los_Angeles")
	now := time.Date(2026, 11, 28, 9, 30, 0, 0, time.Local)
	a, _, _ := spent(t, now, now.Add(-9*time.Hour), now.Add(-10*time.Hour))
	today, err := Today(t.Context(), a.Catalog, now, nil)
	if err != nil || today.Turns != 2 || today.Tokens() != 30 {
		t.Errorf("got %+v, %v", today, err)
	}
}
