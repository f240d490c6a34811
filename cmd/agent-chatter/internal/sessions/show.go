package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Show prints the details of a session.
type Show struct {
	ID     string `arg:"" optional:"" help:"The session: id or title (default: latest)."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Show) Help() string {
	return `Examples:
  agent-chatter sessions show
  agent-chatter sessions show 7QN3 --output json | jq .stats`
}

// detailsJSON is the JSON output.
type detailsJSON struct {
	SessionJSON
	Path      string          `json:"path"`
	Stats     statsJSON       `json:"stats"`
	TeamTask  *string         `json:"teamTask"`
	Team      projection.Team `json:"teamConfig"`
	LastSeq   uint64          `json:"lastSeq"`
	OpenTurns int             `json:"openTurns"`
	Unknown   map[string]int  `json:"unknownEvents,omitempty"`
	Problem   string          `json:"problem,omitempty"`
	// Attachments are the files of the newest messages.
	Attachments []projection.File `json:"attachments,omitempty"`
	session     catalog.Session
}

// statsJSON has the field names of a session snapshot.
type statsJSON struct {
	TotalMessages  int            `json:"totalMessages"`
	MessagesByRole map[string]int `json:"messagesByRole"` // by the id of the speaker
	// Duration is in milliseconds, from the creation until now if a process has the session open for
	// writing, else until the last activity.
	Duration     int64             `json:"duration"`
	Turns        int               `json:"turns"`
	Tools        int               `json:"tools"`
	InputTokens  int64             `json:"inputTokens"`  // with cached ones
	OutputTokens int64             `json:"outputTokens"` // with thoughts
	Usage        projection.Totals `json:"usage"`
}

// Run implements the command. Of a damaged session it prints what is readable, and fails.
func (cmd *Show) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	s, err := a.Find(ctx, cmp.Or(cmd.ID, catalog.LatestName))
	if err != nil {
		return err
	}
	dir := a.Catalog.At(s.Dir())
	d := detailsJSON{
		SessionJSON: NewSessionJSON(s), Path: s.Path(), LastSeq: s.LastSeq, Problem: s.Damaged, session: s,
	}
	if info, err := dir.Journals().Stat(s.ID); err == nil {
		d.Path = info.Path()
	}
	state, loaded, err := dir.Load(ctx, s.ID)
	if err == nil {
		d.TeamTask, d.Team, d.OpenTurns = state.Task, state.Team, len(state.OpenTurns)
		d.Unknown = state.Unknown
		for _, e := range state.Recent {
			d.Attachments = append(d.Attachments, e.Attachments...)
		}
		until := state.Row.UpdatedAt
		if dir.Journals().Writer(s.ID) != (journal.Holder{}) {
			until = time.Now()
		}
		used := state.Stats.Usage
		d.Stats = statsJSON{
			TotalMessages: state.Stats.Messages, MessagesByRole: state.Stats.ByMember,
			Duration: until.Sub(state.Row.CreatedAt).Milliseconds(),
			Turns:    state.Stats.Turns, Tools: state.Stats.Tools,
			InputTokens: used.Input + used.CachedRead + used.CachedWrite, OutputTokens: used.Output + used.Thought,
			Usage: used,
		}
	}
	if cmd.Output == "json" {
		err = errors.Join(err, app.WriteJSON(a.Stdout, d))
	} else if lost := d.print(a); err == nil {
		err = lost
	}
	a.ReportFaults(s)
	if loaded.Torn.Bytes > 0 {
		a.Notice(view.TornText(s.ID, loaded.Torn))
	}
	return err
}

func (d *detailsJSON) print(a *app.App) error {
	fields := d.fields()
	if tty.IsTerminal(a.Stdout) {
		style := view.OutputStyle(a)
		return ansi.WriteFields(a.Stdout, fields, style.Width, style.Profile)
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	for _, field := range fields {
		fmt.Fprintf(w, "%s\t%s\n", tty.SafeLine(field[0]), tty.SafeLine(field[1])) // Flush returns its error
	}
	return w.Flush()
}

// fields returns the names and values of the text output.
func (d *detailsJSON) fields() (fields [][2]string) {
	line := func(name string, value any) { fields = append(fields, [2]string{name, fmt.Sprint(value)}) }
	line("id", d.ID)
	line("title", d.Title)
	if d.SessionJSON.Team != "" { // Both are unknown if the header is lost.
		line("team", d.SessionJSON.Team)
		line("created", localTime(d.session.CreatedAt))
	}
	line("updated", localTime(d.session.UpdatedAt))
	line("summary", d.Summary)
	for _, id := range slices.Sorted(maps.Keys(d.Stats.MessagesByRole)) {
		line("  "+id, d.Stats.MessagesByRole[id])
	}
	line("turns", d.Stats.Turns)
	if tokens := view.TokensText(d.Stats.Usage); tokens != "" {
		line("tokens", tokens)
	}
	if cost := view.CostText(d.Stats.Usage); cost != "" {
		line("cost", cost)
	}
	for i, f := range d.Attachments {
		if i == maxFilesShown {
			line("attached", fmt.Sprintf("and %d more", len(d.Attachments)-i))
			break
		}
		line("attached", f.Label())
	}
	if d.TeamTask != nil {
		line("task", *d.TeamTask)
	}
	if d.OpenTurns > 0 {
		line("interrupted turns", d.OpenTurns)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Unknown)) {
		line("unknown "+name, d.Unknown[name])
	}
	if d.UnreadableEvents > 0 {
		line("invalid events", fmt.Sprintf("%d, first %d", d.UnreadableEvents, d.FirstUnreadableEvent))
	}
	line("directory", d.CWD)
	line("file", d.Path)
	line("bytes", d.Bytes)
	if marks := markNames(d.session); len(marks) > 0 {
		line("marks", strings.Join(marks, " "))
	}
	return fields
}

// maxFilesShown is how many files of messages the text output has.
const maxFilesShown = 20

func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
