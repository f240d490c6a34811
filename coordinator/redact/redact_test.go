package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
)

// The tokens in these tests are made up. They are joined from parts, so that no secret scanner reports
// this file.
const (
	letters = "Zq3Tf8Lw0Bn5Xc7Vd2Mk9Rj4Hs6Gp1YaUeWoEiNtAlSrDhCmOuPyFbIv"
	hexes   = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
	digits  = "0123456789"
)

func key(prefix string, n int) string { return prefix + (letters + letters + letters)[:n] }

// keys are tokens and private keys.
var keys = []struct{ kind, key string }{
	{"anthropic-key", key("sk-"+"ant-api03-", 93) + "-_AA"},
	{"openrouter-key", "sk-" + "or-v1-" + hexes},
	{"openai-key", key("sk-"+"proj-", 100)},
	{"openai-key", key("sk-"+"svcacct-", 100)},
	{"api-key", key("sk"+"-", 48)},
	{"api-key", "sk" + "-" + hexes[:32]},
	{"google-key", key("AI"+"za", 35)},
	{"google-secret", key("GOC"+"SPX-", 28)},
	{"google-token", key("ya"+"29.", 120)},
	{"groq-key", key("gs"+"k_", 52)},
	{"xai-key", key("xa"+"i-", 80)},
	{"huggingface-token", key("h"+"f_", 34)},
	{"github-token", key("gh"+"p_", 36)},
	{"github-token", key("gh"+"s_", 36)},
	{"github-token", "github" + "_pat_" + letters[:22] + "_" + key("", 59)},
	{"gitlab-token", key("gl"+"pat-", 20)},
	{"aws-key-id", "AK" + "IA" + "Q3EGZ7NLKJ5TBXWA"},
	{"slack-token", "xo" + "xb-" + digits + "12-" + digits + "123-" + letters[:24]},
	{"slack-webhook", "hooks.slack" + ".com/services/T" + "0123ABCD/B0123ABCD/" + letters[:24]},
	{"stripe-key", key("sk_"+"live_", 24)},
	{"npm-token", key("np"+"m_", 36)},
	{"pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + key("", 100)},
	{"sendgrid-key", "S" + "G." + letters[:22] + "." + key("", 43)},
	{"digitalocean-token", "do" + "p_v1_" + hexes},
	{"vault-token", key("hv"+"s.", 91)},
	{"private-key", pem("RSA PRIVATE KEY", 12)},
	{"private-key", pem("OPENSSH PRIVATE KEY", 1)},
	{
		"private-key",
		"-----BEGIN " + "EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n" +
			strings.TrimPrefix(pem("EC PRIVATE KEY", 3), "-----BEGIN "+"EC PRIVATE KEY-----\n"),
	},
	{
		"private-key",
		"-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + letters + "\n" + letters[:30] +
			"\n=aB3d\n-----END " + "PGP PRIVATE KEY BLOCK-----",
	},
	{"private-key", "-----BEGIN " + "PRIVATE KEY-----\n" + letters[:24] + "\n-----END " + "PRIVATE KEY-----"},
	// Tokens without a digit.
	{"anthropic-key", "sk-" + "ant-" + letters[30:]},
	{"npm-token", "np" + "m_" + "qwertyuiopasdfghjklzxcvbnmqwertyuiop"},
	{"aws-key-id", "AK" + "IA" + "QWERTZUIOPASDFGH"},
}

// pem returns a private key with that many long lines and a short one.
func pem(label string, lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + label + "-----\n")
	for range lines {
		b.WriteString(letters + "+/" + letters[:4] + "\n")
	}
	return b.String() + letters[:20] + "==\n-----END " + label + "-----"
}

func TestTokensAreReplaced(t *testing.T) {
	for _, tt := range keys {
		for _, around := range []string{
			"%", "key: %", "use % please", "a\n%\nb", `"%"`, "(%)", "KEY=%", "KEY='%';", "это %", "%.",
			"https://x/?key=%&a=b", "\x1b[1;31m%\x1b[0m", "\x1b[m%", `line\n%\n`, `\n%`, "\xff%\xff",
		} {
			before, after, _ := strings.Cut(around, "%")
			r := redact.New(nil)
			want := before + "[REDACTED:" + tt.kind + "]" + after
			if got := r.Text(before + tt.key + after); got != want {
				t.Errorf("in %q got\n%q, want\n%q", around, got, want)
			}
			if got := r.Text(want); got != want {
				t.Errorf("redacted text changes again: %q", got)
			}
			if found := r.Found(); len(found) != 1 || found[0] != tt.kind {
				t.Errorf("%q: found %q", around, found)
			}
		}
	}
}

func TestTextWithoutSecretsIsUnchanged(t *testing.T) {
	for _, text := range []string{
		"if strings.HasPrefix(s, \"-----BEGIN " + "PRIVATE KEY-----\") {\n" +
			"\treturn parsePrivateKeyInAnyOfItsManyFormats(s, 0123456789012345678901234567890123456789)\n}",
		"pem := \"-----BEGIN " + "PRIVATE KEY-----\\n\" + base64EncodedPrivateKeyOfTheServer + \"\\n-----END " +
			"PRIVATE KEY-----\\n\"",
		"-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----",
		"-----BEGIN " + "PRIVATE KEY-----\nYOUR_KEY\n-----END " + "PRIVATE KEY-----",
		"The key is between `-----BEGIN " + "PRIVATE KEY-----` and `-----END " +
			"PRIVATE KEY-----`, see commit " + hexes[:40] + ".",
		"-----BEGIN %s " + "PRIVATE KEY-----\n" + letters + "\n",
		"-----BEGIN CERTIFICATE-----\n" + letters + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + letters + "\n-----END PUBLIC KEY-----",
		"sk-ant-your-api-key-goes-here", "sk-ant-" + "YOUR-API-KEY-GOES-HERE",
		"sk-proj-" + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"ghp_" + strings.Repeat("x", 36), "AKIA" + "IOSFODNN7EXAMPLE", "sk-learn",
		"task-" + letters[:40], "my_sk-" + letters[:40], "risk_live_" + letters[:30],
		"hf_hub_download", "hf_model_for_sequence_classification_base", "npm_config_registry",
		"npm_" + letters[:36] + "_x", "xai-" + letters[:20],
		"func SG.Sum()", "AIzaBackend", key("AI"+"za", 34), key("AI"+"za", 36), hexes, "01JDQ3W7ZK8M5N6P7Q8R9S0T1A",
		"b3b5f6e0-8a0c-4d5e-9f3a-1c2d3e4f5a6b",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
		"export ANTHROPIC_API_KEY=$ANTHROPIC_API_KEY", `token := os.Getenv("GITHUB_TOKEN")`, "[NEXT: critic]", "",
	} {
		r := redact.New(nil)
		if got := r.Text(text); got != text || len(r.Found()) > 0 {
			t.Errorf("%q became\n%q", text, got)
		}
	}
}

func TestPrivateKeysInOtherFormats(t *testing.T) {
	complete := pem("PRIVATE KEY", 3)
	lines := strings.Split(complete, "\n")
	for name, text := range map[string]string{
		"in a JSON string":    `{"private_key": "` + strings.ReplaceAll(complete, "\n", `\n`) + `\n"}`,
		"in JSON in JSON":     strings.ReplaceAll(complete, "\n", `\\n`),
		"with Windows' lines": strings.ReplaceAll(complete, "\n", "\r\n"),
		"indented":            "    " + strings.Join(lines, "\n    "),
		"numbered":            "     1→" + strings.Join(lines, "\n     2→"),
		"as a diff":           "+" + strings.Join(lines, "\n+"),
		"quoted":              "> " + strings.Join(lines, "\n> "),
		"as code":             `"` + strings.Join(lines, "\\n\" +\n\t\"") + `"`,
		"without its end":     strings.Join(lines[:3], "\n"),
	} {
		got := redact.New(nil).Text(text)
		if strings.Contains(got, letters[:20]) || !strings.Contains(got, "[REDACTED:private-key]") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestLimitsOfPrivateKeys(t *testing.T) {
	const begin, end = "-----BEGIN " + "PRIVATE KEY-----\n", "-----END " + "PRIVATE KEY-----"
	long, short := run('m', 40)+"\n", "aB3d\n"
	header := func(n int) string { return "Comment: " + strings.Repeat("-", n-len("Comment: ")) + "\n" }
	label := func(n int) string {
		return "-----BEGIN " + strings.Repeat("A", n-len(" PRIVATE KEY")) + " PRIVATE KEY-----\n"
	}
	for name, tt := range map[string]struct{ text, want string }{
		"shortest key":             {begin + run('m', 16) + "\n" + end, "*"},
		"too short":                {begin + run('m', 15) + "\n" + end, begin + run('m', 15) + "\n" + end},
		"end in no line":           {begin + run('m', 16) + "\n" + end + "\n" + begin, "*\n" + begin},
		"shortest long line":       {begin + long + "x", "*\nx"},
		"no long line":             {begin + long[1:] + "x", begin + long[1:] + "x"},
		"most padding":             {begin + strings.Repeat(" ", 24) + long, "*\n"},
		"too much padding":         {begin + strings.Repeat(" ", 25) + long, begin + strings.Repeat(" ", 25) + long},
		"padding of a last line":   {begin + long + strings.Repeat(" ", 20) + short + end, "*"},
		"longest label":            {label(59) + long + end, "*"},
		"label too long":           {label(60) + long + end, label(60) + long + end},
		"longest header line":      {begin + header(88) + long + end, "*"},
		"header line too long":     {begin + header(89) + long + end, begin + header(89) + long + end},
		"longest headers":          {begin + header(80) + header(80) + header(40) + long + end, "*"},
		"headers too long":         {begin + header(80) + header(80) + header(41) + long, begin + header(80) + header(80) + header(41) + long},
		"two short lines":          {begin + long + short + short + end, "*"},
		"three short lines":        {begin + long + short + short + short + end, "*\n" + short + short + short + end},
		"lines of quotes":          {begin + long + "abc\n\"\"\n\n" + short + short + end, "*"},
		"short lines between long": {begin + long + short + short + long + short + short + long + end, "*"},
		"end in the last line":     {begin + run('m', 40) + end + " x", "* x"},
		"end with another label":   {begin + long + "-----END " + "X-----", "*\n-----END " + "X-----"},
		"header and short key":     {begin + header(20) + run('m', 20) + "\n" + end, begin + header(20) + run('m', 20) + "\n" + end},
	} {
		if got, want := redact.New(nil).Text(tt.text), strings.Replace(tt.want, "*", "[REDACTED:private-key]", 1); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestStartOfPrivateKeyLongerThanLimitIsReplaced(t *testing.T) {
	long := pem("PRIVATE KEY", 1000) // of 62 KB, of which the first 32 are recognized as one key
	got := redact.New(nil).Text("a\n" + long)
	if !strings.HasPrefix(got, "a\n[REDACTED:private-key]") || len(got) > len(long)*3/5 {
		t.Errorf("%d of %d bytes are left: %.100q", len(got), len(long), got)
	}
	var pieces strings.Builder
	s := redact.New(nil).Stream()
	for piece := range slices.Chunk([]byte("a\n"+long), 1000) {
		pieces.WriteString(s.Next(string(piece)))
	}
	if pieces.WriteString(s.Rest()); pieces.String() != got {
		t.Errorf("the stream returns %d bytes, not %d", pieces.Len(), len(got))
	}
}

func TestEncodedValuesAreReplaced(t *testing.T) {
	const secret = `p/s "w+rd=` + "\n" + `ünd`
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New([]redact.Variable{{Name: "DB_PASSWORD", Value: secret}})
	for name, written := range map[string]string{
		"unchanged": secret,
		"in JSON":   string(quoted[1 : len(quoted)-1]),
		"in ASCII":  strings.ReplaceAll(string(quoted[1:len(quoted)-1]), "ü", `\u00fc`),
		"in URL":    url.QueryEscape(secret),
		"in path":   url.PathEscape(secret),
		"in lower-case escapes": strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d", "%0A", "%0a", "%C3%BC",
			"%c3%bc").Replace(url.QueryEscape(secret)),
		"with %20":  strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		"in base64": base64.StdEncoding.EncodeToString([]byte(secret)),
		"in word":   "x" + secret + "x",
	} {
		got := r.Text("it is " + written + " there")
		if want := "[REDACTED:DB_PASSWORD]"; !strings.Contains(got, want) || strings.Contains(got, "w+rd") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestValueWithinBase64IsReplaced(t *testing.T) {
	const secret = "correct horse staple"
	r := redact.New([]redact.Variable{{Name: "DB_PASSWORD", Value: secret}})
	for before, want := range map[string]string{
		"": "[REDACTED:DB_PASSWORD]", "u": "dW[REDACTED:DB_PASSWORD]",
		"us": "dXN[REDACTED:DB_PASSWORD]", "use": "dXNl[REDACTED:DB_PASSWORD]",
	} {
		got := r.Text(base64.StdEncoding.EncodeToString([]byte(before + secret + "more")))
		if !strings.HasPrefix(got, want) {
			t.Errorf("after %q: %q, want %q", before, got, want)
		}
	}
}

func TestShortValueIsKeptInBase64(t *testing.T) {
	for value, found := range map[string]bool{"t3stt3s": false, "t3stt3st": true} {
		written := base64.RawStdEncoding.EncodeToString([]byte(value))
		got := redact.New([]redact.Variable{{Name: "PASSWORD", Value: value}}).Text(written)
		if (got != written) != found {
			t.Errorf("%s: %s became %s", value, written, got)
		}
	}
}

func TestSecretVariables(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		secret      bool
	}{
		{"ANTHROPIC_API_KEY", "a-key-1", true},
		{"apiKey", "a-key-1", true},
		{"GITHUB_TOKEN", "a-token-1", true},
		{"client_secret", "0815secret", true},
		{"PGPASSWORD", "abc4", true},
		{"MY_API_KEY_2", "a-key-1", true},
		{"SECRET_KEY_BASE", "a-key-1", true},
		{"secretKeyBase", "a-key-1", true},
		{"KEYRING_PASSWORD", "a-key-1", true},
		{"tokenAccess", "a-key-1", true},
		{"tokenZone", "a-key-1", true},
		{"aMonkey", "a-key-1", false},
		{"zMonkey", "a-key-1", false},
		{"KEYBOARD", "a-key-1", false},
		{"KEYRING_BACKEND", "a-key-1", false},
		{"TOKENIZER", "a-token-1", false},
		{"MONKEYS", "a-key-1", false},
		{"tokenizer_config", "a-token-1", false},
		{"PIN_PASSWORD", "12345678", true},
		{"HOME", "/home/anna", false},
		{"MAX_TOKENS", "unlimited", false},
		{"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "unlimited", false},
		{"TOKENS", "200000", false},
		{"TOKENIZERS_PARALLELISM", "false", false},
		{"KEY_FILE", "/home/anna/key", false},
		{"SSH_KEY_PATH", "/home/anna/key", false},
		{"KEYCLOAK_URL", "https://login.example.org/realms", false},
		{"TOKEN_URL", "https://anna:word@example.org/", true},
		{"API_KEY", "x", false},
		{"PIN_PASSWORD", "1234567", false},
		{"API_KEY", "a-1", false},
		{"API_KEY", "a-12", true},
		{"API_KEY", "NULL", false},
		{"API_KEY", "none", false},
		{"API_KEY", "https://host/?key=a-1", true},
		{"API_KEY", "https://host/#a-1", true},
		{"KEY_DIR", "/home/anna/1", false},
		{"DB_PASSWD", "a-key-1", true},
		{"MAXTOKEN", "a-key-1", true},
		{"WHISKEY", "a-key-1", false},
		{"DONKEY_TURKEY_JOCKEY_HOCKEY_HOTKEYS", "a-key-1", false},
		{"API_KEY", "", false},
		{"API_KEY", "   ", false},
	} {
		r := redact.New([]redact.Variable{{Name: tt.name, Value: tt.value}})
		text := "it is " + tt.value + "."
		if got := r.Text(text); (got != text) != tt.secret {
			t.Errorf("%s=%s: %q", tt.name, tt.value, got)
		}
	}
}

func TestShortValuesAreReplacedAsWords(t *testing.T) {
	r := redact.New([]redact.Variable{{Name: "PASSWORD", Value: "t3st"}})
	const want = "[REDACTED:PASSWORD], t3sting, cont3st, ([REDACTED:PASSWORD]) t3st_1 T3ST [REDACTED:PASSWORD]"
	if got := r.Text("t3st, t3sting, cont3st, (t3st) t3st_1 T3ST t3st"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A value of 8 bytes is replaced within words, and so is one of 16 letters. Fewer letters may be an ordinary word.
func TestLongValuesAreReplacedWithinWords(t *testing.T) {
	const mark = "[REDACTED:PASSWORD]"
	for value, want := range map[string]string{
		"t3stt3s":          "xt3stt3sx " + mark,
		"t3stt3st":         "x" + mark + "x " + mark,
		"abcdefghijklmno":  "xabcdefghijklmnox abcdefghijklmno",
		"abcdefghijklmnop": "x" + mark + "x " + mark,
	} {
		r := redact.New([]redact.Variable{{Name: "PASSWORD", Value: value}})
		if got := r.Text("x" + value + "x " + value); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

// ordinary are variables whose values are also ordinary words.
var ordinary = []redact.Variable{
	{Name: "POSTGRES_PASSWORD", Value: "postgres"}, {Name: "MYSQL_ROOT_PASSWORD", Value: "password"},
	{Name: "KEYRING_BACKEND", Value: "file-based"}, {Name: "APP_SECRET", Value: "change-me"},
	{Name: "OLLAMA_KEY", Value: "ollama", Certain: true},
}

func TestOrdinaryWordsAreKept(t *testing.T) {
	for _, text := range []string{
		"The password of postgres is in the file-based store; run ollama.", "password: see the manual",
		"psql -U postgres -h localhost postgres", "postgres://localhost:5432/postgres", "https://postgres:5432@",
		"host=postgres user=postgres", `{"image":"postgres","password":null,"user":"postgres"}`,
		"image: postgres:16", "PASSWORD=postgresql", "Error: password authentication failed", "change-me, please",
		"the password postgres", "psql --user postgres", `psql --password"postgres"`, "postgres\x1b[0m@host",
		"POSTGRES_PASSWORD is a password",
	} {
		r := redact.New(ordinary)
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if got := string(r.JSON([]byte(text))); got != text {
			t.Errorf("as JSON, %q became %q", text, got)
		}
	}
}

func TestOrdinaryWordsAreReplacedWhenAssigned(t *testing.T) {
	const mark = "[REDACTED:POSTGRES_PASSWORD]"
	for text, want := range map[string]string{
		"POSTGRES_PASSWORD=postgres":                  "POSTGRES_PASSWORD=" + mark,
		"export PGPASSWORD='postgres'; psql postgres": "export PGPASSWORD='" + mark + "'; psql postgres",
		"password: \"postgres\"\nuser: postgres":      "password: \"" + mark + "\"\nuser: postgres",
		"db.password = postgres":                      "db.password = " + mark,
		`os.environ["DB_PASSWORD"] = "postgres"`:      `os.environ["DB_PASSWORD"] = "` + mark + `"`,
		`dbPassword := "postgres"`:                    `dbPassword := "` + mark + `"`,
		`'password' => 'postgres'`:                    `'password' => '` + mark + `'`,
		"psql --password postgres":                    "psql --password " + mark,
		"psql --password=postgres":                    "psql --password=" + mark,
		"postgres://postgres:postgres@host/postgres":  "postgres://postgres:" + mark + "@host/postgres",
		"PASSWORD=\x1b[31mpostgres\x1b[0m":            "PASSWORD=\x1b[31m" + mark + "\x1b[0m",
		"://u:postgres@host":                          "://u:" + mark + "@host",
		"http://u:\x1b[31mpostgres\x1b[0m@host":       "http://u:\x1b[31m" + mark + "\x1b[0m@host",
		"OPENAI_API_KEY=ollama ollama":                "OPENAI_API_KEY=[REDACTED:OLLAMA_KEY] ollama",
	} {
		if got := redact.New(ordinary).Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for document, want := range map[string]string{
		`{"env":{"DB_PASSWORD" : "postgres","user":"postgres","a":["postgres"]},"x":["PASSWORD","postgres"]}`: `{"env":` +
			`{"DB_PASSWORD" : "` + mark + `","user":"postgres","a":["postgres"]},"x":["PASSWORD","postgres"]}`,
		`{"PASSWORD":["postgres"]}`:            `{"PASSWORD":["postgres"]}`,
		`{"PASSWORD":{"postgres":1}}`:          `{"PASSWORD":{"postgres":1}}`,
		`{"PASSWORD":null,"postgres":1}`:       `{"PASSWORD":null,"postgres":1}`,
		`{"PASSWORD":"x","postgres":1}`:        `{"PASSWORD":"x","postgres":1}`,
		`{"PASSWORD":1,"postgres":"postgres"}`: `{"PASSWORD":1,"postgres":"postgres"}`,
		`{"PASS\u0057ORD":"postgres"}`:         `{"PASS\u0057ORD":"` + mark + `"}`,
		`{"":"postgres"}`:                      `{"":"postgres"}`,
	} {
		if got := string(redact.New(ordinary).JSON([]byte(document))); got != want {
			t.Errorf("%s became %s", document, got)
		}
	}
}

func TestBase64IsReplacedInEveryAlignment(t *testing.T) {
	for _, secret := range []string{"Zq3Tf8Lw0Bn5", "a+b/c?d~e>f!?>", "p\xfb\xff\xfe-\xfb\xff\xfe-0815"} {
		for _, encoding := range []*base64.Encoding{
			base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
		} {
			for _, user := range []string{"", "u", "me", "you", "anna"} {
				for _, after := range []string{"", "x", "xy", "xyz"} {
					written := encoding.EncodeToString([]byte(user + ":" + secret + after))
					got := redact.New([]redact.Variable{{Name: "PASSWORD", Value: secret}}).Text("Basic " + written)
					// The characters at both ends of the encoded secret also encode the neighbouring bytes;
					// they are kept.
					before, rest, ok := strings.Cut(strings.TrimPrefix(got, "Basic "), "[REDACTED:PASSWORD]")
					if left := before + rest; !ok || len(left) > len(written)-len(secret) {
						t.Errorf("%s:%s%s became %q", user, secret, after, got)
					}
				}
			}
		}
	}
}

// sequence returns a change of colour of n bytes.
func sequence(n int) string { return "\x1b[" + strings.Repeat("1", n-3) + "m" }

func TestSecretsWithColoursAreReplaced(t *testing.T) {
	key := key("gh"+"p_", 36)
	for name, tt := range map[string]struct{ text, want string }{
		"highlighted part": {
			"in \x1b[35mfile\x1b[m: ghp\x1b[01;31m\x1b[K" + key[3:9] + "\x1b[m\x1b[K" + key[9:] + " there",
			"in \x1b[35mfile\x1b[m: [REDACTED:github-token]\x1b[01;31m\x1b[K\x1b[m\x1b[K there",
		},
		"value": {"so secret\x1b(B\x1b[m-0815!", "so [REDACTED:A_TOKEN]\x1b(B\x1b[m!"},
		"no secret": {
			"se\x1b[0mcret-\x1b[1;2", "se\x1b[0mcret-\x1b[1;2",
		},
		"other sequences": {"secret\x1bX-0815 secret\x1b[\n-0815", "secret\x1bX-0815 secret\x1b[\n-0815"},
		"first parameter": {"secret\x1b[ q-0815!", "[REDACTED:A_TOKEN]\x1b[ q!"},
		"first final":     {"secret\x1b[2@-0815!", "[REDACTED:A_TOKEN]\x1b[2@!"},
		"last final":      {"secret\x1b[3~-0815!", "[REDACTED:A_TOKEN]\x1b[3~!"},
		"longest":         {"secret" + sequence(64) + "-0815!", "[REDACTED:A_TOKEN]" + sequence(64) + "!"},
		"too long":        {"secret" + sequence(65) + "-0815!", "secret" + sequence(65) + "-0815!"},
		"no token before a mark": {
			"\x1b[0m" + "np" + "m_" + run('m', 36) + "secret-0815", "\x1b[0m" + "np" + "m_" + run('m', 36) + "[REDACTED:A_TOKEN]",
		},
		"after a line of a key": {
			"-----BEGIN " + "PRIVATE KEY-----\n" + run('m', 64) + sequence(30) + "\n",
			"[REDACTED:private-key]" + sequence(30) + "\n",
		},
	} {
		if got := redact.New(variables).Text(tt.text); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	const document = `{"out":"secret\u001b[31m-0815\u001b[0m"}`
	if got := string(redact.New(variables).JSON([]byte(document))); strings.Contains(got, "0815") {
		t.Errorf("got %s", got)
	}
	s := redact.New(variables[1:2]).Stream()
	if got := s.Next("it is secret-\x1b[31m08") + s.Next("15-l\x1b[0") + s.Truncated(); got != "it is [REDACTED:B_TOKEN]" {
		t.Errorf("cut off: %q", got)
	}
}

func TestMarkReplacesPunctuationOfVariableName(t *testing.T) {
	r := redact.New([]redact.Variable{{Name: "KEY] [NEXT: x-ı\n", Value: "0123456789"}})
	if got, want := r.Text("0123456789"), "[REDACTED:KEY___NEXT__x-__]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	const secret = "pass\"word\u00fc\\<1>"
	r := redact.New([]redact.Variable{{Name: "MY_SECRET", Value: secret}})
	input, err := json.Marshal(map[string]any{
		"a": secret, secret: []any{"x " + secret + " y", 1, nil}, "plain": "a<b>&\u2028", "n": 0.1,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := r.JSON(input)
	const want = `{"a":"[REDACTED:MY_SECRET]","n":0.1,"[REDACTED:MY_SECRET]":["x [REDACTED:MY_SECRET] y",1,null],` +
		`"plain":"a\u003cb\u003e\u0026\u2028"}`
	if string(got) != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	clean := []byte(`{"a": "nothing", "b": 1}`)
	if got := r.JSON(clean); &got[0] != &clean[0] {
		t.Error("a value without secrets was copied")
	}
	got = r.JSON([]byte(`{"a": "0pass\"word\u00fc\\<1>`))
	if want := `{"a": "0[REDACTED:MY_SECRET]`; string(got) != want {
		t.Errorf("truncated document: %s, want %s", got, want)
	}
}

func TestJSONKeepsOtherCharacters(t *testing.T) {
	r := redact.New([]redact.Variable{{Name: "MY_SECRET", Value: "secret-0815"}})
	for input, want := range map[string]string{
		`"<b>&secret-0815"`:     `"<b>&[REDACTED:MY_SECRET]"`,
		`["","secret-0815"]`:    `["","[REDACTED:MY_SECRET]"]`,
		`["\\","secret-0815"]`:  `["\\","[REDACTED:MY_SECRET]"]`,
		`"secret-0815`:          `"[REDACTED:MY_SECRET]`,
		`{"a":"x","b":"secret-`: `{"a":"x","b":"secret-`,
		`["secret-0815 \u3c"]`:  `["[REDACTED:MY_SECRET] \u3c"]`, // no valid string
	} {
		if got := string(r.JSON([]byte(input))); got != want {
			t.Errorf("%s became %s, want %s", input, got, want)
		}
	}
}

// A token is one only after a character that is no part of a name, also if that was in an earlier piece.
func TestTokensBeginWords(t *testing.T) {
	token := key("gh"+"p_", 36)
	for _, before := range []string{"a", "z", "A", "Z", "0", "9", "_", "`", "{", "@", "[", "/", ":", "^", "\x80", "-", `\n`, `\x`} {
		want := before + token
		if strings.Trim(before, "azAZ09_x\\") != "" || before == `\n` {
			want = before + "[REDACTED:github-token]"
		}
		if got := redact.New(nil).Text(before + token); got != want {
			t.Errorf("after %q: got %q", before, got)
		}
		s := redact.New(nil).Stream()
		if got := s.Next(before) + s.Next(token) + s.Rest(); got != want {
			t.Errorf("after a piece %q: got %q", before, got)
		}
	}
}

func TestKindsAreSorted(t *testing.T) {
	if got := redact.Kinds([]string{"b", "a", "b", "c", "a"}); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q", got)
	}
}

func TestJSONNumbersAreRedacted(t *testing.T) {
	r := redact.New([]redact.Variable{{Name: "PIN_TOKEN", Value: "12345678"}})
	for input, want := range map[string]string{
		`12345678`:                     `"[REDACTED:PIN_TOKEN]"`,
		`{"pin":12345678,"n":1234567}`: `{"pin":"[REDACTED:PIN_TOKEN]","n":1234567}`,
		`[-12345678, 9123456780, 12345678]`: `["-[REDACTED:PIN_TOKEN]", "9[REDACTED:PIN_TOKEN]0", ` +
			`"[REDACTED:PIN_TOKEN]"]`,
		`{"a":12345678.0,"b":12345678e-3}`: `{"a":"[REDACTED:PIN_TOKEN].0","b":"[REDACTED:PIN_TOKEN]e-3"}`,
		`{"a":1.5e+3,"b":[true,null,-0]}`:  `{"a":1.5e+3,"b":[true,null,-0]}`,
		`[0.12345678]`:                     `["0.[REDACTED:PIN_TOKEN]"]`,
	} {
		if got := string(r.JSON([]byte(input))); got != want {
			t.Errorf("%s became %s, want %s", input, got, want)
		}
	}
}

func TestNilRedactorReplacesNothing(t *testing.T) {
	var off *redact.Redactor
	text := keys[0].key
	s := off.Stream()
	got := off.Text(text) + string(off.JSON([]byte(text))) + s.Next(text) + s.Rest() + s.Truncated()
	if got != text+text+text || off.Found() != nil {
		t.Errorf("%q", got)
	}
}

var variables = []redact.Variable{
	{Name: "A_TOKEN", Value: "secret-0815"},
	{Name: "B_TOKEN", Value: "secret-0815-longer"},
	{Name: "PASSWORD", Value: "abcd"},
	{Name: "C_KEY", Value: "two\nlines"},
	{Name: "PIN_TOKEN", Value: "90817263"},
	{Name: "DB_PASSWORD", Value: "words"},
}

// TestStreamEqualsText cuts texts of secrets and other parts anywhere.
func TestStreamEqualsText(t *testing.T) {
	parts := []string{
		"secret-0815", "secret-0815-longer", "secret-", "abcd", "two\nlines", " ", "\n", "a", "_", ".", "\\n", `"`,
		"-----", "-----BEGIN ", "PRIVATE KEY-----", "-----END ", letters, "AK" + "IA", "é",
		"sk" + "-", "\xff", "\x1b[31m", "\x1b[0m", "\x1b", "[31m", "\x1b(B", "words", "PASSWORD=", "0815", "\x1b[1",
	}
	for _, k := range keys {
		parts = append(parts, k.key, k.key[:len(k.key)/2])
	}
	propertytest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		r := redact.New(variables)
		want, wantFound := r.Text(text), r.Found()
		var got strings.Builder
		s := r.Stream()
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "piece")
			got.WriteString(s.Next(rest[:n]))
			rest = rest[n:]
		}
		got.WriteString(s.Rest())
		if got.String() != want {
			t.Fatalf("text %q: the stream returns\n%q, Text returns\n%q", text, got.String(), want)
		}
		found := r.Found()
		slices.Sort(found)
		slices.Sort(wantFound)
		if !slices.Equal(found, wantFound) {
			t.Fatalf("the stream found %q, Text found %q", found, wantFound)
		}
	})
}

// FuzzText checks that a Stream equals Text, no value is left that is a secret within any text, and JSON
// stays valid.
func FuzzText(f *testing.F) {
	for _, k := range keys {
		f.Add("it is "+k.key+" there", uint8(7))
	}
	f.Add("secret-0815-lo secret-0815-longer abcd two\nlines", uint8(3))
	f.Add("-----BEGIN "+"PRIVATE KEY-----\\n", uint8(1))
	f.Add(`{"a":[-90817263.5,190817263e7]}`, uint8(2))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		r := redact.New(variables)
		complete := r.Text(text)
		for _, value := range []string{"secret-0815", "two\nlines", "90817263"} { // The others are ordinary words.
			if strings.Contains(complete, value) {
				t.Errorf("%q became %q", text, complete)
			}
		}
		s, pieces := r.Stream(), ""
		for rest := text; rest != ""; {
			n := min(int(size)+1, len(rest))
			pieces += s.Next(rest[:n])
			rest = rest[n:]
		}
		if pieces += s.Rest(); pieces != complete {
			t.Errorf("text %q: the stream returns\n%q, Text returns\n%q", text, pieces, complete)
		}
		if document, err := json.Marshal([]string{text}); err == nil && !json.Valid(r.JSON(document)) {
			t.Errorf("%s became %s", document, r.JSON(document))
		}
		if clean := r.JSON([]byte(text)); json.Valid([]byte(text)) && !json.Valid(clean) {
			t.Errorf("%s became %s", text, clean)
		}
	})
}

func TestStreamDoesNotHoldBackWords(t *testing.T) {
	s := redact.New(variables).Stream()
	for _, piece := range []string{"The ", "quick ", "brown fox,", "\n", "日本語", " jumps.", "-----BEGIN %",
		sequence(64)[:63] + "1"} {
		if got := s.Next(piece); got != piece {
			t.Errorf("for %q got %q", piece, got)
		}
	}
}

func TestStreamHoldsBackWhatMayBecomeAWord(t *testing.T) {
	s := redact.New([]redact.Variable{{Name: "PASSWORD", Value: "t3st"}}).Stream()
	for _, tt := range []struct{ piece, want string }{
		{"t3st", ""}, {"ing t3st", "t3sting "}, {" there", "[REDACTED:PASSWORD] there"},
	} {
		if got := s.Next(tt.piece); got != tt.want {
			t.Errorf("for %q got %q, want %q", tt.piece, got, tt.want)
		}
	}
}

func TestStreamTruncated(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"it is secret-0815-lo", "it is [REDACTED:B_TOKEN]"},
		{"it is secret-0", "it is [REDACTED:B_TOKEN]"}, // the shortest part of a value that is replaced
		{"it is secret-0815-longe", "it is [REDACTED:B_TOKEN]"},
		{"it is secret-", "it is secret-"},
		{"it is sec", "it is sec"},
		{"PASSWORD=postgres-serv", "PASSWORD=postgres-serv"},
		{"it is", "it is"},
		{"so " + key("gh"+"p_", 36), "so [REDACTED:github-token]"},
	} {
		ordinary := redact.Variable{Name: "DB_PASSWORD", Value: "postgres-server"}
		for _, all := range [][]redact.Variable{{variables[0], variables[1], ordinary}, {ordinary, variables[0], variables[1]}} {
			r := redact.New(all)
			s := r.Stream()
			if got := s.Next(tt.text) + s.Truncated(); got != tt.want {
				t.Errorf("for %q got %q, want %q", tt.text, got, tt.want)
			}
			if found := len(r.Found()); found != strings.Count(tt.want, "[REDACTED") {
				t.Errorf("%q: %d kinds were found", tt.text, found)
			}
		}
	}
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog; func main() { fmt.Println(x) }\n", 1<<14)
	r := redact.New(variables)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}

// BenchmarkRun compares texts of one letter with strings.Index.
func BenchmarkRun(b *testing.B) {
	for _, letter := range []string{"x", "s", "A", "h", "e", "-", " "} {
		b.Run(letter, func(b *testing.B) {
			text := strings.Repeat(letter, 1<<20)
			r := redact.New(variables)
			b.SetBytes(int64(len(text)))
			var redacting, searching time.Duration
			for b.Loop() {
				start := time.Now()
				r.Text(text)
				found := time.Now()
				strings.Index(text, "xoxo-sk-AKIA-hooks--")
				redacting, searching = redacting+found.Sub(start), searching+time.Since(found)
			}
			b.ReportMetric(float64(redacting)/float64(searching), "times-Index")
			b.ReportMetric(float64(len(text))*float64(b.N)/redacting.Seconds()/1e6, "MB/s-redacted")
		})
	}
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }
