package app

import (
	"testing"
	"time"
)

func TestAges(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		d           time.Duration
		short, long string
	}{
		{0, "now", "just now"}, {time.Minute, "1m ago", "1 minute ago"}, {3 * time.Hour, "3h ago", "3 hours ago"},
		{48 * time.Hour, "2d ago", "2 days ago"},
	} {
		if short, long := Age(now.Add(-tt.d), now), LongAge(now.Add(-tt.d), now); short != tt.short || long != tt.long {
			t.Errorf("%v: %q, %q", tt.d, short, long)
		}
	}
}

func TestAgeOfUnknownTime(t *testing.T) {
	if got := Age(time.Time{}, time.Now()); got != "-" {
		t.Errorf("got %q", got)
	}
}
