package agent

import (
	"strings"
	"testing"
)

func TestRemediesOfKnownErrors(t *testing.T) {
	for message, want := range map[string]string{
		"You've hit your session limit - resets 3pm":           "wait until the limit resets",
		"OAuth token has expired. Please obtain a new token":   "log in",
		"Credit balance is too low":                            "check the plan and the billing",
		"error_max_turns":                                      "--max-turns",
		"Reached maximum number of turns (3)":                  "--max-turns",
		"429 Too Many Requests":                                "wait a while",
		"You exceeded your current quota (insufficient_quota)": "check the plan and the billing",
		"prompt is too long: 300000 tokens > 200000 maximum":   "shorten the message",
		"something else":                                       "run claude directly",
	} {
		if got := claudeProfile.remedy(message); !strings.Contains(got.Advice, want) {
			t.Errorf("%s: %q, want %q", message, got.Advice, want)
		}
	}
}
