package agents

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/oklog/ulid/v2"
)

// probe returns what a program prints, run in the environment of a turn.
func probe(ctx context.Context, turn agent.Turn) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, timeoutError(probeTimeout))
	defer cancel()
	turn.ID = ulid.Make().String()
	var output strings.Builder
	for e, err := range (agent.Command{}).Run(ctx, turn) {
		if err != nil {
			return output.String(), err
		}
		if text, ok := e.(agent.Text); ok && output.Len() < probeOutput {
			output.WriteString(text.Text)
		}
	}
	return output.String(), nil
}

const (
	probeTimeout = 30 * time.Second // for a version or a login status
	probeOutput  = 64 << 10         // bytes of its output that are read
)

func timeoutError(limit time.Duration) error {
	return fmt.Errorf("it did not answer within %s", limit)
}

// versionOf returns the version that a program prints, or "" if it prints none. Errors
// are those of probe.
func versionOf(ctx context.Context, command string) (string, error) {
	output, err := probe(ctx, agent.Turn{Member: agent.Member{Command: command, Args: []string{"--version"}}})
	if err != nil {
		return "", err
	}
	return versionNumber().FindString(output), nil
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+-]*`)
})
