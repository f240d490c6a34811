package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// turnEnd returns the line at the end of a turn: duration, tokens and cost, and why it is unfinished.
func turnEnd(end *projection.TurnEnded, replied bool) (turnLine, bool) {
	if end == nil {
		return turnLine{mark: "unfinished"}, !replied
	}
	var line turnLine
	if end.FinishReason != projection.Done {
		line.mark = unfinishedText(*end)
	}
	if end.DurationMS > 0 {
		line.parts = append(line.parts, durationText(time.Duration(end.DurationMS)*time.Millisecond))
	}
	if u := end.Usage; u != nil {
		if in := u.Input + u.CachedRead + u.CachedWrite; in > 0 {
			line.parts = append(line.parts, countText(in)+" tokens in")
		}
		if out := u.Output + u.Thought; out > 0 {
			line.parts = append(line.parts, countText(out)+" out")
		}
		if u.Cost != nil && u.Cost.Valid() {
			line.parts = append(line.parts, amount(u.Cost.Amount)+" "+u.Cost.Currency)
		}
	}
	return line, line.mark != "" || len(line.parts) > 0
}

// unfinishedText says why a turn has no reply.
func unfinishedText(end projection.TurnEnded) string {
	if first, _, _ := strings.Cut(end.Error, "\n"); first != "" {
		return "unfinished: " + tty.SafeLine(first)
	}
	return "unfinished: " + tty.SafeLine(string(end.FinishReason))
}

// durationText is a duration, rounded.
func durationText(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

// countText is a number in at most four digits.
func countText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
