package redact_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
)

// run returns n characters of an alphabet: h for hexadecimal digits, l for lower case, u for upper
// case, m for mixed case, each with digits.
func run(alphabet byte, n int) string {
	from := map[byte]string{
		'h': hexes, 'l': strings.ToLower(letters), 'u': strings.ToUpper(letters), 'm': letters,
	}[alphabet]
	return strings.Repeat(from, n/len(from)+1)[:n]
}

// gitleaksRules are the rules of gitleaks 8 for tokens with a distinctive prefix, with a made-up
// token that each of them matches. Prefixes are in two parts, so that no scanner reports this file.
//
// Not covered, because something else could look the same, are its rules for tokens that are
// recognized by a suffix or by a name nearby (azure, facebook app, harness, hashicorp-tf, maxmind,
// nuget, kubernetes and curl), for JWTs, and for prefixes that are common in other text: airtable
// (pat), artifactory references (cmVmd), authress (sc_), clickhouse (4b1d), intra42, twilio (SK),
// and older vault tokens (s.).
var gitleaksRules = []struct{ rule, kind, token string }{
	{"1password-secret-key", "1password-key", "A" + "3-" + run('u', 6) + "-" + run('u', 11) + "-QX7P2-LM3NB-9TRWY"},
	{"1password-service-account-token", "1password-token", "op" + "s_eyJ" + run('m', 300)},
	{"adobe-client-secret", "adobe-secret", "p8" + "e-" + run('l', 32)},
	{"age-secret-key", "age-key", "AGE-SECRET" + "-KEY-1" + run('u', 58)},
	{"alibaba-access-key-id", "alibaba-key-id", "LT" + "AI" + run('m', 20)},
	{"anthropic-admin-api-key", "anthropic-key", "sk-" + "ant-admin01-" + run('m', 93) + "AA"},
	{"anthropic-api-key", "anthropic-key", "sk-" + "ant-api03-" + run('m', 93) + "AA"},
	{"artifactory-api-key", "artifactory-key", "AK" + "Cp" + run('m', 69)},
	{"aws-access-token", "aws-key-id", "AK" + "IA" + run('u', 16)},
	{"aws-access-token", "aws-key-id", "AB" + "IA" + run('u', 16)},
	{"aws-access-token", "aws-key-id", "AC" + "CA" + run('u', 16)},
	{"aws-access-token", "aws-key-id", "AS" + "IA" + run('u', 16)},
	{"aws-amazon-bedrock-api-key-long-lived", "aws-bedrock-key", "AB" + "SK" + run('m', 130) + "=="},
	{
		"aws-amazon-bedrock-api-key-short-lived", "aws-bedrock-key",
		"bedrock-" + "api-key-YmVkcm9jay5hbWF6b25hd3MuY29t" + run('m', 900),
	},
	{"clojars-api-token", "clojars-token", "CLO" + "JARS_" + run('l', 60)},
	{"cloudflare-origin-ca-key", "cloudflare-key", "v1" + ".0-" + run('h', 24) + "-" + run('h', 146)},
	{"databricks-api-token", "databricks-token", "da" + "pi" + run('h', 32)},
	{"digitalocean-access-token", "digitalocean-token", "doo" + "_v1_" + run('h', 64)},
	{"digitalocean-pat", "digitalocean-token", "dop" + "_v1_" + run('h', 64)},
	{"digitalocean-refresh-token", "digitalocean-token", "dor" + "_v1_" + run('h', 64)},
	{"doppler-api-token", "doppler-token", "dp" + ".pt." + run('m', 43)},
	{"duffel-api-token", "duffel-token", "duf" + "fel_live_" + run('m', 43)},
	{"dynatrace-api-token", "dynatrace-token", "dt0" + "c01." + run('u', 24) + "." + run('u', 64)},
	{"easypost-api-token", "easypost-key", "EZ" + "AK" + run('m', 54)},
	{"easypost-test-api-token", "easypost-key", "EZ" + "TK" + run('m', 54)},
	{"facebook-page-access-token", "facebook-token", "EA" + "AC" + run('m', 150)},
	{"flyio-access-token", "fly-token", "fo" + "1_" + run('m', 43)},
	{"flyio-access-token", "fly-token", "fm" + "2_" + run('m', 700)},
	{"frameio-api-token", "frameio-token", "fi" + "o-u-" + run('m', 64)},
	{"gcp-api-key", "google-key", "AI" + "za" + run('m', 35)},
	{"github-app-token", "github-token", "gh" + "s_" + run('m', 36)},
	{"github-fine-grained-pat", "github-token", "github" + "_pat_" + run('m', 82)},
	{"github-oauth", "github-token", "gh" + "o_" + run('m', 36)},
	{"github-pat", "github-token", "gh" + "p_" + run('m', 36)},
	{"github-refresh-token", "github-token", "gh" + "r_" + run('m', 36)},
	{"gitlab-cicd-job-token", "gitlab-token", "gl" + "cbt-64_" + run('m', 20)},
	{"gitlab-deploy-token", "gitlab-token", "gl" + "dt-" + run('m', 20)},
	{"gitlab-feature-flag-client-token", "gitlab-token", "gl" + "ffct-" + run('m', 20)},
	{"gitlab-feed-token", "gitlab-token", "gl" + "ft-" + run('m', 20)},
	{"gitlab-incoming-mail-token", "gitlab-token", "gl" + "imt-" + run('m', 25)},
	{"gitlab-kubernetes-agent-token", "gitlab-token", "gl" + "agent-" + run('m', 50)},
	{"gitlab-oauth-app-secret", "gitlab-token", "gl" + "oas-" + run('m', 64)},
	{"gitlab-pat", "gitlab-token", "gl" + "pat-" + run('m', 20)},
	{"gitlab-pat-routable", "gitlab-token", "gl" + "pat-" + run('m', 27) + ".0" + run('l', 8)},
	{"gitlab-ptt", "gitlab-token", "gl" + "ptt-" + run('h', 40)},
	{"gitlab-runner-authentication-token", "gitlab-token", "gl" + "rt-" + run('m', 20)},
	{
		"gitlab-runner-authentication-token-routable", "gitlab-token",
		"gl" + "rt-t1_" + run('m', 27) + ".0" + run('l', 8),
	},
	{"gitlab-scim-token", "gitlab-token", "gl" + "soat-" + run('m', 20)},
	{"grafana-api-key", "grafana-token", "ey" + "JrIjoi" + run('m', 90)},
	{"grafana-cloud-api-token", "grafana-token", "gl" + "c_" + run('m', 120)},
	{"grafana-service-account-token", "grafana-token", "gl" + "sa_" + run('m', 32) + "_" + run('h', 8)},
	{"heroku-api-key-v2", "heroku-key", "HR" + "KU-AA" + run('m', 58)},
	{"huggingface-access-token", "huggingface-token", "h" + "f_" + run('m', 34)},
	{"huggingface-organization-api-token", "huggingface-token", "api" + "_org_" + run('m', 34)},
	{"infracost-api-token", "infracost-token", "ic" + "o-" + run('m', 32)},
	{"linear-api-key", "linear-key", "lin" + "_api_" + run('m', 40)},
	{"notion-api-token", "notion-token", "nt" + "n_" + "12345678901" + run('m', 35)},
	{"npm-access-token", "npm-token", "np" + "m_" + run('m', 36)},
	{"octopus-deploy-api-key", "octopus-key", "AP" + "I-" + run('u', 26)},
	{"openai-api-key", "openai-key", "sk-" + "proj-" + run('m', 74) + "T3BlbkFJ" + run('m', 74)},
	{"openai-api-key", "api-key", "sk" + "-" + run('m', 20) + "T3BlbkFJ" + run('m', 20)},
	{"openshift-user-token", "openshift-token", "sha" + "256~" + run('m', 43)},
	{"perplexity-api-key", "perplexity-key", "pp" + "lx-" + run('m', 48)},
	{"planetscale-api-token", "planetscale-token", "pscale" + "_tkn_" + run('m', 43)},
	{"planetscale-oauth-token", "planetscale-token", "pscale" + "_oauth_" + run('m', 43)},
	{"planetscale-password", "planetscale-token", "pscale" + "_pw_" + run('m', 43)},
	{"postman-api-token", "postman-key", "PM" + "AK-" + run('h', 24) + "-" + run('h', 34)},
	{"prefect-api-token", "prefect-token", "pn" + "u_" + run('m', 36)},
	{"private-key", "private-key", pem("PRIVATE KEY", 4)},
	{"pulumi-api-token", "pulumi-token", "pu" + "l-" + run('h', 40)},
	{"pypi-upload-token", "pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + run('m', 120)},
	{"readme-api-token", "readme-token", "rd" + "me_" + run('l', 70)},
	{"rubygems-api-token", "rubygems-token", "ruby" + "gems_" + run('h', 48)},
	{"scalingo-api-token", "scalingo-token", "tk" + "-us-" + run('m', 48)},
	{"sendgrid-api-token", "sendgrid-key", "S" + "G." + run('m', 22) + "." + run('m', 43)},
	{"sendinblue-api-token", "brevo-key", "xkey" + "sib-" + run('h', 64) + "-" + run('l', 16)},
	{
		"sentry-org-token", "sentry-token",
		"sntr" + "ys_eyJpYXQiO" + run('m', 60) + "LCJyZWdpb25fdXJs" + run('m', 40) + "==_" + run('m', 43),
	},
	{"sentry-user-token", "sentry-token", "sntr" + "yu_" + run('h', 64)},
	{"settlemint-application-access-token", "settlemint-token", "sm" + "_aat_" + run('m', 16)},
	{"settlemint-personal-access-token", "settlemint-token", "sm" + "_pat_" + run('m', 16)},
	{"settlemint-service-access-token", "settlemint-token", "sm" + "_sat_" + run('m', 16)},
	{"shippo-api-token", "shippo-token", "ship" + "po_live_" + run('h', 40)},
	{"shopify-access-token", "shopify-token", "sh" + "pat_" + run('h', 32)},
	{"shopify-custom-access-token", "shopify-token", "sh" + "pca_" + run('h', 32)},
	{"shopify-private-app-access-token", "shopify-token", "sh" + "ppa_" + run('h', 32)},
	{"shopify-shared-secret", "shopify-token", "sh" + "pss_" + run('h', 32)},
	{"slack-app-token", "slack-token", "xa" + "pp-1-" + run('u', 11) + "-1234567890123-" + run('l', 64)},
	{"slack-bot-token", "slack-token", "xo" + "xb-1234567890123-1234567890123-" + run('m', 24)},
	{"slack-config-refresh-token", "slack-token", "xo" + "xe-1-" + run('u', 146)},
	{"slack-legacy-workspace-token", "slack-token", "xo" + "xa-2-" + run('m', 40)},
	{"slack-user-token", "slack-token", "xo" + "xp-1234567890123-1234567890123-1234567890123-" + run('h', 32)},
	{
		"slack-webhook-url", "slack-webhook",
		"hooks.slack" + ".com/services/T" + run('u', 10) + "/B" + run('u', 10) + "/" + run('m', 24),
	},
	{
		"slack-webhook-url", "slack-webhook",
		"hooks.slack" + ".com/workflows/T" + run('u', 10) + "/A" + run('u', 10) + "/" + run('m', 24),
	},
	{"sourcegraph-access-token", "sourcegraph-token", "sg" + "p_" + run('h', 16) + "_" + run('h', 40)},
	{"sourcegraph-access-token", "sourcegraph-token", "sg" + "p_" + run('h', 40)},
	{"square-access-token", "square-token", "sq0" + "atp-" + run('m', 22)},
	{"stripe-access-token", "stripe-key", "sk" + "_live_" + run('m', 99)},
	{"stripe-access-token", "stripe-key", "rk" + "_prod_" + run('m', 24)},
	{"vault-batch-token", "vault-token", "hv" + "b." + run('m', 160)},
	{"vault-service-token", "vault-token", "hv" + "s." + run('m', 95)},
}

func TestGitleaksRulesAreCovered(t *testing.T) {
	for _, test := range gitleaksRules {
		r := redact.New(nil)
		want := `token = "[REDACTED:` + test.kind + `]"`
		if got := r.Text(`token = "` + test.token + `"`); got != want {
			t.Errorf("%s: %s became %s", test.rule, test.token, got)
		}
		// Part of a longer name.
		for _, text := range []string{"x" + test.token, "_" + test.token} {
			if got := r.Text(text); got != text && test.kind != "private-key" {
				t.Errorf("%s: %s became %s", test.rule, text, got)
			}
		}
	}
}

// tokenLengths are the shortest and the longest run of characters after each prefix that is a token.
var tokenLengths = []struct {
	kind, prefix      string
	alphabet          byte
	shortest, longest int
}{
	{"anthropic-key", "sk-ant-", 'm', 20, 512},
	{"openrouter-key", "sk-or-v1-", 'h', 64, 64},
	{"openai-key", "sk-proj-", 'm', 20, 512},
	{"openai-key", "sk-svcacct-", 'm', 20, 512},
	{"openai-key", "sk-admin-", 'm', 20, 512},
	{"api-key", "sk-", 'm', 32, 64},
	{"google-key", "AIza", 'm', 35, 35},
	{"google-secret", "GOCSPX-", 'm', 28, 28},
	{"google-token", "ya29.", 'm', 40, 512},
	{"groq-key", "gsk_", 'm', 48, 64},
	{"xai-key", "xai-", 'm', 70, 100},
	{"perplexity-key", "pplx-", 'm', 40, 64},
	{"replicate-token", "r8_", 'm', 37, 37},
	{"huggingface-token", "hf_", 'm', 34, 40},
	{"huggingface-token", "api_org_", 'm', 34, 40},
	{"nvidia-key", "nvapi-", 'm', 60, 80},
	{"github-token", "github_pat_", 'm', 60, 512},
	{"github-token", "ghp_", 'm', 36, 512},
	{"github-token", "gho_", 'm', 36, 512},
	{"github-token", "ghu_", 'm', 36, 512},
	{"github-token", "ghs_", 'm', 36, 512},
	{"github-token", "ghr_", 'm', 36, 512},
	{"gitlab-token", "glpat-", 'm', 20, 512},
	{"gitlab-token", "glptt-", 'h', 40, 40},
	{"gitlab-token", "gldt-", 'm', 20, 512},
	{"gitlab-token", "glrt-", 'm', 20, 512},
	{"gitlab-token", "glcbt-", 'm', 22, 512},
	{"gitlab-token", "glagent-", 'm', 50, 512},
	{"gitlab-token", "gloas-", 'm', 64, 512},
	{"gitlab-token", "glft-", 'm', 20, 512},
	{"gitlab-token", "glffct-", 'm', 20, 512},
	{"gitlab-token", "glimt-", 'm', 25, 512},
	{"gitlab-token", "glsoat-", 'm', 20, 512},
	{"aws-key-id", "AKIA", 'u', 16, 16},
	{"aws-key-id", "ASIA", 'u', 16, 16},
	{"aws-key-id", "ABIA", 'u', 16, 16},
	{"aws-key-id", "ACCA", 'u', 16, 16},
	{"aws-bedrock-key", "ABSK", 'm', 109, 271},
	{"aws-bedrock-key", "bedrock-api-key-", 'm', 40, 4096},
	{"alibaba-key-id", "LTAI", 'm', 20, 20},
	{"slack-token", "xoxa-", 'm', 20, 512},
	{"slack-token", "xoxb-", 'm', 20, 512},
	{"slack-token", "xoxe-", 'm', 20, 512},
	{"slack-token", "xoxp-", 'm', 20, 512},
	{"slack-token", "xoxr-", 'm', 20, 512},
	{"slack-token", "xoxs-", 'm', 20, 512},
	{"slack-token", "xapp-", 'm', 20, 512},
	{"slack-webhook", "hooks.slack.com/services/T", 'm', 40, 100},
	{"slack-webhook", "hooks.slack.com/workflows/T", 'm', 40, 100},
	{"slack-webhook", "hooks.slack.com/triggers/T", 'm', 40, 100},
	{"stripe-key", "sk_live_", 'm', 20, 512},
	{"stripe-key", "sk_test_", 'm', 20, 512},
	{"stripe-key", "sk_prod_", 'm', 20, 512},
	{"stripe-key", "rk_live_", 'm', 20, 512},
	{"stripe-key", "rk_test_", 'm', 20, 512},
	{"stripe-key", "rk_prod_", 'm', 20, 512},
	{"npm-token", "npm_", 'm', 36, 36},
	{"pypi-token", "pypi-AgEIcHlwaS5vcmc", 'm', 50, 512},
	{"rubygems-token", "rubygems_", 'h', 48, 48},
	{"clojars-token", "CLOJARS_", 'l', 60, 60},
	{"docker-token", "dckr_pat_", 'm', 27, 40},
	{"artifactory-key", "AKCp", 'm', 69, 69},
	{"sendgrid-key", "SG.", 'm', 66, 512},
	{"brevo-key", "xkeysib-", 'l', 81, 81},
	{"digitalocean-token", "dop_v1_", 'h', 64, 64},
	{"digitalocean-token", "doo_v1_", 'h', 64, 64},
	{"digitalocean-token", "dor_v1_", 'h', 64, 64},
	{"databricks-token", "dapi", 'h', 32, 32},
	{"doppler-token", "dp.pt.", 'm', 43, 43},
	{"dynatrace-token", "dt0c01.", 'm', 89, 89},
	{"duffel-token", "duffel_live_", 'm', 43, 43},
	{"duffel-token", "duffel_test_", 'm', 43, 43},
	{"easypost-key", "EZAK", 'm', 54, 54},
	{"easypost-key", "EZTK", 'm', 54, 54},
	{"facebook-token", "EAAM", 'm', 100, 512},
	{"facebook-token", "EAAC", 'm', 100, 512},
	{"fly-token", "fo1_", 'm', 43, 43},
	{"fly-token", "fm1a_", 'm', 100, 4096},
	{"fly-token", "fm1r_", 'm', 100, 4096},
	{"fly-token", "fm2_", 'm', 100, 4096},
	{"frameio-token", "fio-u-", 'm', 64, 64},
	{"grafana-token", "glsa_", 'm', 41, 41},
	{"grafana-token", "glc_", 'm', 32, 512},
	{"grafana-token", "eyJrIjoi", 'm', 70, 512},
	{"heroku-key", "HRKU-AA", 'm', 58, 58},
	{"infracost-token", "ico-", 'm', 32, 32},
	{"linear-key", "lin_api_", 'm', 40, 40},
	{"notion-token", "ntn_", 'm', 46, 46},
	{"octopus-key", "API-", 'u', 26, 26},
	{"1password-key", "A3-", 'u', 36, 37},
	{"1password-token", "ops_eyJ", 'm', 250, 4096},
	{"openshift-token", "sha256~", 'm', 43, 43},
	{"planetscale-token", "pscale_tkn_", 'm', 32, 64},
	{"planetscale-token", "pscale_oauth_", 'm', 32, 64},
	{"planetscale-token", "pscale_pw_", 'm', 32, 64},
	{"postman-key", "PMAK-", 'h', 59, 59},
	{"prefect-token", "pnu_", 'm', 36, 36},
	{"pulumi-token", "pul-", 'h', 40, 40},
	{"readme-token", "rdme_", 'l', 70, 70},
	{"scalingo-token", "tk-us-", 'm', 48, 48},
	{"sentry-token", "sntryu_", 'h', 64, 64},
	{"sentry-token", "sntrys_eyJ", 'm', 80, 512},
	{"settlemint-token", "sm_aat_", 'm', 16, 16},
	{"settlemint-token", "sm_pat_", 'm', 16, 16},
	{"settlemint-token", "sm_sat_", 'm', 16, 16},
	{"shippo-token", "shippo_live_", 'h', 40, 40},
	{"shippo-token", "shippo_test_", 'h', 40, 40},
	{"shopify-token", "shpat_", 'h', 32, 32},
	{"shopify-token", "shpca_", 'h', 32, 32},
	{"shopify-token", "shppa_", 'h', 32, 32},
	{"shopify-token", "shpss_", 'h', 32, 32},
	{"sourcegraph-token", "sgp_", 'm', 40, 57},
	{"square-token", "sq0atp-", 'm', 22, 60},
	{"vault-token", "hvs.", 'm', 24, 512},
	{"vault-token", "hvb.", 'm', 138, 512},
	{"cloudflare-key", "v1.0-", 'h', 171, 171},
	{"adobe-secret", "p8e-", 'm', 32, 32},
	{"age-key", "AGE-SECRET-KEY-1", 'u', 58, 58},
}

func TestLengthsOfTokens(t *testing.T) {
	for _, test := range tokenLengths {
		for n, token := range map[int]bool{
			test.shortest - 1: false, test.shortest: true, test.longest: true, test.longest + 1: false,
		} {
			text := test.prefix + run(test.alphabet, n)
			want := text
			if token {
				want = "[REDACTED:" + test.kind + "]"
			}
			if got := redact.New(nil).Text(text); got != want {
				t.Errorf("%s with %d characters became %s", test.prefix, n, got)
			}
		}
	}
}

func TestPrefixesInOtherTextAreKept(t *testing.T) {
	for _, text := range []string{
		"ops_eyJ is how it begins", "the fm2_ prefix", "API-FIRST", "A3-PAPER-SIZE", "sha256~", "sha256:" + hexes,
		"v1.0-rc.1", "AI" + "za" + run('m', 35) + "-x", "v1.0-" + run('h', 40), "pul-" + run('h', 39), "pul-" + run('h', 41), "shpat_" + run('m', 32),
		"shippo_test_data", "sm_pat_settings", "tk-us-east-1", "glc_" + run('m', 20), "gldt-label", "HRKU-AAA",
		"api_org_members_list", "duffel_live_mode", "rubygems_version", "pscale_pw_prompt", "eyJrIjoiMSJ9",
		"bedrock-api-key-name", "EAAC", "LTAI", "ntn_", "infracost-", "PMAK-" + run('h', 24),
	} {
		r := redact.New(nil)
		if got := r.Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
