//go:build unix

package chat

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/api"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// BenchmarkHeardOnThePage compares, in pairs, how late a page hears of a message that is entered, and of an event that
// is appended to a journal. ratio is that of the medians.
func BenchmarkHeardOnThePage(b *testing.B) {
	h, dir := newTestHost(b)
	first := live.Input{ID: "first", Text: "hello [NEXT: you]", From: "page", Role: web.RoleAll}
	key, err := h.Begin(b.Context(), "demo", dir, first)
	if err != nil {
		b.Fatal(err)
	}
	c, _ := h.own(key.Name())
	events := eventsOf(b, h, key)
	other := catalog.Key{Dir: key.Dir, ID: h.app.Catalog.At(key.Dir).Journals().NewID()}
	log, err := h.app.Catalog.At(key.Dir).Journals().Create(other.ID)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	appendEvent := func(i int) {
		e := events[i]
		if _, err := log.Append(journal.Record{Time: time.Now(), Type: e.Type, Data: e.Data}); err != nil {
			b.Fatal(err)
		}
		if err := log.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	appendEvent(0)
	handler := api.New(h.app, h, b.Context().Done()).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, web.WithCaller(r, web.Caller{Role: web.RoleAll}))
	}))
	b.Cleanup(server.Close) // after the streams
	heard := func(key catalog.Key) func(seq uint64) {
		response, err := server.Client().Get(server.URL + "/api/stream?session=" + key.Name())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { response.Body.Close() })
		lines := bufio.NewScanner(response.Body)
		return func(seq uint64) {
			for lines.Scan() {
				var change struct{ Seq uint64 }
				data, _ := strings.CutPrefix(lines.Text(), "data: ")
				if json.Unmarshal([]byte(data), &change) == nil && change.Seq >= seq {
					return
				}
			}
			b.Fatal(lines.Err())
		}
	}
	entered, appended := heard(key), heard(other)
	var ofEntered, ofAppended []time.Duration
	seq, at := uint64(len(events)), uint64(1)
	entered(seq)
	appended(at)
	for i := range b.N {
		began := time.Now()
		text := fmt.Sprintf("%d [NEXT: you]", i)
		if err := c.Enter(live.Input{ID: fmt.Sprint(i), Text: text, From: "page", Role: web.RoleAll}); err != nil {
			b.Fatal(err)
		}
		seq += 2 // and input.received
		entered(seq)
		ofEntered = append(ofEntered, time.Since(began))
		began = time.Now()
		appendEvent(1)
		at++
		appended(at)
		ofAppended = append(ofAppended, time.Since(began))
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds())
	}
	b.ReportMetric(median(ofEntered), "µs/entered")
	b.ReportMetric(median(ofAppended), "µs/appended")
	b.ReportMetric(median(ofEntered)/median(ofAppended), "ratio")
}
