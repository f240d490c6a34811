package usage

import (
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
)

// commandLine has a flag of each kind.
type commandLine struct {
	Level string `enum:"info,warn" default:"warn"`
	Chat  struct {
		Speed float64
		Wait  time.Duration
		Trace bool `hidden:""`
	} `cmd:""`
	Sessions struct {
		List struct {
			Limit  int
			Input  string `enum:"text,json" default:"text"`
			Output string `enum:"text,json" default:"text"`
			Age    home.Days
			Until  *home.Days
		} `cmd:"" aliases:"ls" default:"withargs"`
		Show struct {
			ID     string `arg:""`
			Output string
		} `cmd:""`
		Export struct {
			Format string `enum:"md,json" default:"md"`
		} `cmd:""`
		Hidden struct{} `cmd:"" hidden:""`
	} `cmd:""`
}
