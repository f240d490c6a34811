package redact

import "strings"

// A format is the format of a provider's tokens: a prefix, then a maximal run of characters.
type format struct {
	kind, prefix string
	chars        *charSet
	min, max     int // characters after the prefix
}

// A charSet is a set of bytes.
type charSet [256]bool

// charsOf returns the set of the characters in ranges, which are pairs of first and last.
func charsOf(ranges string) *charSet {
	var c charSet
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	return &c
}

var (
	hex         = charsOf("09af")
	dashedHex   = charsOf("09af--")
	upper       = charsOf("09AZ")
	dashedUpper = charsOf("09AZ--")
	lower       = charsOf("09az")
	dashedLower = charsOf("09az--")
	alnum       = charsOf("09azAZ")
	word        = charsOf("09azAZ__")
	urlsafe     = charsOf("09azAZ__--")
	dotted      = charsOf("09azAZ__--..")
	pathlike    = charsOf("09azAZ//")
	base64Chars = charsOf("09azAZ++//==")
	base64Word  = charsOf("09azAZ++//==__")
)

const (
	// noMax is the maximum for formats without one; longer runs are not tokens.
	noMax = 512
	// longMax is the maximum for formats that wrap a document.
	longMax = 4096
)

// formats are the formats that providers have published, or that all of their tokens have. If one
// prefix begins with another, the longer one comes first.
var formats = []format{
	{"anthropic-key", "sk-ant-", urlsafe, 20, noMax},
	{"openrouter-key", "sk-or-v1-", hex, 64, 64},
	{"openai-key", "sk-proj-", urlsafe, 20, noMax},
	{"openai-key", "sk-svcacct-", urlsafe, 20, noMax},
	{"openai-key", "sk-admin-", urlsafe, 20, noMax},
	{"api-key", "sk-", alnum, 32, 64}, // older ones of OpenAI, DeepSeek and others
	{"google-key", "AIza", urlsafe, 35, 35},
	{"google-secret", "GOCSPX-", urlsafe, 28, 28},
	{"google-token", "ya29.", urlsafe, 40, noMax},
	{"groq-key", "gsk_", alnum, 48, 64},
	{"xai-key", "xai-", alnum, 70, 100},
	{"perplexity-key", "pplx-", alnum, 40, 64},
	{"replicate-token", "r8_", alnum, 37, 37},
	{"huggingface-token", "hf_", alnum, 34, 40},
	{"huggingface-token", "api_org_", alnum, 34, 40},
	{"nvidia-key", "nvapi-", urlsafe, 60, 80},
	{"github-token", "github_pat_", word, 60, noMax},
	{"github-token", "ghp_", alnum, 36, noMax},
	{"github-token", "gho_", alnum, 36, noMax},
	{"github-token", "ghu_", alnum, 36, noMax},
	{"github-token", "ghs_", alnum, 36, noMax},
	{"github-token", "ghr_", alnum, 36, noMax},
	{"gitlab-token", "glpat-", dotted, 20, noMax},
	{"gitlab-token", "glptt-", hex, 40, 40},
	{"gitlab-token", "gldt-", urlsafe, 20, noMax},
	{"gitlab-token", "glrt-", dotted, 20, noMax},
	{"gitlab-token", "glcbt-", urlsafe, 22, noMax},
	{"gitlab-token", "glagent-", urlsafe, 50, noMax},
	{"gitlab-token", "gloas-", urlsafe, 64, noMax},
	{"gitlab-token", "glft-", urlsafe, 20, noMax},
	{"gitlab-token", "glffct-", urlsafe, 20, noMax},
	{"gitlab-token", "glimt-", urlsafe, 25, noMax},
	{"gitlab-token", "glsoat-", urlsafe, 20, noMax},
	{"aws-key-id", "AKIA", upper, 16, 16},
	{"aws-key-id", "ASIA", upper, 16, 16},
	{"aws-key-id", "ABIA", upper, 16, 16},
	{"aws-key-id", "ACCA", upper, 16, 16},
	{"aws-bedrock-key", "ABSK", base64Chars, 109, 271},
	{"aws-bedrock-key", "bedrock-api-key-", base64Chars, 40, longMax},
	{"alibaba-key-id", "LTAI", alnum, 20, 20},
	{"slack-token", "xoxa-", urlsafe, 20, noMax},
	{"slack-token", "xoxb-", urlsafe, 20, noMax},
	{"slack-token", "xoxe-", urlsafe, 20, noMax},
	{"slack-token", "xoxp-", urlsafe, 20, noMax},
	{"slack-token", "xoxr-", urlsafe, 20, noMax},
	{"slack-token", "xoxs-", urlsafe, 20, noMax},
	{"slack-token", "xapp-", urlsafe, 20, noMax},
	{"slack-webhook", "hooks.slack.com/services/T", pathlike, 40, 100},
	{"slack-webhook", "hooks.slack.com/workflows/T", pathlike, 40, 100},
	{"slack-webhook", "hooks.slack.com/triggers/T", pathlike, 40, 100},
	{"stripe-key", "sk_live_", alnum, 20, noMax},
	{"stripe-key", "sk_test_", alnum, 20, noMax},
	{"stripe-key", "sk_prod_", alnum, 20, noMax},
	{"stripe-key", "rk_live_", alnum, 20, noMax},
	{"stripe-key", "rk_test_", alnum, 20, noMax},
	{"stripe-key", "rk_prod_", alnum, 20, noMax},
	{"npm-token", "npm_", alnum, 36, 36},
	{"pypi-token", "pypi-AgEIcHlwaS5vcmc", urlsafe, 50, noMax},
	{"rubygems-token", "rubygems_", hex, 48, 48},
	{"clojars-token", "CLOJARS_", lower, 60, 60},
	{"docker-token", "dckr_pat_", urlsafe, 27, 40},
	{"artifactory-key", "AKCp", alnum, 69, 69},
	{"sendgrid-key", "SG.", dotted, 66, noMax},
	{"brevo-key", "xkeysib-", dashedLower, 81, 81},
	{"digitalocean-token", "dop_v1_", hex, 64, 64},
	{"digitalocean-token", "doo_v1_", hex, 64, 64},
	{"digitalocean-token", "dor_v1_", hex, 64, 64},
	{"databricks-token", "dapi", hex, 32, 32},
	{"doppler-token", "dp.pt.", alnum, 43, 43},
	{"dynatrace-token", "dt0c01.", dotted, 89, 89},
	{"duffel-token", "duffel_live_", urlsafe, 43, 43},
	{"duffel-token", "duffel_test_", urlsafe, 43, 43},
	{"easypost-key", "EZAK", alnum, 54, 54},
	{"easypost-key", "EZTK", alnum, 54, 54},
	{"facebook-token", "EAAM", alnum, 100, noMax},
	{"facebook-token", "EAAC", alnum, 100, noMax},
	{"fly-token", "fo1_", urlsafe, 43, 43},
	{"fly-token", "fm1a_", base64Chars, 100, longMax},
	{"fly-token", "fm1r_", base64Chars, 100, longMax},
	{"fly-token", "fm2_", base64Chars, 100, longMax},
	{"frameio-token", "fio-u-", urlsafe, 64, 64},
	{"grafana-token", "glsa_", word, 41, 41},
	{"grafana-token", "glc_", base64Chars, 32, noMax},
	{"grafana-token", "eyJrIjoi", base64Chars, 70, noMax},
	{"heroku-key", "HRKU-AA", urlsafe, 58, 58},
	{"infracost-token", "ico-", alnum, 32, 32},
	{"linear-key", "lin_api_", alnum, 40, 40},
	{"notion-token", "ntn_", alnum, 46, 46},
	{"octopus-key", "API-", upper, 26, 26},
	{"1password-key", "A3-", dashedUpper, 36, 37},
	{"1password-token", "ops_eyJ", base64Chars, 250, longMax},
	{"openshift-token", "sha256~", urlsafe, 43, 43},
	{"planetscale-token", "pscale_tkn_", dotted, 32, 64},
	{"planetscale-token", "pscale_oauth_", dotted, 32, 64},
	{"planetscale-token", "pscale_pw_", dotted, 32, 64},
	{"postman-key", "PMAK-", dashedHex, 59, 59},
	{"prefect-token", "pnu_", alnum, 36, 36},
	{"pulumi-token", "pul-", hex, 40, 40},
	{"readme-token", "rdme_", lower, 70, 70},
	{"scalingo-token", "tk-us-", urlsafe, 48, 48},
	{"sentry-token", "sntryu_", hex, 64, 64},
	{"sentry-token", "sntrys_eyJ", base64Word, 80, noMax},
	{"settlemint-token", "sm_aat_", alnum, 16, 16},
	{"settlemint-token", "sm_pat_", alnum, 16, 16},
	{"settlemint-token", "sm_sat_", alnum, 16, 16},
	{"shippo-token", "shippo_live_", hex, 40, 40},
	{"shippo-token", "shippo_test_", hex, 40, 40},
	{"shopify-token", "shpat_", hex, 32, 32},
	{"shopify-token", "shpca_", hex, 32, 32},
	{"shopify-token", "shppa_", hex, 32, 32},
	{"shopify-token", "shpss_", hex, 32, 32},
	{"sourcegraph-token", "sgp_", word, 40, 57},
	{"square-token", "sq0atp-", urlsafe, 22, 60},
	{"vault-token", "hvs.", urlsafe, 24, noMax},
	{"vault-token", "hvb.", urlsafe, 138, noMax},
	{"cloudflare-key", "v1.0-", dashedHex, 171, 171},
	{"adobe-secret", "p8e-", alnum, 32, 32},
	{"age-key", "AGE-SECRET-KEY-1", upper, 58, 58},
}

// match is like candidates.match for a token of the format.
func (f *format) match(text string, ends bool) (length int, incomplete bool) {
	if len(text) < len(f.prefix) {
		return 0, !ends && strings.HasPrefix(f.prefix, text)
	}
	if !strings.HasPrefix(text, f.prefix) {
		return 0, false
	}
	body := text[len(f.prefix):]
	n := 0
	for n < len(body) && n <= f.max && f.chars[body[n]] {
		n++
	}
	switch {
	case n > f.max:
		return 0, false
	case n == len(body) && !ends:
		return 0, true
	case n < len(body) && inName(body[n]):
		return 0, false
	}
	// A period or dash after a token belongs to the sentence.
	n = len(strings.TrimRight(body[:n], ".-"))
	if n < f.min || f.isExample(body[:n]) {
		return 0, false
	}
	return len(f.prefix) + n, false
}

// isExample reports whether the characters after a prefix stand for a token in documentation: words,
// a row of x, or an example of AWS.
func (f *format) isExample(body string) bool {
	const digits, small, capital = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	mixed := strings.ContainsAny(body, small) && strings.ContainsAny(body, capital)
	words := !strings.ContainsAny(body, digits) && !mixed
	crossed := strings.Trim(body, "xX-_") == ""
	return crossed || words && f.chars != alnum && f.chars != upper ||
		f.chars == upper && strings.HasSuffix(body, "EXAMPLE")
}
