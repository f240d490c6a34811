package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// A FailureError is a turn that the agent has not finished: it reported an error, or exited without
// a final message.
type FailureError struct {
	Agent  string // its display name
	Reason string // the agent's own error message, if it has one; at most 4 KiB
	Remedy Remedy
}

func (e *FailureError) Error() string { return fmt.Sprintf("%s failed: %s", e.Agent, e.Detail()) }

// Detail returns the reason and the advice, without the name of the agent.
func (e *FailureError) Detail() string {
	if e.Remedy.Advice == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Remedy.Advice
}

var _ hint.Hinter = (*FailureError)(nil)

// Hint returns e.Remedy.Hint.
func (e *FailureError) Hint() hint.Hint { return e.Remedy.Hint }

// A Remedy is what a user can do about a failure.
type Remedy struct {
	Advice string    // a phrase without commands, such as "check the member's model"; "" is none
	Hint   hint.Hint // the zero Hint is none
}

// retry is the remedy for failures that may not happen again.
var retry = hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}

// Remedies that several engines have.
var (
	remedyShorten = Remedy{
		Advice: `shorten the message, name a file instead of quoting it, or reduce "window" in config.json`,
	}
	remedyCredit  = Remedy{Advice: "check the plan and the billing of the account"}
	remedyAskLess = Remedy{Advice: "ask for less at once, or for a file instead"}
	remedyCommand = Remedy{
		Advice: `check the member's command and args; for another program, set the member's "engine" to "command"`,
	}
)

// maxReason is the length of the longest FailureError.Reason in bytes.
const maxReason = 4 << 10

// maxWord is the length in bytes of the longest word that is dropped because it was cut. Longer
// words are no secrets.
const maxWord = 512

// abbreviate returns the beginning of a text, at most limit bytes, as valid UTF-8. It does not cut
// a word: redaction does not recognize the beginning of a secret.
func abbreviate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[:limit-len("…")]
	if blank := strings.LastIndexAny(text, " \t\r\n"); blank > 0 && len(text)-blank-1 <= maxWord {
		text = text[:blank]
	}
	return strings.ToValidUTF8(text, "") + "…"
}

func (p profile) failure(reason string, remedy Remedy) *FailureError {
	return &FailureError{Agent: p.name, Reason: abbreviate(reason, maxReason), Remedy: remedy}
}

// remedy returns what helps against an error message of the agent.
func (p profile) remedy(message string) Remedy {
	message = strings.ToLower(message)
	for _, known := range []struct {
		words  string // any of them, separated by |
		remedy Remedy
	}{
		{"trusted directory", p.trust},
		{"root/sudo", Remedy{Advice: `run it as another user, or change the member's "permissions"`}},
		{"unknown option|unexpected argument|unknown argument|unrecognized",
			Remedy{"check the member's args, or update it", hint.Hint{Kind: hint.Run, Argv: p.install}}},
		{"too long|context length|context window|context_length|max_tokens", remedyShorten},
		{"credit balance|insufficient_quota|insufficient balance|billing|payment required|402", remedyCredit},
		{"max_turns|max turns|maximum number of turns", Remedy{Advice: "raise --max-turns in the member's args"}},
		{"session limit|usage limit|limit reached|hit your limit|weekly limit",
			Remedy{"wait until the limit resets, then retry", retry}},
		{"token has expired|token expired|oauth", p.login},
		{"rate limit|rate_limit|quota|overloaded|high demand|too many requests|429|529",
			Remedy{"wait a while, then retry", retry}},
		{"model_not_found|not_found_error|model not found|not supported|invalid model|unknown model|does not exist",
			Remedy{Advice: `check the member's "model"`}},
		{"401|403|unauthorized|forbidden|authenticat|auth method|api key|api_key|apikey|" +
			"log in|login|logged in|sign in|signed in|credential", p.login},
	} {
		for word := range strings.SplitSeq(known.words, "|") {
			if known.remedy.Advice != "" && strings.Contains(message, word) {
				return known.remedy
			}
		}
	}
	return Remedy{fmt.Sprintf("retry, or run %s directly to see more", p.program), retry}
}

// apiMessage returns the message of an error that may be the JSON response of an API.
func apiMessage(text string) string {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return strings.TrimSpace(text)
	}
	var response struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text[from:to+1]), &response) != nil || response.Error.Message == "" {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(strings.Trim(text[:from]+response.Error.Message+text[to+1:], "[]"))
}
