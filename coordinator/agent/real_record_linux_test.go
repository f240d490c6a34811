package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

var record = flag.Bool("record", false, "record the installed real agents")

// closedAddress is an address that refuses connections.
const closedAddress = "http://127.0.0.1:1"

// retryTime is how long an agent may try to reach its API before the turn is cancelled.
const retryTime = 10 * time.Second

// TestRealRecord writes the recordings. TestRecordedAgents checks what the engines make of them.
func TestRealRecord(t *testing.T) {
	if !*record {
		t.Skip("writes testdata/streams; run it with: go test -run RealRecord -record")
	}
	for _, s := range recordedScenes {
		t.Run(s.name, func(t *testing.T) {
			withRealAgents(t, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn,
				m *agenttest.Model) {
				if s.includes(a) && a.Engine != "gemini" { // it is recorded over ACP
					r := recorder{scene: s, name: recordedName(a), agent: a, engine: e, turn: turn, model: m}
					r.record(t)
				}
			})
		})
	}
}

// recordedName returns the name of an agent in file names.
func recordedName(a agenttest.Real) string {
	if name, overACP := strings.CutSuffix(a.Name, " over ACP"); overACP {
		return "acp-" + name
	}
	return a.Name
}

// includes reports whether the scene is recorded with an agent.
func (s scene) includes(a agenttest.Real) bool {
	words := strings.Fields(s.agents)
	return len(words) == 0 || !a.SpeaksACP() && slices.Contains(words, "cli") ||
		slices.Contains(words, strings.TrimPrefix(recordedName(a), "acp-"))
}

// A recorder records one scene with one agent.
type recorder struct {
	scene
	name   string
	agent  agenttest.Real
	engine agent.Engine
	turn   agent.Turn
	model  *agenttest.Model
}

func (r recorder) record(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "raw")
	r.setUp(t, raw)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	replied := make(chan struct{}, 1)
	go func() {
		r.await(replied)
		cancel(errCancelled)
	}()
	got, err := allEvents(ctx, textNotifier{r.engine, replied}, r.turn)
	t.Logf("got %q, %v", got, err)
	if errors.Is(err, errCancelled) && !r.cancelled && !r.retries {
		t.Fatal("the turn took too long; the recording was not written")
	}
	if resident, ok := r.engine.(agent.Resident); ok {
		resident.Close()
	}
	content, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(recordings, r.name+"-"+r.scene.name+recordingSuffix)
	if err := os.WriteFile(file, r.clean(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// setUp configures the agent for the scene, and runs the recording program instead of it.
func (r *recorder) setUp(t *testing.T, raw string) {
	m := &r.turn.Member
	if r.unreachable {
		*m = r.agent.Member(t, r.turn.Dir, closedAddress, "x")
	}
	if r.asks {
		r.requirePermission()
	}
	m.Env["AGENT_TEST_ROLE"], m.Env[recordingFile], m.Env[recordedProgram] = "record", raw, m.Command
	m.Command = os.Args[0]
	r.turn.Prompt = r.prompt
	r.turn.Permit = func(context.Context, agent.Permission) agent.Grant {
		if r.refuses {
			return agent.Refused
		}
		return agent.AllowedOnce
	}
}

// requirePermission configures an agent to request permission.
func (r *recorder) requirePermission() {
	m := &r.turn.Member
	if r.agent.SpeaksACP() {
		m.Permissions = agent.Ask
	}
	switch r.name {
	case "acp-codex":
		r.model.Escalate = true
	case "codex":
		m.Permissions, r.model.Escalate = agent.Ask, true
	case "claude":
		m.Permissions = agent.Ask
	}
}

// await waits until it is time to cancel the turn; for a turn that is not to be cancelled, as long as
// it may take.
func (r *recorder) await(replied <-chan struct{}) {
	streamed, limit := r.model.Streamed(), realTime
	switch {
	case r.retries:
		replied, streamed, limit = nil, nil, retryTime
	case !r.cancelled:
		replied, streamed = nil, nil
	case !r.agent.Unstreamed:
		streamed = nil
	}
	select {
	case <-replied:
	case <-streamed:
	case <-time.After(limit):
	}
}

// A textNotifier is an engine that reports that the turn has yielded text.
type textNotifier struct {
	agent.Engine
	replied chan<- struct{}
}

func (n textNotifier) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for event, err := range n.Engine.Run(ctx, turn) {
			if _, ok := event.(agent.Text); ok {
				select {
				case n.replied <- struct{}{}:
				default:
				}
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// clean removes from a recording what depends on this machine and the time, and what follows the turn.
func (r recorder) clean(raw []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(r.anonymized(string(raw))) {
		switch {
		case (r.agent.SpeaksACP() || r.name == "codex") && strings.HasPrefix(line, "! "):
			return out.Bytes() // the engine stops the server
		case strings.HasPrefix(line, "! SIG") && !r.cancelled && !r.retries:
			continue // the agent did not exit in time
		}
		if text, ok := strings.CutPrefix(line, "< "); ok {
			line = "< " + bounded(strings.TrimSuffix(text, "\n")) + "\n"
		}
		out.WriteString(line)
		if strings.Contains(line, `"method":"session/close"`) {
			break
		}
	}
	return out.Bytes()
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ids     = regexp.MustCompile(`(ses|msg|prt)_[0-9A-Za-z]{20,}`)
	seconds = regexp.MustCompile(`(At":)1[5-9][0-9]{8}\b`) // since 1970
	rollout = regexp.MustCompile(`20[0-9]{2}/[0-9]{2}/[0-9]{2}/rollout-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9-]{8}`)
	host    = regexp.MustCompile(`("serverName":)"[^"]*","installationId"`)
	stamps  = regexp.MustCompile(`1[5-9][0-9]{11}`) // milliseconds since 1970
	times   = regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
	sockets = regexp.MustCompile(`/tmp/cc-socks/[0-9]+`)
	periods = regexp.MustCompile(`("[a-z_]*(?:_ms|Ms)":)[0-9.]+`)
)

// anonymized replaces ids, times and directories.
func (r recorder) anonymized(text string) string {
	home, dir := r.turn.Member.Env["HOME"], r.turn.Dir
	text = strings.NewReplacer(
		dir, recordedDir, foldedPath(dir), foldedPath(recordedDir),
		home, recordedHome, foldedPath(home), foldedPath(recordedHome),
		r.model.URL, "http://127.0.0.1:8080", strings.TrimPrefix(r.model.URL, "http://"), "127.0.0.1:8080",
	).Replace(text)
	text = numbered(text, uuids, "00000000-0000-4000-8000-%012d")
	text = numbered(text, ids, "id_%020d")
	text = numbered(text, stamps, "1700000%06d")
	text = seconds.ReplaceAllString(text, "${1}1700000000")
	text = rollout.ReplaceAllString(text, "2026/01/01/rollout-2026-01-01T00-00-00")
	text = host.ReplaceAllString(text, `${1}"host","installationId"`)
	text = times.ReplaceAllString(text, "2026-01-01T00:00:00.000Z")
	text = sockets.ReplaceAllString(text, "/tmp/cc-socks/1")
	return periods.ReplaceAllString(text, "${1}0")
}

// foldedPath returns the name of the directory that Claude Code keeps for a directory.
func foldedPath(dir string) string {
	return strings.NewReplacer("/", "-", "_", "-", ".", "-").Replace(dir)
}

// numbered replaces matches by numbers, equal matches by equal numbers.
func numbered(text string, found *regexp.Regexp, format string) string {
	seen := map[string]string{}
	return found.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf(format, len(seen)+1)
		}
		return seen[id]
	})
}

// Strings and lists in recordings are cut to these lengths.
const (
	maxString      = 256
	maxDescription = 40
	maxList        = 6
)

// bounded cuts the strings and lists of a JSON line. Other lines are unchanged.
func bounded(line string) string {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	var out strings.Builder
	if copyValue(decoder, &out, maxString) != nil {
		return line
	}
	return out.String()
}

// copyValue copies the next value, and keeps the order of fields.
func copyValue(from *json.Decoder, to *strings.Builder, longest int) error {
	token, err := from.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		to.WriteString(plain(token, longest))
		return nil
	}
	to.WriteString(open.String())
	for n := 0; from.More(); n++ {
		item := to
		if open == '[' && n >= maxList {
			item = &strings.Builder{} // discarded
		} else if n > 0 {
			to.WriteByte(',')
		}
		if open == '{' {
			name, err := from.Token()
			if err != nil {
				return err
			}
			to.WriteString(plain(name, maxString) + ":")
			longest = maxString
			if name == "description" {
				longest = maxDescription
			}
		}
		if err := copyValue(from, item, longest); err != nil {
			return err
		}
	}
	end, err := from.Token()
	if err == nil {
		to.WriteString(end.(json.Delim).String())
	}
	return err
}

// plain returns the JSON of a token other than a delimiter.
func plain(token json.Token, longest int) string {
	if text, ok := token.(string); ok && len(text) > longest {
		token = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(token) // strings, numbers and the like cannot fail
	return strings.TrimSuffix(out.String(), "\n")
}
