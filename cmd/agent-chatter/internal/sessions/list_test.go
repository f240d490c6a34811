package sessions

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
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

func TestMarksOfSessions(t *testing.T) {
	unread := errors.New("permission denied")
	for _, tt := range []struct {
		session             catalog.Session
		want                string
		damaged, unreadable bool
	}{
		{catalog.Session{}, "", false, false},
		{catalog.Session{Row: projection.Row{Pinned: true}, Archived: true}, "[pinned] [archived] ", false, false},
		{catalog.Session{Row: projection.Row{Invalid: 1}}, "[invalid] ", false, false},
		{catalog.Session{Damaged: "line 5", Row: projection.Row{Invalid: 1}}, "[damaged] ", true, false},
		{catalog.Session{Damaged: "permission denied", ReadErr: unread}, "[unreadable] ", false, true},
	} {
		if got := marks(tt.session); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.session, got, tt.want)
		}
		if got := NewSessionJSON(tt.session); got.Damaged != tt.damaged || got.Unreadable != tt.unreadable {
			t.Errorf("%+v: %+v", tt.session, got)
		}
	}
}
