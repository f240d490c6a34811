package view

import (
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

func TestPageIsFilled(t *testing.T) {
	page := Page("# A\nb\nc **d\ne** [f\ng](https://h)\n\n- one\n  two\n- three\n\n```\nx\ny\n```\n")
	want := []string{
		"# A", "", "b c d e f g (https://h)", "", "• one two", "• three", "", "  x", "  y",
	}
	if got := Render(page, Style{Width: 80}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want = []string{"b", "c"}
	message := Block{content: message{text: "b\nc"}}
	if got := Render(message, Style{Width: 80, Profile: ansi.NoColor}); !slices.Equal(got, want) {
		t.Errorf("a message: got %q, want %q", got, want)
	}
}
