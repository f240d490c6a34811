package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnswersWithoutTokenEndTheConnection(t *testing.T) {
	server := httptest.NewServer(endingConnections(http.NotFoundHandler()))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if !answer.Close {
		t.Error("the connection stays open")
	}
}
