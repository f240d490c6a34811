package spending

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Command prints what the turns of all sessions used.
type Command struct {
	By     string `help:"Sum by: ${enum}." enum:"day,member,model,team,session" default:"day"`
	Since  string `help:"Earliest day, or number of days with today." placeholder:"2026-11-21|7d"`
	Team   string `complete:"team-id" help:"Only sessions of this team." placeholder:"ID"`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Command) Help() string {
	return `Examples:
  agent-chatter usage --since 7d
  agent-chatter usage --by model --output json | jq -r '[.model, .tokens] | @tsv'`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	since, err := cmd.since(time.Now())
	if err != nil {
		return err
	}
	config, err := a.Config()
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	list, err := a.Catalog.List(ctx, catalog.Query{Team: cmd.Team, Limit: 1, ReadRows: true})
	if err != nil {
		return err
	}
	by := By(cmd.By)
	rows := sum(by, since, updatedSince(since, list.Matches), config.Prices)
	if err := ctx.Err(); err != nil {
		return err
	}
	if cmd.Output == "json" {
		err = writeJSON(a.Stdout, by, rows)
	} else {
		err = writeTable(a, by, rows)
	}
	if err != nil {
		return err
	}
	cmd.printNotices(a, rows, list.Matches)
	return nil
}

// since returns the time of --since; zero: the flag is missing.
func (cmd *Command) since(now time.Time) (time.Time, error) {
	if t, ok := Since(cmd.Since, now); ok {
		return t, nil
	}
	return time.Time{}, app.UsageError("--since %s: expected a time such as 2026-11-21, or an age such as 7d or 12h.",
		tty.SafeLine(cmd.Since))
}

// Since returns the earliest time that a text means, such as 2026-11-21 or 7d; zero for "". A number of days begins at
// midnight: 1d is today. false: it means none.
func Since(text string, now time.Time) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	var age home.Days
	if age.UnmarshalText([]byte(text)) == nil {
		const day = 24 * time.Hour
		if span := time.Duration(age); span%day != 0 || span == 0 {
			return now.Add(-span), true
		} else {
			year, month, today := now.Local().Date()
			return time.Date(year, month, today+1-int(span/day), 0, 0, 0, 0, time.Local), true
		}
	}
	return view.ParseTime(text)
}

// printNotices prints what the numbers lack.
func (cmd *Command) printNotices(a *app.App, rows []row, sessions []*catalog.Entry) {
	if len(rows) == 0 && cmd.Output == "text" {
		a.Show(nothingText(cmd.Team, cmd.Since))
	}
	all := of(rows)
	if cmd.Output != "text" {
		all = Sum{} // the output says it
	}
	for _, note := range notes(all, damaged(sessions)) {
		a.Show(note)
	}
}

// nothingText is for an empty table; team and since are "" if the flag is missing.
func nothingText(team, since string) app.Message {
	text := "No turn of an agent is recorded"
	if team != "" {
		text += fmt.Sprintf(" of the team '%s'", tty.SafeLine(team))
	}
	if since != "" {
		text += fmt.Sprintf(" since %s", tty.SafeLine(since))
	}
	return app.Text("%s.", text).With(app.To("list the sessions", "sessions"))
}

// unknownText says what a sum lacks; "" if nothing.
func unknownText(s Sum) string {
	var lacks []string
	if s.Unknown > 0 {
		lacks = append(lacks, fmt.Sprintf("the tokens of %s", app.Count(s.Unknown, "turn")))
	}
	if unknown := s.Uncosted - s.Priced; unknown > 0 {
		lacks = append(lacks, fmt.Sprintf("the cost of %s", app.Count(unknown, "turn")))
	}
	if len(lacks) == 0 {
		return ""
	}
	return "The agents did not report " + strings.Join(lacks, " and ") + ". ≥ means at least."
}

// damagedText is for sessions whose usage is counted up to the damage.
func damagedText(sessions int) app.Message {
	return app.Text("%d damaged: what they used is counted up to the damage.", sessions).
		With(app.To("locate the damage", "verify"))
}

// writeTable prints the rows and their sum: on a terminal with a header and a chart.
func writeTable(a *app.App, by By, rows []row) error {
	if !tty.IsTerminal(a.Stdout) {
		lines := make([][]string, len(rows))
		for i, r := range rows {
			lines[i] = r.cells(by)
		}
		out := bufio.NewWriter(a.Stdout)
		for _, line := range ansi.Align(lines) {
			fmt.Fprintln(out, line)
		}
		return out.Flush()
	}
	style := view.OutputStyle(a)
	return table(by, rows).Write(a.Stdout, style.Width, style.Profile)
}

// cells returns the texts of a row.
func (r row) cells(by By) []string {
	cells := []string{
		r.name(by), fmt.Sprint(r.Turns), r.count(r.in()), r.count(r.cached()), r.count(r.out()), r.CostText(),
	}
	if by == BySession {
		cells = append(cells, tty.SafeLine(r.title))
	}
	return cells
}

// numbers are the columns of numbers on a terminal.
var numbers = []ansi.Column{
	{Name: "TURNS", Right: true, Rank: 2}, {Name: "IN", Right: true, Rank: 4}, {Name: "CACHED", Right: true, Rank: 5},
	{Name: "OUT", Right: true, Rank: 1}, {Name: "COST", Right: true},
}

// table returns the rows as a terminal shows them.
func table(by By, rows []row) *ansi.Table {
	name := ansi.Column{Name: strings.ToUpper(string(by)), Least: 10}
	if by == BySession {
		name.Least = 0
	}
	t := &ansi.Table{Columns: append(append([]ansi.Column{name}, numbers...),
		ansi.Column{Name: "TITLE", Least: 12, Rank: 3}, ansi.Column{Rank: 6})}
	size, measure := sizes(rows)
	t.Columns[7].Name = measure
	for i, r := range rows {
		cells := r.cells(by)
		for len(cells) < 7 {
			cells = append(cells, "")
		}
		t.Add(append(plain(cells), ansi.Text(bar(size[i]), ansi.Style{Color: ansi.Cyan}))...)
	}
	if len(rows) > 1 {
		all := row{Sum: of(rows)}
		cells := all.cells(ByDay)
		line := []ansi.Line{ansi.Text("total", ansi.Style{Bold: true})}
		for _, text := range cells[1:] {
			line = append(line, ansi.Text(text, ansi.Style{Bold: true}))
		}
		t.Add(append(line, nil, nil)...)
	}
	return t
}

// barColumns is the width of the longest bar of the chart.
const barColumns = 16

// sizes returns the parts of the longest bar that the bars of the rows are, from 0 to 1, and the name of what they
// show: the cost if all of it is known, in one currency, else the tokens.
func sizes(rows []row) (sizes []float64, measure string) {
	all := of(rows)
	values := make([]float64, len(rows))
	measure = "TOKENS"
	if len(all.Costs) == 1 && all.Uncosted == 0 {
		measure = "COST "
	}
	most := 0.0
	for i, r := range rows {
		values[i] = float64(r.Tokens())
		if measure != "TOKENS" {
			values[i] = 0
			for _, amount := range r.Costs {
				values[i] = amount
			}
		}
		most = max(most, values[i])
	}
	for i := range values {
		if most > 0 {
			values[i] /= most
		}
	}
	return values, measure
}

// bar returns a bar of a size from 0 to 1.
func bar(size float64) string {
	eighths := int(size*barColumns*8 + 0.5)
	if size > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}

// rowJSON is the JSON output of a row. Scripts rely on it: fields are only added.
type rowJSON struct {
	By      string `json:"by"`
	Day     string `json:"day,omitempty"` // local
	Team    string `json:"team,omitempty"`
	Member  string `json:"member,omitempty"` // its id
	Model   string `json:"model,omitempty"`
	Agent   string `json:"agent,omitempty"` // whose default model it is
	Session string `json:"session,omitempty"`
	Title   string `json:"title,omitempty"`

	Turns int `json:"turns"`
	// null: unknown.
	Tokens      *int64             `json:"tokens"` // all
	Input       *int64             `json:"input"`
	CachedRead  *int64             `json:"cachedRead"`
	CachedWrite *int64             `json:"cachedWrite"`
	Output      *int64             `json:"output"`
	Thought     *int64             `json:"thought"`
	Costs       map[string]float64 `json:"costs"` // by currency; null: unknown

	UnknownTokens int `json:"unknownTokens"` // turns and summaries of which no tokens were reported
	UnknownCost   int `json:"unknownCost"`   // of which no cost was reported

	// Of these, those that a person's own prices cover, and what they cost by currency; null: unknown.
	ByYourPrices      int                `json:"byYourPrices"`
	CostsByYourPrices map[string]float64 `json:"costsByYourPrices"`
}

func writeJSON(w io.Writer, by By, rows []row) error {
	out := bufio.NewWriter(w)
	for _, r := range rows {
		if err := app.WriteJSON(out, r.json(by)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r row) json(by By) rowJSON {
	j := rowJSON{
		By: string(by), Day: r.day, Team: r.team, Member: r.member, Model: r.model, Agent: r.agent,
		Session: r.session, Title: r.title, Turns: r.Turns, UnknownTokens: r.Unknown, UnknownCost: r.Uncosted,
		ByYourPrices: r.Priced, CostsByYourPrices: r.Own,
	}
	if r.Tokens() > 0 || r.Unknown == 0 {
		tokens := r.Tokens()
		j.Tokens, j.Input, j.CachedRead, j.CachedWrite = &tokens, &r.Input, &r.CachedRead, &r.CachedWrite
		j.Output, j.Thought = &r.Output, &r.Thought
	}
	if len(r.Costs) > 0 || r.Uncosted == 0 {
		j.Costs = costs(r.Totals)
	}
	return j
}
