package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/projection"
)

func TestWhatIsSaidDuringAnExportIsNotHalfOfIt(t *testing.T) {
	home := t.TempDir()
	crashedSession(t, home)
	a := &app{home: home, stdout: io.Discard, stderr: io.Discard}
	session, _, err := a.catalog().Find(aliceID)
	if err != nil {
		t.Fatal(err)
	}
	for format := range formats {
		x, err := newExport(a, session).open(session)
		if err != nil {
			t.Fatal(err)
		}
		var before, after strings.Builder
		if err := formats[format](x, &before); err != nil {
			t.Fatal(err)
		}
		you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
		if err := a.catalog().At(session.Dir()).Append(context.Background(), session.ID, projection.Record(now(), projection.NewMessage("m5", now(), you, "and five", nil))); err != nil {
			t.Fatal(err)
		}
		if err := formats[format](x, &after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before.String(), after.String()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", format, diff)
		}
	}
}
