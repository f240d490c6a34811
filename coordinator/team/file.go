package team

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Load reads the team file at path. The agent registry in the directory home supplies what the
// file leaves out about an agent. Relative paths in the file are relative to its directory, "~" is
// the user's home directory, and the files need not exist.
//
// An invalid file is a *schemas.InvalidError with all problems, one of another version a
// *schemas.VersionError. Properties that other programs leave out are Team.Warnings instead: they
// have defaults, although the schema requires them. So are those that only a newer minor version
// may define, unless they could decide what an agent may do or who reads a session. An invalid
// registry is an error of these types if the file needs it.
func Load(path, home string) (*Team, error) {
	team, err := load(path, home)
	if err != nil {
		return nil, fmt.Errorf("team file %s: %w", path, err)
	}
	return team, nil
}

func load(path, home string) (*Team, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if home, err = filepath.Abs(home); err != nil {
		return nil, err
	}
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	r := &fileReader{dir: filepath.Dir(path), registry: registry{dir: filepath.Join(home, "agents")}}
	document := withoutBOM(content)
	if err := r.check(document); err != nil {
		return nil, err
	}
	team, err := r.team(document)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	team.Source = &Source{Path: path, SHA256: hex.EncodeToString(sum[:]), Home: home}
	team.Warnings = r.warnings
	team.Elsewhere = team.elsewhere()
	return team, nil
}

// readFile returns the content of a regular file of at most maxFile bytes. The caller adds the path
// to its error.
func readFile(path string) ([]byte, error) {
	content, err := regularfile.Read(path, maxFile)
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return content, err
}

// readDocument decodes the JSON file at path, which must match a schema, into v.
func readDocument(path, schema string, v any) error {
	content, err := readFile(path)
	if err != nil {
		return err
	}
	document := withoutBOM(content)
	if err := schemas.Check(schema, document); err != nil {
		return err
	}
	return json.Unmarshal(document, v)
}

// withoutBOM removes the byte order mark that some editors write.
func withoutBOM(content []byte) []byte {
	return bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
}

// fileJSON is the content of a team file. Numbers are floats because 3.0 is an integer in a JSON
// Schema.
type fileJSON struct {
	Team struct {
		Name            string       `json:"name"`
		DisplayName     string       `json:"displayName"`
		Description     string       `json:"description"`
		InstructionFile string       `json:"instructionFile"`
		Summary         string       `json:"summary"`
		Members         []memberJSON `json:"members"`
	} `json:"team"`
	Agents    []agentJSON `json:"agents"`
	MaxRounds *float64    `json:"maxRounds"`
	Budget    budgetJSON  `json:"budget"`
	Files     struct {
		Capture string `json:"capture"`
	} `json:"files"`
	Conversation struct {
		MaxAgentResponseTime *float64 `json:"maxAgentResponseTime"` // milliseconds
		ShowThinkingTimer    *bool    `json:"showThinkingTimer"`
		AllowEscCancel       *bool    `json:"allowEscCancel"`
	} `json:"conversation"`
}

// budgetJSON is a Budget in a team file.
type budgetJSON struct{ Message, Session, Day limitJSON }

type limitJSON struct{ Turns, Tokens, Cost float64 }

func (b budgetJSON) budget() Budget {
	limit := func(l limitJSON) Limit {
		whole := func(n float64) int64 { return int64(min(n, 1<<53)) }
		return Limit{whole(l.Turns), whole(l.Tokens), l.Cost}
	}
	return Budget{limit(b.Message), limit(b.Session), limit(b.Day)}
}

// agentJSON is an agent in a team file or in the registry.
type agentJSON struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"` // nil if missing, as opposed to empty
}

// fileReader validates a team file and builds the team. It applies all rules even to a file that
// the schema rejects, to report every problem at once.
type fileReader struct {
	dir      string // of the file
	registry registry
	problems []schemas.Problem
	warnings []schemas.Problem
}

// hasDefault reports whether a missing property has a default. Earlier programs that read team files
// never checked these.
func hasDefault(missing schemas.Problem) bool {
	switch missing.Missing {
	case "description":
		return missing.Path == "/team"
	case "displayName", "role", "baseDir", "systemInstruction":
		return strings.HasPrefix(missing.Path, "/team/members/")
	}
	return false
}

// mayIgnore reports whether a property that a newer minor version may define can be left out. Without permissions, a
// hub or redaction, a team would do more than its file allows.
func mayIgnore(unknown schemas.Problem) bool {
	for _, name := range append(strings.Split(unknown.Path, "/"), unknown.Unknown) {
		if slices.Contains([]string{"permissions", "hub", "redaction"}, name) {
			return false
		}
	}
	return unknown.Unknown != ""
}

// check validates the document against the schema and records the problems. It returns errors
// that make further validation pointless.
func (r *fileReader) check(document []byte) error {
	err := schemas.Check(schemas.CLIConfig, document)
	invalid := (*schemas.InvalidError)(nil)
	if !errors.As(err, &invalid) || !json.Valid(document) {
		return err
	}
	for _, p := range invalid.Problems {
		if hasDefault(p) || invalid.Newer && mayIgnore(p) {
			r.warnings = append(r.warnings, p)
		} else {
			r.problems = append(r.problems, p)
		}
	}
	return nil
}

// err returns the recorded problems, sorted by path. The warnings are among them if there are any: who
// corrects the file can correct all of it.
func (r *fileReader) err() error {
	var found error
	if len(r.problems) > 0 {
		r.problems = append(r.problems, r.warnings...)
		slices.SortStableFunc(r.problems, func(a, b schemas.Problem) int { return comparePaths(a.Path, b.Path) })
		found = &schemas.InvalidError{Schema: schemas.CLIConfig, Problems: r.problems}
	}
	if !r.registry.needed {
		return found
	}
	return errors.Join(found, r.registry.err)
}

// problem records a problem at a JSON pointer.
func (r *fileReader) problem(path, format string, args ...any) {
	r.problems = append(r.problems, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// team builds the team of the document.
func (r *fileReader) team(document []byte) (*Team, error) {
	var file fileJSON
	// Values of the wrong type, which the schema has reported, are left out.
	if err := json.Unmarshal(document, &file); err != nil && len(r.problems) == 0 {
		return nil, err
	}
	r.checkMemberNames(file.Team.Members)
	r.checkMemberTypes(file.Team.Members)
	r.checkAgents(file.Agents)
	team := r.build(file)
	return team, r.err()
}

// build converts the file to a team and records problems.
func (r *fileReader) build(file fileJSON) *Team {
	conversation := file.Conversation
	return &Team{
		ID:                   file.Team.Name,
		Name:                 file.Team.Name,
		DisplayName:          cmp.Or(file.Team.DisplayName, file.Team.Name),
		Description:          file.Team.Description,
		Members:              r.members(file),
		MaxRounds:            maxRounds(file.MaxRounds),
		Budget:               file.Budget.budget(),
		FilesOff:             file.Files.Capture == "off",
		Summary:              r.summary(file),
		InstructionFile:      r.path("/team/instructionFile", r.dir, file.Team.InstructionFile),
		MaxAgentResponseTime: milliseconds(conversation.MaxAgentResponseTime, defaultResponseTime),
		ShowThinkingTimer:    orTrue(conversation.ShowThinkingTimer),
		AllowEscCancel:       orTrue(conversation.AllowEscCancel),
	}
}

// summary returns who writes summaries, and records a problem for a name that no AI member has.
func (r *fileReader) summary(file fileJSON) string {
	name := file.Team.Summary
	if name == "" || name == SummarySelf || name == SummaryOff {
		return name
	}
	isWriter := func(m memberJSON) bool { return m.Name == name && m.Type == AI }
	if !slices.ContainsFunc(file.Team.Members, isWriter) {
		r.problem("/team/summary", "%q is no AI member of the team, self or off", name)
	}
	return name
}

func maxRounds(n *float64) int {
	if n == nil {
		return DefaultMaxRounds
	}
	return int(min(*n, math.MaxInt32))
}

// milliseconds converts ms to a duration, at most the longest one; nil is def.
func milliseconds(ms *float64, def time.Duration) time.Duration {
	if ms == nil {
		return def
	}
	if *ms >= float64(math.MaxInt64/int64(time.Millisecond)) {
		return math.MaxInt64
	}
	return time.Duration(*ms) * time.Millisecond
}

func orTrue(b *bool) bool { return b == nil || *b }

// checkAgents records duplicate agents and agents without a usable command.
func (r *fileReader) checkAgents(agents []agentJSON) {
	seen := map[string]bool{}
	for i, a := range agents {
		if a.Name == "" {
			continue // the schema reports it
		}
		if seen[a.Name] {
			r.problem(agentPath(i)+"/name", "%q is also the name of another agent", a.Name)
		}
		seen[a.Name] = true
		r.checkCommand(i, a)
	}
}

// checkCommand records an agent without a command, or with another one than the registered.
func (r *fileReader) checkCommand(i int, a agentJSON) {
	registered, ok := r.registry.agent(a.Name)
	switch {
	case ok && a.Command != "" && absoluteCommand(r.dir, a.Command) != registered.Command:
		r.problem(agentPath(i)+"/command",
			"must not differ from the registered command %q: a team may change only its arguments",
			registered.Command)
	case !ok && a.Command == "" && !r.registry.failed() && needsCommand(a.Name):
		r.problem(agentPath(i), "agent %q is not registered and must have a command", a.Name)
	}
}

// needsCommand reports whether the engine of an agent type has no program of its own.
func needsCommand(agentType string) bool {
	line := agent.ForType(agentType).CommandLine(agent.Member{AgentType: agentType})
	return line != nil && line[0] == ""
}

// path returns absolute(dir, name) and records an error at the JSON pointer.
func (r *fileReader) path(pointer, dir, name string) string {
	path, err := absolute(dir, name)
	if err != nil {
		r.problem(pointer, "%v", err)
	}
	return path
}

// absolute returns the absolute path of a name relative to dir; "" stays. A leading "~" is the
// user's home directory.
func absolute(dir, name string) (string, error) {
	rest, tilde := strings.CutPrefix(name, "~")
	switch {
	case name == "" || filepath.IsAbs(name):
		return name, nil
	case !tilde || rest != "" && !os.IsPathSeparator(rest[0]):
		return filepath.Join(dir, name), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory for %q: %w", name, err)
	}
	return filepath.Join(home, rest), nil
}

// isPath reports whether a name has a path separator.
func isPath(name string) bool {
	return strings.ContainsAny(name, "/"+string(os.PathSeparator))
}

func agentPath(i int) string { return fmt.Sprintf("/agents/%d", i) }

// comparePaths compares JSON pointers, array indices as numbers.
func comparePaths(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		i, errA := strconv.Atoi(a)
		j, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return cmp.Compare(i, j)
		}
		return cmp.Compare(a, b)
	})
}
