package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// EndOf returns the end of a turn, which is nil if it is not recorded; false if there is nothing to show.
func EndOf(end *projection.TurnEnded, replied bool) (TurnEnd, bool) {
	if end == nil {
		return TurnEnd{Problem: "unfinished"}, !replied
	}
	var line TurnEnd
	if end.FinishReason != projection.Done {
		line.Problem = unfinishedText(*end)
	}
	if end.DurationMS > 0 {
		line.Figures = append(line.Figures, DurationText(time.Duration(end.DurationMS)*time.Millisecond))
	}
	if u := end.Usage; u != nil {
		if in := u.Input + u.CachedRead + u.CachedWrite; in > 0 {
			line.Figures = append(line.Figures, CountText(in)+" tokens in")
		}
		if out := u.Output + u.Thought; out > 0 {
			line.Figures = append(line.Figures, CountText(out)+" out")
		}
		if u.Cost != nil && u.Cost.Valid() {
			line.Figures = append(line.Figures, Amount(u.Cost.Amount)+" "+u.Cost.Currency)
		}
	}
	return line, line.Problem != "" || len(line.Figures) > 0
}

// unfinishedText says why a turn has no reply.
func unfinishedText(end projection.TurnEnded) string {
	if first, _, _ := strings.Cut(end.Error, "\n"); first != "" {
		return "unfinished: " + tty.SafeLine(first)
	}
	return "unfinished: " + tty.SafeLine(string(end.FinishReason))
}

// DurationText is a duration, rounded, such as "2.1s" or "3m 05s", in at most 8 characters below 1000 hours.
func DurationText(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

// CountText is a number in at most four digits, such as "12.8k".
func CountText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950: // rounded, 1000.0k from here
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Amount returns an amount of money with two to four decimals.
func Amount(a float64) string {
	if a > 0 && a < 0.00005 {
		return "<0.0001"
	}
	text := strconv.FormatFloat(a, 'f', 4, 64)
	for range 2 {
		text = strings.TrimSuffix(text, "0")
	}
	return text
}
