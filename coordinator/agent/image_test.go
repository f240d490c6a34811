package agent_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

var aPicture = agent.Image{Label: "[a.png, image/png, 3 bytes]", MediaType: "image/png", Data: []byte{1, 2, 3}}

func TestOpenAISendsPictures(t *testing.T) {
	var body string
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		read, _ := io.ReadAll(r.Body)
		body = string(read)
		sendChunks(chunkHi, chunkStop)(w, r)
	})
	turn.Images = []agent.Image{aPicture}
	mustReply(t, impatient, turn)
	want := `"content":[{"text":"Build a shelf.","type":"text"},{"text":"[a.png, image/png, 3 bytes]","type":"text"},` +
		`{"image_url":{"url":"data:image/png;base64,AQID"},"type":"image_url"}]`
	if !strings.Contains(body, want) {
		t.Errorf("sent %s", body)
	}
}

// A model that takes no pictures answers a request without them, whatever the status of its refusal.
func TestOpenAIModelsWithoutPicturesReply(t *testing.T) {
	for _, status := range []int{400, 404, 413, 415, 422, 500, 501} {
		requests := 0
		turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if requests++; strings.Contains(string(body), "image_url") {
				http.Error(w, "image input is not supported", status)
				return
			}
			sendChunks(chunkHi, chunkStop)(w, r)
		})
		turn.Images = []agent.Image{aPicture}
		got, err := allEvents(within(t), impatient, turn)
		want := []string{"agent.Unsupported {Setting:images}", "hi"}
		if err != nil || !slices.Equal(got, want) || requests != 2 {
			t.Errorf("status %d, %d requests: %q, %v", status, requests, got, err)
		}
	}
}

func TestOpenAIErrorIsNotThatOfPictures(t *testing.T) {
	requests := 0
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Error(w, "no such model", http.StatusNotFound)
	})
	turn.Images = []agent.Image{aPicture}
	if _, err := allEvents(within(t), impatient, turn); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Error(err)
	}
	turn.Images, requests = nil, 0
	if _, err := allEvents(within(t), impatient, turn); err == nil || requests != 1 {
		t.Errorf("%d requests, %v", requests, err)
	}
}

// An agent that does not say that it takes pictures gets none.
func TestACPSendsPicturesOnlyWhereTheyAreTaken(t *testing.T) {
	turn := acpTurn(t, "")
	turn.Images = []agent.Image{aPicture}
	got, err := allEvents(within(t), newACP(t), turn)
	if err != nil || !slices.Contains(got, "agent.Unsupported {Setting:images}") {
		t.Errorf("%q, %v", got, err)
	}
	if strings.Contains(strings.Join(got, "\n"), base64.StdEncoding.EncodeToString(aPicture.Data)) {
		t.Error("it got the picture")
	}
}
