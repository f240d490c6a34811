package chat

import (
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// A followed session shows turns that are open at the same time one after the other.
func TestFollowedTurnsAtOnce(t *testing.T) {
	for _, n := range []int{2, 4} {
		payloads, turns := conversationtest.AtOnce(n)
		var followed []journal.Event
		for i, r := range conversationtest.Records(payloads[1:]...) {
			followed = append(followed, journal.Event{Seq: uint64(i + 2), Time: r.Time, Type: r.Type, Data: r.Data})
		}
		members := view.Members{}
		members.AddMembers(payloads[0].(projection.SessionCreated).Team.Members)
		terminal, pipe := "\nMia\nPlease look.\n", "Mia: Please look.\n"
		for i, turn := range turns {
			terminal += fmt.Sprintf("\n%s\n%s\n\n● Bash  %s  ok %d.0s\n  %s\n\n%s\n— %d.0s\n", turn.DisplayName, turn.Before,
				turn.Command, n, turn.Output, turn.After, i+1)
			pipe += fmt.Sprintf("%s: %s\n  Bash: %s\n%[1]s: %[4]s\n", turn.DisplayName, turn.Before, turn.Command, turn.After)
		}
		for _, test := range []struct {
			follow func(iter.Seq2[projection.Event, error], view.Members) iter.Seq2[change, error]
			style  view.Style
			want   string
		}{{events, view.Style{Width: 80}, terminal}, {items, view.Style{Plain: true}, pipe}} {
			m := &console.Model{Transcript: view.Continued(members), Style: test.style}
			got := ""
			for change, err := range test.follow(projection.Decoded(projectiontest.Sequence(followed, nil)), members) {
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range change(m) {
					for _, line := range view.Render(b, test.style) {
						got += line + "\n"
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%d turns (-want +got):\n%s", n, diff)
			}
		}
	}
}
