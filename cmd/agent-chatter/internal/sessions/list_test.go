package sessions

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

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
