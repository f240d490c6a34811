package redact

import "strings"

// A shape is how a provider's keys look: a prefix, and a run of characters behind it that
// nothing makes longer.
type shape struct {
	kind, prefix string
	chars        *chars
	least, most  int // characters behind the prefix
}

// chars are the characters of a run.
type chars [256]bool

func charsOf(ranges string) *chars {
	var c chars
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	return &c
}

// The alphabets of keys, as pairs of first and last.
var (
	hex      = charsOf("09af")
	upper    = charsOf("09AZ")
	alnum    = charsOf("09azAZ")
	word     = charsOf("09azAZ__")
	urlsafe  = charsOf("09azAZ__--")
	dotted   = charsOf("09azAZ__--..")
	pathlike = charsOf("09azAZ//")
)

// longest is where no length is given: no key is longer, and what is longer is no key.
const longest = 512

// shapes are the formats that providers have published, or that all of their keys have.
// Where one prefix begins with another, the longer one stands first.
var shapes = []shape{
	{"anthropic-key", "sk-ant-", urlsafe, 20, longest},
	{"openrouter-key", "sk-or-v1-", hex, 64, 64},
	{"openai-key", "sk-proj-", urlsafe, 20, longest},
	{"openai-key", "sk-svcacct-", urlsafe, 20, longest},
	{"openai-key", "sk-admin-", urlsafe, 20, longest},
	{"api-key", "sk-", alnum, 32, 64}, // OpenAI's first ones, DeepSeek and others
	{"google-key", "AIza", urlsafe, 35, 35},
	{"google-secret", "GOCSPX-", urlsafe, 28, 28},
	{"google-token", "ya29.", urlsafe, 40, longest},
	{"groq-key", "gsk_", alnum, 48, 64},
	{"xai-key", "xai-", alnum, 70, 100},
	{"perplexity-key", "pplx-", alnum, 40, 64},
	{"replicate-token", "r8_", alnum, 37, 37},
	{"huggingface-token", "hf_", alnum, 34, 40},
	{"nvidia-key", "nvapi-", urlsafe, 60, 80},
	{"github-token", "github_pat_", word, 60, longest},
	{"github-token", "ghp_", alnum, 36, longest},
	{"github-token", "gho_", alnum, 36, longest},
	{"github-token", "ghu_", alnum, 36, longest},
	{"github-token", "ghs_", alnum, 36, longest},
	{"github-token", "ghr_", alnum, 36, longest},
	{"gitlab-token", "glpat-", dotted, 20, longest},
	{"aws-key-id", "AKIA", upper, 16, 16},
	{"aws-key-id", "ASIA", upper, 16, 16},
	{"slack-token", "xoxa-", urlsafe, 20, longest},
	{"slack-token", "xoxb-", urlsafe, 20, longest},
	{"slack-token", "xoxe-", urlsafe, 20, longest},
	{"slack-token", "xoxp-", urlsafe, 20, longest},
	{"slack-token", "xoxr-", urlsafe, 20, longest},
	{"slack-token", "xoxs-", urlsafe, 20, longest},
	{"slack-token", "xapp-", urlsafe, 20, longest},
	{"slack-webhook", "hooks.slack.com/services/T", pathlike, 40, 100},
	{"stripe-key", "sk_live_", alnum, 20, longest},
	{"stripe-key", "sk_test_", alnum, 20, longest},
	{"stripe-key", "rk_live_", alnum, 20, longest},
	{"stripe-key", "rk_test_", alnum, 20, longest},
	{"npm-token", "npm_", alnum, 36, 36},
	{"pypi-token", "pypi-AgEIcHlwaS5vcmc", urlsafe, 50, longest},
	{"sendgrid-key", "SG.", dotted, 66, longest},
	{"digitalocean-token", "dop_v1_", hex, 64, 64},
	{"digitalocean-token", "doo_v1_", hex, 64, 64},
	{"docker-token", "dckr_pat_", urlsafe, 27, 40},
	{"databricks-token", "dapi", hex, 32, 32},
	{"linear-key", "lin_api_", alnum, 40, 40},
	{"vault-token", "hvs.", urlsafe, 24, longest},
	{"age-key", "AGE-SECRET-KEY-1", upper, 58, 58},
}

// match is as begun.secret.
func (s *shape) match(text string, ends bool) (length int, open bool) {
	if len(text) < len(s.prefix) {
		return 0, !ends && strings.HasPrefix(s.prefix, text)
	}
	if !strings.HasPrefix(text, s.prefix) {
		return 0, false
	}
	body := text[len(s.prefix):]
	n := 0
	for n < len(body) && n <= s.most && s.chars[body[n]] {
		n++
	}
	switch {
	case n > s.most:
		return 0, false
	case n == len(body) && !ends:
		return 0, true
	case n < len(body) && inName(body[n]):
		return 0, false
	}
	// The full stop or dash behind a key is the sentence's.
	n = len(strings.TrimRight(body[:n], ".-"))
	if n < s.least || placeholder(s, body[:n]) {
		return 0, false
	}
	return len(s.prefix) + n, false
}

// placeholder reports whether what stands for a key is none, as in documents: words, the same
// letter again and again, or the examples of AWS.
func placeholder(s *shape, body string) bool {
	const digits, small, capital = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	words := !strings.ContainsAny(body, digits) && (!strings.ContainsAny(body, small) || !strings.ContainsAny(body, capital))
	crossed := strings.Trim(body, "xX-_") == ""
	return crossed || words && s.chars != alnum && s.chars != upper || s.chars == upper && strings.HasSuffix(body, "EXAMPLE")
}
