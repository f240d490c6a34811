package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

func TestSkewOfTheClock(t *testing.T) {
	for ahead, want := range map[time.Duration]string{
		0: "", maxSkew: "", -maxSkew: "",
		90 * time.Second: "differs by 1m30s", -2 * time.Hour: "differs by 2h0m0s",
	} {
		found := skewFindings(ahead)
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s: %+v", ahead, found)
		case want != "" && (len(found) != 1 || found[0].State != app.StateNote || !strings.Contains(found[0].What, want)):
			t.Errorf("%s: %+v, want that the clock %s", ahead, found, want)
		}
	}
}
