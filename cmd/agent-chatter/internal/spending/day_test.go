package spending

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

var morning = time.Date(2026, 11, 28, 9, 30, 0, 0, time.Local)

// dayIn returns the Day of a process with a home, whose time is *now.
func dayIn(dir string, now *time.Time) *Day {
	return &Day{
		path: filepath.Join(dir, DayFile), catalog: catalog.New(filepath.Join(dir, "sessions"), journal.Options{}),
		writes: true, now: func() time.Time { return *now },
	}
}

func turns(n float64) []team.Bound { return []team.Bound{{Per: team.PerDay, Of: team.Turns, Most: n}} }

// begins checks that a turn starts, or is refused.
func begins(t testing.TB, d *Day, bounds []team.Bound, want bool) projection.Spent {
	t.Helper()
	spent, day, err := d.Begin(t.Context(), 1, bounds)
	refused := errors.As(err, new(*coordinator.BudgetError))
	if err != nil && !refused || refused == want || day == "" {
		t.Fatalf("after %+v on %s: %v", spent, day, err)
	}
	return spent
}

func TestDayCountsTheTurnsOfAllProcesses(t *testing.T) {
	dir, now := t.TempDir(), morning
	a, b := dayIn(dir, &now), dayIn(dir, &now)
	begins(t, a, turns(3), true)
	begins(t, b, turns(3), true)
	begins(t, a, turns(3), true)
	begins(t, b, turns(3), false)
	if err := a.Add(&projection.Usage{Output: 7, Cost: dollars(0.25)}); err != nil {
		t.Fatal(err)
	}
	spent := begins(t, b, turns(4), true)
	if spent.Turns != 3 || spent.Tokens != 7 || spent.Costs["USD"] != 0.25 {
		t.Errorf("got %+v", spent)
	}
	info, err := os.Stat(filepath.Join(dir, DayFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	content, err := os.ReadFile(filepath.Join(dir, DayFile))
	if err == nil {
		err = schemas.Check(schemas.UsageDay, content)
	}
	if err != nil {
		t.Error(err)
	}
	now = now.AddDate(0, 0, 1)
	begins(t, a, turns(1), true)
}

func TestClockThatIsSetBackDoesNotResetTheDay(t *testing.T) {
	dir, now := t.TempDir(), morning
	begins(t, dayIn(dir, &now), turns(1), true)
	for _, back := range []time.Duration{time.Hour, 24 * time.Hour, 400 * 24 * time.Hour} {
		now = morning.Add(-back)
		begins(t, dayIn(dir, &now), turns(1), false)
	}
	now = morning.AddDate(0, 0, 1)
	begins(t, dayIn(dir, &now), turns(1), true)
}

func TestLaterDayIsOneThatHasNotCome(t *testing.T) {
	dir, now := t.TempDir(), morning
	for _, test := range []struct {
		days int
		want string
	}{{0, ""}, {1, ""}, {-1, "2026-11-28"}} {
		if day, err := LaterDay(dir, morning.AddDate(0, 0, test.days)); day != test.want && test.days >= 0 || err != nil {
			t.Errorf("%d days later: %q, %v", test.days, day, err)
		}
		begins(t, dayIn(dir, &now), turns(100), true)
		if day, err := LaterDay(dir, morning.AddDate(0, 0, test.days)); day != test.want || err != nil {
			t.Errorf("%d days later: %q, %v", test.days, day, err)
		}
	}
}

// What ran without a limit of the day, or before the file was lost, is in the journals.
func TestDayHasWhatTheJournalsHave(t *testing.T) {
	a, _, _ := spent(t, morning, morning.Add(-time.Hour), morning.AddDate(0, 0, -1))
	now := morning
	d := dayIn(a.Home, &now)
	if got := begins(t, d, turns(3), true); got.Turns != 2 || got.Tokens != 30 || got.Uncosted != 1 {
		t.Errorf("got %+v", got)
	}
	if err := os.Remove(d.path); err != nil {
		t.Fatal(err)
	}
	begins(t, d, turns(2), false)
	now = morning.AddDate(0, 0, -3) // when nothing was used
	begins(t, dayIn(a.Home, &now), turns(2), false)
	now = morning
	for _, content := range []string{"", "{}", "x", `{"schemaVersion":"1.0","day":"2026-11-28","turns":-5}`} {
		if err := os.WriteFile(d.path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		begins(t, d, turns(2), false)
	}
}

func TestDayWithoutALimitWritesNothing(t *testing.T) {
	dir, now := t.TempDir(), morning
	d := dayIn(dir, &now)
	if _, _, err := d.Begin(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Add(nil); err != nil {
		t.Fatal(err)
	}
	if found, err := os.ReadDir(dir); len(found) > 0 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

func TestDayThatKeepsNothingCountsItsOwnTurns(t *testing.T) {
	dir, now := t.TempDir(), morning
	begins(t, dayIn(dir, &now), turns(3), true)
	d := dayIn(dir, &now)
	d.writes = false
	begins(t, d, turns(3), true)
	begins(t, d, turns(3), true)
	begins(t, d, turns(3), false)
	begins(t, dayIn(dir, &now), turns(2), true) // it knows of one turn
}

// A file that is no file of a day is an error, so that no turn starts, rather than a day without turns.
func TestDayIsNotReadFromAnotherKindOfFile(t *testing.T) {
	now := morning
	for name, put := range map[string]func(path string) error{
		"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a newer version": func(path string) error { return os.WriteFile(path, []byte(`{"schemaVersion":"2.0"}`), 0o600) },
		"a long file": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat(" ", maxDayFile+1)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, DayFile)); err != nil {
				t.Fatal(err)
			}
			_, _, err := dayIn(dir, &now).Begin(t.Context(), 1, turns(3))
			if err == nil || errors.As(err, new(*coordinator.BudgetError)) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestTurnsAtOnceAreCountedOnce(t *testing.T) {
	dir, now := t.TempDir(), morning
	const most = 5
	var wg sync.WaitGroup
	var mu sync.Mutex
	started := 0
	for range 4 {
		d := dayIn(dir, &now)
		wg.Go(func() {
			for range most {
				_, _, err := d.Begin(t.Context(), 1, turns(most))
				if err == nil {
					mu.Lock()
					started++
					mu.Unlock()
				} else if !errors.As(err, new(*coordinator.BudgetError)) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if started != most {
		t.Errorf("%d turns started, not %d", started, most)
	}
}

// At full size, 10,000 schedules are tried: of processes that start, end and are killed, and of a clock that is set
// forward and back.
func TestNoTurnStartsBeyondALimitOfADay(t *testing.T) {
	schedules := 2
	if sizetest.Full() {
		schedules = 100
	}
	root := t.TempDir()
	propertytest.Check(t, func(t *rapid.T) {
		for range schedules {
			dir, err := os.MkdirTemp(root, "")
			if err != nil {
				t.Fatal(err)
			}
			checkDay(t, dir)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func checkDay(t *rapid.T, dir string) {
	now, highest := morning, ""
	bounds := team.Budget{Day: team.Limit{
		Turns:  rapid.Int64Range(0, 8).Draw(t, "turns"),
		Tokens: rapid.Int64Range(0, 60).Draw(t, "tokens"),
		Cost:   float64(rapid.IntRange(0, 8).Draw(t, "cost")) / 4,
	}}.Bounds()
	if len(bounds) == 0 {
		return
	}
	processes := []*Day{dayIn(dir, &now), dayIn(dir, &now)}
	var recorded projection.Spent
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		i := rapid.IntRange(0, 1).Draw(t, "process")
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			processes[i] = dayIn(dir, &now)
			continue
		case 1:
			now = now.Add(time.Duration(rapid.IntRange(-72, 30).Draw(t, "hours")) * time.Hour)
			continue
		}
		_, day, err := processes[i].Begin(t.Context(), 1, bounds)
		if today := now.Format(time.DateOnly); today > highest {
			highest, recorded = today, projection.Spent{}
		}
		reached := coordinator.Reached(bounds, recorded, 1) != nil
		if refused := errors.As(err, new(*coordinator.BudgetError)); refused != reached || !refused && err != nil ||
			day != highest {
			t.Fatalf("on %s after %+v: %v", day, recorded, err)
		}
		if reached {
			continue
		}
		recorded.Turns++
		if rapid.IntRange(0, 7).Draw(t, "killed") == 0 {
			processes[i] = dayIn(dir, &now)
			continue
		}
		used := &projection.Usage{Output: rapid.Int64Range(0, 20).Draw(t, "output")}
		if rapid.Bool().Draw(t, "costs") {
			used.Cost = dollars(float64(rapid.IntRange(0, 4).Draw(t, "quarters")) / 4)
		}
		recorded.Add(used)
		if err := processes[i].Add(used); err != nil {
			t.Fatal(err)
		}
	}
}
