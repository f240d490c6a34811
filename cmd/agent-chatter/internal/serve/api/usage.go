package api

import (
	"net/http"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A usageJSON is what the turns of all sessions used, by day, by member and by model.
type usageJSON struct {
	Tables []spending.Table `json:"tables"`
	Notes  []string         `json:"notes"` // what the numbers lack
}

// usage returns what `agent-chatter usage` prints.
func (d *Server) usage(r *http.Request) (usageJSON, error) {
	since, ok := spending.Since(r.FormValue("since"), time.Now())
	if !ok {
		return usageJSON{}, &requestError{"since takes a time such as 2026-11-21, or an age such as 7d or 12h."}
	}
	config, err := d.app.Config()
	if err != nil {
		return usageJSON{}, err
	}
	list, err := d.listed(r.Context(), catalog.Query{Limit: 1, ReadRows: true})
	if err != nil {
		return usageJSON{}, err
	}
	report := spending.ReportOf(since, list.Matches, config.Prices, spending.ByDay, spending.ByMember, spending.ByModel)
	answer := usageJSON{Tables: report.Tables, Notes: []string{}}
	for _, note := range report.Notes {
		answer.Notes = append(answer.Notes, d.rendered(note))
	}
	return answer, r.Context().Err()
}
