package api

import (
	"net/http"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// trash returns a part of the sessions in the trash, those that were deleted last first.
func (d *Server) trash(r *http.Request) (listJSON, error) {
	all, err := d.app.Catalog.Trash(r.Context())
	if err != nil {
		return listJSON{}, err
	}
	from, to, err := partOf(r, len(all))
	if err != nil {
		return listJSON{}, err
	}
	answer := listJSON{Sessions: []sessionJSON{}, From: from, Total: len(all)}
	secrets := d.redactors()
	for i, item := range all {
		key := (catalog.Key{Dir: item.Dir, ID: item.ID}).Name()
		if key == r.FormValue("find") {
			answer.Place = &i
		}
		if i < from || i >= to {
			continue
		}
		row := sessionJSON{
			Key: key, ID: item.ID, Bytes: item.Bytes, Trashed: item.Since,
			Resume: "agent-chatter sessions restore " + item.ID,
		}
		head, err := d.app.Catalog.At(item.Dir).TrashHead(r.Context(), item.ID)
		if err != nil {
			row.Damaged = tty.SafeLine(err.Error())
		}
		row.Title = tty.SafeLine(textWithout(secrets(head.Source), head.Title))
		row.Team, row.CWD, row.CreatedAt = tty.SafeLine(head.TeamID), tty.SafeLine(head.CWD), head.CreatedAt
		answer.Sessions = append(answer.Sessions, row)
	}
	return answer, r.Context().Err()
}
