package app

import (
	"fmt"
	"time"
)

// Elapsed returns the time from t to now in the largest unit of which at least one
// has passed: minutes, hours or days. It returns 0 for less than a minute.
func Elapsed(t, now time.Time) (n int, unit string) {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return 0, ""
	case d < time.Hour:
		return int(d / time.Minute), "minute"
	case d < 24*time.Hour:
		return int(d / time.Hour), "hour"
	}
	return int(d / (24 * time.Hour)), "day"
}

// Age returns the time from t to now as lists show it, such as "2h ago"; "-": t is zero.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if n, unit := Elapsed(t, now); n > 0 {
		return fmt.Sprintf("%d%c ago", n, unit[0])
	}
	return "now"
}

// LongAge returns how long ago t was, such as "2 hours ago".
func LongAge(t, now time.Time) string {
	if n, unit := Elapsed(t, now); n > 0 {
		return Count(n, unit) + " ago"
	}
	return "just now"
}
