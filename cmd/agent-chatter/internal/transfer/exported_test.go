package transfer

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

func TestExportOmitsMessagesAppendedMeanwhile(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := a.Catalog.Find(context.Background(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	for format := range formats {
		x, err := NewExport(a, session).open(session)
		if err != nil {
			t.Fatal(err)
		}
		var before, after strings.Builder
		if err := formats[format](x, &before); err != nil {
			t.Fatal(err)
		}
		you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
		if err := a.Catalog.At(session.Dir()).Append(context.Background(), session.ID, projection.Record(time.Now(), projection.NewMessage("m5", time.Now(), you, "and five", nil))); err != nil {
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
