package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type compactCommand struct {
	ID           []string `arg:"" optional:"" help:"The sessions; without any, all."`
	DryRun       bool     `help:"Say what would be done, and do nothing."`
	Keep         int      `help:"Never archive the newest N of a team." default:"10" placeholder:"N"`
	ArchiveAfter days     `help:"Archive what has been idle for that long." default:"30d" placeholder:"D"`
	DeleteAfter  days     `help:"Move to the trash what has been idle for that long; without it, nothing." placeholder:"D"`
	Output       string   `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (compactCommand) Help() string {
	return `Examples:
  agent-chatter compact --dry-run
  agent-chatter compact --keep 5 --archive-after 7d`
}

// days is a span of time such as 30d or 12h; zero is none.
type days time.Duration

// UnmarshalText reads a number with d for days, or what time.ParseDuration
// reads.
func (d *days) UnmarshalText(text []byte) error {
	s := string(text)
	if n := len(s) - 1; n > 0 && s[n] == 'd' {
		number, err := strconv.ParseFloat(s[:n], 64)
		if err == nil && number >= 0 && number < 1e5 {
			*d = days(number * float64(24*time.Hour))
			return nil
		}
	}
	span, err := time.ParseDuration(s)
	if err != nil || span < 0 {
		return fmt.Errorf("%q is no span of time such as 30d or 12h", s)
	}
	*d = days(span)
	return nil
}

// compacted is what compact says of one session.
type compacted struct {
	ID            string `json:"id"`
	Action        string `json:"action"` // checkpointed, archived, trashed, kept or skipped
	CheckpointSeq uint64 `json:"checkpointSeq"`
	BytesBefore   int64  `json:"bytesBefore"`
	BytesAfter    int64  `json:"bytesAfter"`
	why           string
}

// Run implements the command.
func (cmd *compactCommand) Run(a *app) error {
	if cmd.Keep < 0 {
		return usageError("--keep takes a number of sessions.")
	}
	wanted, err := a.named(cmd.ID)
	if err != nil {
		return err
	}
	c := a.catalog()
	rank, err := ranks(c)
	if err != nil {
		return err
	}
	var freed int64
	for _, s := range wanted {
		done, err := cmd.compact(c.At(s.Dir()), s, rank[s.ID])
		if err != nil {
			return err
		}
		freed += done.BytesBefore - done.BytesAfter
		if err := cmd.print(a, done); err != nil {
			return err
		}
	}
	if cmd.Output == "text" {
		a.notice(fmt.Sprintf("%d sessions, %d bytes freed%s", len(wanted), freed, map[bool]string{true: " (not really: --dry-run)"}[cmd.DryRun]))
	}
	return nil
}

// ranks says how many sessions of its team are newer than each session.
func ranks(c *catalog.Catalog) (map[string]int, error) {
	all, err := c.List()
	if err != nil {
		return nil, err
	}
	rank, seen := map[string]int{}, map[string]int{}
	for _, s := range all {
		rank[s.ID] = seen[s.Dir()]
		seen[s.Dir()]++
	}
	return rank, nil
}

// compact does to one session what the policy asks for.
func (cmd *compactCommand) compact(t *catalog.Team, s catalog.Session, rank int) (compacted, error) {
	done := compacted{ID: s.ID, Action: "kept", BytesBefore: s.Bytes, BytesAfter: s.Bytes}
	if s.Damaged != "" {
		done.Action, done.why = "skipped", "it is damaged"
		return done, nil
	}
	idle := now().Sub(s.UpdatedAt)
	old := rank >= cmd.Keep && !s.Pinned
	err := cmd.act(t, s, &done, old && cmd.DeleteAfter > 0 && idle >= time.Duration(cmd.DeleteAfter),
		old && !s.Archived && idle >= time.Duration(cmd.ArchiveAfter))
	var locked *journal.LockedError
	if errors.As(err, &locked) {
		done.Action, done.why = "skipped", "it is in use by "+locked.Holder.String()
		err = nil
	}
	return done, err
}

func (cmd *compactCommand) act(t *catalog.Team, s catalog.Session, done *compacted, trash, archive bool) error {
	switch {
	case trash:
		done.Action, done.BytesAfter = "trashed", 0
		if cmd.DryRun {
			return nil
		}
		return t.Delete(s.ID)
	case s.Archived:
		return nil
	}
	if err := cmd.checkpoint(t, s, done); err != nil || !archive {
		return err
	}
	done.Action = "archived"
	if cmd.DryRun {
		return nil
	}
	return cmd.archive(t, s, done)
}

func (cmd *compactCommand) checkpoint(t *catalog.Team, s catalog.Session, done *compacted) error {
	done.CheckpointSeq = s.LastSeq
	if cmd.DryRun {
		done.Action = "checkpointed"
		return nil
	}
	state, loaded, err := t.Load(s.ID)
	if err != nil {
		return err
	}
	done.CheckpointSeq = loaded.At.Seq
	if loaded.From == loaded.At {
		return nil // there is one already
	}
	done.Action = "checkpointed"
	return t.WriteCheckpoint(s.ID, state, loaded.At)
}

func (cmd *compactCommand) archive(t *catalog.Team, s catalog.Session, done *compacted) error {
	if err := t.Archive(s.ID); err != nil {
		return err
	}
	info, err := t.Journals().Stat(s.ID)
	if err != nil {
		return err
	}
	done.BytesAfter = info.Size
	return nil
}

func (cmd *compactCommand) print(a *app, done compacted) error {
	if cmd.Output == "json" {
		return writeJSON(a.stdout, done)
	}
	line := fmt.Sprintf("%s  %s", done.ID, done.Action)
	if done.why != "" {
		line += ": " + done.why
	}
	if done.CheckpointSeq > 0 {
		line += fmt.Sprintf("  checkpoint at %d", done.CheckpointSeq)
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %d -> %d bytes\n", line, done.BytesBefore, done.BytesAfter)
	return err
}
