package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A FailureError says that an agent was asked and that its turn did not end well: it said so,
// or it ended without a word on it.
type FailureError struct {
	Agent string // as people call it
	Says  string // why, in the agent's words where there are any; at most 4 KiB
	Help  string // what a person does next
}

func (e *FailureError) Error() string {
	return fmt.Sprintf("%s failed: %s; %s", e.Agent, e.Says, e.Help)
}

// saysKept is how many bytes of an agent's words an error shows.
const saysKept = 4 << 10

func (d dialect) failure(says, help string) *FailureError {
	return &FailureError{Agent: d.name, Says: head(says, saysKept), Help: help}
}

// head is the beginning of a text, at most so many bytes of it, as valid UTF-8. It is not cut
// within a word: half of a secret is not known for one.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len("…")]
	if blank := strings.LastIndexAny(text, " \t\r\n"); blank > 0 && blank > len(text)-wordMost {
		text = text[:blank]
	}
	return strings.ToValidUTF8(text, "") + "…"
}

// helpShorter is what helps against a prompt that an agent does not take.
const helpShorter = `say less at once, name a file instead of quoting it, or make "window" in config.json smaller`

// help is what a person does about what an agent says.
func (d dialect) help(says string) string {
	says = strings.ToLower(says)
	for _, known := range []struct{ words, help string }{
		{"trusted directory", d.trust},
		{"root/sudo", `run it as another user, or change the member's "permissions"`},
		{"unknown option|unexpected argument|unknown argument|unrecognized", "check the member's args, or update it: " + d.install},
		{"too long|context length|context window|context_length|max_tokens", helpShorter},
		{"rate limit|rate_limit|usage limit|quota|overloaded|high demand|too many requests|429|529", "wait a while, then type /retry"},
		{"model_not_found|not_found_error|model not found|not supported|invalid model|unknown model|does not exist", `check the member's "model"`},
		{"401|403|unauthorized|forbidden|authenticat|auth method|api key|api_key|apikey|log in|login|logged in|credential", d.login},
	} {
		for word := range strings.SplitSeq(known.words, "|") {
			if known.help != "" && strings.Contains(says, word) {
				return known.help
			}
		}
	}
	return "to try again, type /retry; to see more, run " + d.program + " by hand"
}

// spoken is what an agent says in words, of what may be the answer of an API in JSON.
func spoken(says string) string {
	from, to := strings.IndexByte(says, '{'), strings.LastIndexByte(says, '}')
	if from < 0 || to < from {
		return strings.TrimSpace(says)
	}
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(says[from:to+1]), &answer) != nil || answer.Error.Message == "" {
		return strings.TrimSpace(says)
	}
	return strings.TrimSpace(strings.Trim(says[:from]+answer.Error.Message+says[to+1:], "[]"))
}
