package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
)

type Show struct {
	ID     string `arg:"" help:"The session."`
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Show) Help() string {
	return `Examples:
  agent-chatter sessions show latest
  agent-chatter sessions show 7QN3 --output json | jq .stats`
}

// sessionDetails is what show prints as JSON.
type sessionDetails struct {
	SessionJSON
	Path       string          `json:"path"`
	Stats      detailStats     `json:"stats"`
	TeamTask   *string         `json:"teamTask"`
	Team       projection.Team `json:"teamConfig"`
	LastSeq    uint64          `json:"lastSeq"`
	OpenTurns  int             `json:"openTurns"`
	Unknown    map[string]int  `json:"unknownEvents,omitempty"`
	Unreadable int             `json:"unreadableEvents,omitempty"`
	Problem    string          `json:"problem,omitempty"`
	marks      string
}

// detailStats has the counts in the names of session statistics.
type detailStats struct {
	TotalMessages  int            `json:"totalMessages"`
	MessagesByRole map[string]int `json:"messagesByRole"` // by the id of the speaker
	Duration       int64          `json:"duration"`       // milliseconds since the session was created
	Turns          int            `json:"turns"`
	Tools          int            `json:"tools"`
	InputTokens    int64          `json:"inputTokens"`
	OutputTokens   int64          `json:"outputTokens"`
}

// Run implements the command.
func (cmd *Show) Run(a *app.App) error {
	c := a.Catalog
	s, err := a.Find(context.Background(), cmd.ID)
	if err != nil {
		return err
	}
	d := sessionDetails{SessionJSON: NewSessionJSON(s), Path: s.Path(), LastSeq: s.LastSeq, Problem: s.Damaged, marks: marks(s)}
	if info, err := c.At(s.Dir()).Journals().Stat(s.ID); err == nil {
		d.Path = info.Path()
	}
	state, loaded, err := c.At(s.Dir()).Load(context.Background(), s.ID)
	if err == nil {
		d.describe(state)
	}
	if cmd.Output == "json" {
		err = errors.Join(err, app.WriteJSON(a.Stdout, d))
	} else {
		d.write(a.Stdout)
	}
	if s.Truncated {
		a.Notice(app.TruncatedText(s))
	}
	if loaded.Torn.Bytes > 0 {
		a.Notice(view.TornText(s.ID, loaded.Torn))
	}
	return err
}

func (d *sessionDetails) describe(s *projection.State) {
	d.TeamTask, d.Team, d.OpenTurns, d.Unknown, d.Unreadable = s.Task, s.Team, len(s.OpenTurns), s.Unknown, s.Unreadable
	d.Stats = detailStats{
		TotalMessages: s.Stats.Messages, MessagesByRole: s.Stats.ByMember,
		Duration: time.Now().Sub(s.Row.CreatedAt).Milliseconds(),
		Turns:    s.Stats.Turns, Tools: s.Stats.Tools, InputTokens: s.Stats.InputTokens, OutputTokens: s.Stats.OutputTokens,
	}
}

func (d *sessionDetails) write(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	defer w.Flush()
	line := func(name string, value any) { fmt.Fprintf(w, "%s\t%s\n", name, tty.SafeLine(fmt.Sprint(value))) }
	line("id", d.ID)
	line("title", d.Title)
	if d.SessionJSON.Team != "" { // or nobody knows
		line("team", d.SessionJSON.Team)
		line("created", d.CreatedAt)
	}
	line("updated", d.UpdatedAt)
	line("summary", d.Summary)
	for _, id := range slices.Sorted(maps.Keys(d.Stats.MessagesByRole)) {
		line("  "+id, d.Stats.MessagesByRole[id])
	}
	line("turns", d.Stats.Turns)
	if d.TeamTask != nil {
		line("task", *d.TeamTask)
	}
	if d.OpenTurns > 0 {
		line("interrupted turns", d.OpenTurns)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Unknown)) {
		line("unknown "+name, d.Unknown[name])
	}
	line("directory", d.CWD)
	line("file", d.Path)
	line("bytes", d.Bytes)
	if d.marks != "" {
		line("marks", strings.TrimSpace(strings.NewReplacer("[", "", "]", "").Replace(d.marks)))
	}
}
