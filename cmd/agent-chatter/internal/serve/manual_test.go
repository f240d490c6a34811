package serve

import (
	"os"
	"strings"
	"testing"
)

// The token stays where the program cannot remove it: the manual says so.
func TestManualNamesTheHistoryOfTheBrowser(t *testing.T) {
	page, err := os.ReadFile("../../guide/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{"The history of the browser keeps the address with the token", "`--token-file`"} {
		if !strings.Contains(text, want) {
			t.Errorf("guide/serve.md lacks %q", want)
		}
	}
}
