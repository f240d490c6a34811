package guide

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestSearchLines(t *testing.T) {
	lines := strings.Split("Green tea\nis brewed\nshortly.\n\ntea, GREEN or\nblack", "\n")
	for _, test := range []struct {
		words string
		want  []int
	}{
		{"tea", []int{0, 4}}, {"green TEA", []int{0, 4}}, {"tea green black", []int{4}}, {"brewed tea", []int{0}},
		{"shortly tea", nil}, {"brewed shortly", []int{1}}, {"coffee", nil},
	} {
		if got := searchLines(lines, []string{test.words}); !slices.Equal(got, test.want) {
			t.Errorf("%s: lines %v, want %v", test.words, got, test.want)
		}
	}
}

func TestPagesWithHeadingsAndMostLinesAreFirst(t *testing.T) {
	found := searchPages([]string{"shell", "completion"}, func(t Topic) []string { return strings.Split(t.text(), "\n") })
	if len(found) < 2 || found[0].topic.Name != "configuration" {
		t.Fatalf("found on %+v", found)
	}
	for i, page := range found[1:] {
		if before := found[i]; page.heading && !before.heading ||
			page.heading == before.heading && len(page.lines) > len(before.lines) {
			t.Errorf("%+v is before %+v", before, page)
		}
	}
}

func TestGuideTexts(t *testing.T) {
	found := []foundPage{{topic: Topic{Name: "routing"}}}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "unknownText", Shown: unknownText(apptest.Hostile, "")},
		{Function: "unknownText", Sample: "similar to a topic", Shown: unknownText("resmue", "resume")},
		{Function: "foundText", Shown: foundText(apptest.Hostile, "", found)},
		{Function: "foundText", Sample: "similar to a topic", Shown: foundText("resum", "resume", found)},
		{Function: "manText", Shown: manText("/home/"+apptest.Hostile, 105)},
	})
}
