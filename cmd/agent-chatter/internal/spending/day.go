package spending

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// DayFile is the name of the file of a Day in the home.
const DayFile = "usage-day.json"

const maxDayFile = 64 << 10 // bytes

// Day is a coordinator.Day for all processes with a home. Turns under a limit of a day are counted in a file, under its
// lock, besides what the index says of all sessions: a turn that runs is in no journal yet, and after the clock was set
// back, the turns of the journals are those of another day. The file keeps the highest day.
//
// If the file is lost, the journals have what the turns used that ended.
type Day struct {
	path    string
	catalog *catalog.Catalog
	writes  bool // otherwise only this process knows what its turns use
	now     func() time.Time

	mu     sync.Mutex
	counts bool    // Begin had bounds
	own    dayJSON // without writes: what the file would have
}

// NewDay returns the Day of a home. Without writes it changes no file.
func NewDay(a *app.App, writes bool) *Day {
	return &Day{path: filepath.Join(a.Home, DayFile), catalog: a.Catalog, writes: writes, now: time.Now}
}

// dayJSON is the content of the file.
type dayJSON struct {
	SchemaVersion string `json:"schemaVersion"`
	Day           string `json:"day"`
	projection.Spent
}

// Begin implements coordinator.Day.
func (d *Day) Begin(
	ctx context.Context, turns int, bounds []team.Bound,
) (spent projection.Spent, day string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts = len(bounds) > 0; !d.counts {
		return spent, "", nil
	}
	recorded, err := Today(ctx, d.catalog, d.now(), nil)
	if err != nil {
		return spent, "", err
	}
	var refused *coordinator.BudgetError
	err = d.change(ctx, func(file *dayJSON) {
		if file.Day == d.today() {
			file.Spent = most(file.Spent, recorded.spent())
		}
		spent, day = most(file.Spent, projection.Spent{}), file.Day
		if refused = coordinator.Reached(bounds, spent, turns); refused == nil {
			file.Turns += turns
		}
	})
	if err == nil && refused != nil { // the file has the day nevertheless
		refused.Day = day
		err = refused
	}
	return spent, day, err
}

// Add implements coordinator.Day.
func (d *Day) Add(used *projection.Usage) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.counts {
		return nil
	}
	// The turn has ended, perhaps because it was cancelled.
	return d.change(context.Background(), func(file *dayJSON) { file.Add(used) })
}

// change changes the file under its lock. Without writes, it changes what this process knows alone.
func (d *Day) change(ctx context.Context, change func(*dayJSON)) error {
	if !d.writes {
		file, err := d.read()
		if err != nil {
			return err
		}
		if file.Day <= d.own.Day {
			file.Day, file.Spent = d.own.Day, most(file.Spent, d.own.Spent)
		}
		change(&file)
		d.own = file
		return nil
	}
	return team.UpdateFile(ctx, d.path, schemas.UsageDay, func() (any, error) {
		file, err := d.read()
		if err == nil {
			change(&file)
		}
		return file, err
	})
}

// today returns the local date.
func (d *Day) today() string { return d.now().Local().Format(time.DateOnly) }

// read reads the file. It begins the day that is now, unless that of the file is later. A file that is missing or
// invalid has nothing.
func (d *Day) read() (file dayJSON, err error) {
	content, err := regularfile.Read(d.path, maxDayFile)
	if err == nil {
		err = schemas.Check(schemas.UsageDay, content)
	}
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	invalid := (*schemas.InvalidError)(nil)
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &invalid) {
		file, err = dayJSON{}, nil
	}
	if today := d.today(); today > file.Day {
		file = dayJSON{Day: today}
	}
	file.SchemaVersion = "1.0"
	return file, err
}

// LaterDay returns the day of the file in a home if that day has not come: the clock was set back, or this is another
// time zone. Otherwise, and without a file, it returns "". The error says that the file cannot be read.
func LaterDay(home string, now time.Time) (day string, err error) {
	d := &Day{path: filepath.Join(home, DayFile), now: func() time.Time { return now }}
	file, err := d.read()
	if err != nil || file.Day == d.today() {
		return "", err
	}
	return file.Day, nil
}

// spent returns a Sum as a Spent.
func (s Sum) spent() projection.Spent {
	return projection.Spent{
		Turns: s.Turns, Tokens: s.Tokens(), Costs: s.Costs, Unknown: s.Unknown, Uncosted: s.Uncosted,
	}
}

// most returns the larger one of each sum. It shares nothing with a and b.
func most(a, b projection.Spent) projection.Spent {
	a.Turns, a.Tokens = max(a.Turns, b.Turns), max(a.Tokens, b.Tokens)
	a.Unknown, a.Uncosted = max(a.Unknown, b.Unknown), max(a.Uncosted, b.Uncosted)
	a.Costs = maps.Clone(a.Costs)
	for currency, amount := range b.Costs {
		if a.Costs == nil {
			a.Costs = map[string]float64{}
		}
		a.Costs[currency] = max(a.Costs[currency], amount)
	}
	return a
}
