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

var record = flag.Bool("record", false, "run the real agents that are installed, and write down anew what they say")

// nobodyThere is an address that refuses connections.
const nobodyThere = "http://127.0.0.1:1"

// retriedFor is for how long an agent tries to reach its API before it is cancelled.
const retriedFor = 10 * time.Second

// TestRealRecord writes testdata/streams anew. What the engines make of it is for
// TestRecordedAgentsAreUnderstood to say.
func TestRealRecord(t *testing.T) {
	if !*record {
		t.Skip("it writes testdata/streams anew; to let it, type: go test -run RealRecord -record")
	}
	for _, s := range recordedScenes {
		t.Run(s.name, func(t *testing.T) {
			withRealAgents(t, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
				if s.isOf(a) {
					r := recorder{scene: s, name: recordedName(a), agent: a, engine: e, turn: turn, model: model}
					r.record(t)
				}
			})
		})
	}
}

// recordedName is the name of an agent in the names of files.
func recordedName(a agenttest.Real) string {
	if name, overACP := strings.CutSuffix(a.Name, " over ACP"); overACP {
		return "acp-" + name
	}
	return a.Name
}

// isOf reports whether the scene is recorded of an agent.
func (s scene) isOf(a agenttest.Real) bool {
	words := strings.Fields(s.agents)
	return len(words) == 0 || !a.Resident() && slices.Contains(words, "cli") || slices.Contains(words, strings.TrimPrefix(recordedName(a), "acp-"))
}

// A recorder records one scene of one agent.
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
	said := make(chan struct{}, 1)
	go func() {
		r.await(said)
		cancel(errEnoughSaid)
	}()
	told, err := whole(ctx, noticed{r.engine, said}, r.turn)
	t.Logf("it told %q, %v", told, err)
	if errors.Is(err, errEnoughSaid) && !r.cancelled && !r.retries {
		t.Fatal("it took too long, and nothing is written")
	}
	if lasting, ok := r.engine.(agent.Resident); ok {
		lasting.Close()
	}
	content, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(recordings, r.name+"-"+r.scene.name+recordingEnds), r.clean(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// setUp sets the agent up for the scene, and puts what records between it and its engine.
func (r *recorder) setUp(t *testing.T, raw string) {
	m := &r.turn.Member
	if r.unreachable {
		*m = r.agent.Member(t, r.turn.Dir, nobodyThere, "x")
	}
	if r.asks {
		r.letAsk()
	}
	m.Env["AGENT_TEST_ROLE"], m.Env[recordingFile], m.Env[overseenProgram] = "overseen", raw, m.Command
	m.Command = os.Args[0]
	r.turn.Prompt = r.prompt
	r.turn.Permit = func(context.Context, agent.Permission) bool { return !r.refuses }
}

// letAsk sets an agent up to ask for leave; a CLI, which cannot, to refuse by itself.
func (r *recorder) letAsk() {
	m := &r.turn.Member
	switch r.name {
	case "acp-codex":
		m.Env["INITIAL_AGENT_MODE"], r.model.Escalate = "read-only", true
	case "acp-opencode":
		m.Env["OPENCODE_PERMISSION"] = `{"bash":"ask"}`
	case "codex":
		if r.refuses {
			m.Permissions, r.model.Escalate = agent.ReadOnly, true
		}
	case "claude", "gemini":
		if r.refuses {
			m.Permissions = ""
		}
	}
}

// await waits until it is time to cancel the turn. It takes as much time as a turn may that
// nobody cancels.
func (r *recorder) await(said <-chan struct{}) {
	spoken, limit := r.model.Streamed(), realTime
	switch {
	case r.retries:
		said, spoken, limit = nil, nil, retriedFor
	case !r.cancelled:
		said, spoken = nil, nil
	case !r.agent.Unstreamed:
		spoken = nil
	}
	select {
	case <-said:
	case <-spoken:
	case <-time.After(limit):
	}
}

// noticed is an engine whose first text is noticed.
type noticed struct {
	agent.Engine
	said chan<- struct{}
}

func (n noticed) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for event, err := range n.Engine.Run(ctx, turn) {
			if _, ok := event.(agent.Text); ok {
				select {
				case n.said <- struct{}{}:
				default:
				}
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// clean is a recording without what is of this machine and of this moment, and without what
// comes behind the turn.
func (r recorder) clean(raw []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(r.anonymous(string(raw))) {
		switch {
		case r.agent.Resident() && strings.HasPrefix(line, "! "):
			return out.Bytes() // the server is ended
		case strings.HasPrefix(line, "! SIG") && !r.cancelled && !r.retries:
			continue // it was slow to end
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
	stamps  = regexp.MustCompile(`1[5-9][0-9]{11}`) // milliseconds since 1970
	times   = regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
	sockets = regexp.MustCompile(`/tmp/cc-socks/[0-9]+`)
	periods = regexp.MustCompile(`("[a-z_]*(?:_ms|Ms)":)[0-9.]+`)
)

// anonymous is the text with other ids, times and places.
func (r recorder) anonymous(text string) string {
	home, dir := r.turn.Member.Env["HOME"], r.turn.Dir
	text = strings.NewReplacer(
		dir, playedIn, folded(dir), folded(playedIn), home, playedHome, folded(home), folded(playedHome),
		r.model.URL, "http://127.0.0.1:8080", strings.TrimPrefix(r.model.URL, "http://"), "127.0.0.1:8080",
	).Replace(text)
	text = numbered(text, uuids, "00000000-0000-4000-8000-%012d")
	text = numbered(text, ids, "id_%020d")
	text = numbered(text, stamps, "1700000%06d")
	text = times.ReplaceAllString(text, "2026-01-01T00:00:00.000Z")
	text = sockets.ReplaceAllString(text, "/tmp/cc-socks/1")
	return periods.ReplaceAllString(text, "${1}0")
}

// folded is how Claude Code names the directory for what it remembers of another.
func folded(dir string) string { return strings.NewReplacer("/", "-", "_", "-", ".", "-").Replace(dir) }

// numbered replaces what is found by numbers, the same by the same.
func numbered(text string, found *regexp.Regexp, format string) string {
	seen := map[string]string{}
	return found.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf(format, len(seen)+1)
		}
		return seen[id]
	})
}

// Longer strings and lists are cut off in recordings.
const (
	longestString      = 256
	longestDescription = 40
	longestList        = 6
)

// bounded is the line without what is long and of no interest. What is no JSON is as it was.
func bounded(line string) string {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	var out strings.Builder
	if copyValue(decoder, &out, longestString) != nil {
		return line
	}
	return out.String()
}

// copyValue copies the next value, and keeps the order of its fields.
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
		if open == '[' && n >= longestList {
			item = &strings.Builder{} // for nobody
		} else if n > 0 {
			to.WriteByte(',')
		}
		if open == '{' {
			name, err := from.Token()
			if err != nil {
				return err
			}
			to.WriteString(plain(name, longestString) + ":")
			longest = longestString
			if name == "description" {
				longest = longestDescription
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
