package spending

import (
	"os"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// The sums of 10,000 sessions, and the list of them with which they are compared.
func BenchmarkTenThousandSessions(b *testing.B) {
	dir := os.Getenv("FILL")
	if dir == "" {
		dir = b.TempDir()
	}
	if _, err := (catalogtest.Sessions{Count: 10_000, Messages: 8, Usage: true}).Fill(dir); err != nil {
		b.Fatal(err)
	}
	c := catalog.New(dir, journal.Options{})
	list := func(b *testing.B, q catalog.Query) *catalog.Result {
		r, err := c.List(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	list(b, catalog.Query{})
	for _, limit := range []int{20, 0} {
		b.Run(map[int]string{20: "the newest 20", 0: "all"}[limit], func(b *testing.B) {
			for b.Loop() {
				list(b, catalog.Query{Limit: limit})
			}
		})
	}
	for _, by := range []By{ByDay, BySession} {
		b.Run("usage by "+string(by), func(b *testing.B) {
			for b.Loop() {
				if rows := sum(by, time.Time{}, list(b, catalog.Query{Limit: 1, ReadRows: true}).Matches, nil); len(rows) == 0 {
					b.Fatal("no usage")
				}
			}
		})
	}
}
