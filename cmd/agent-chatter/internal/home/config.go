package home

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/keys"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Config is the content of config.json in the home. Every setting is optional.
type Config struct {
	Retention Retention `json:"retention"`
	Window    window    `json:"window"`
	Journal   limits    `json:"journal"`
	// Redaction is whether secrets are replaced before an event is written.
	Redaction toggle      `json:"redaction"`
	Files     files       `json:"files"`
	Hub       HubSettings `json:"hub"`
	// MaxResident is how many programs of agents run before the one that has waited longest for its next turn is ended;
	// 0: 8.
	MaxResident int `json:"maxResident"`
	// Status are the facts of the status row of a chat, the most important first; nil: all.
	Status []StatusFact `json:"status"`
	// Theme is how colours are used; "": for the background of the terminal, dark if it is unknown.
	Theme Theme `json:"theme"`
	// Notify are the ways in which a chat reports what a person waits for; nil: all but the desktop.
	Notify []NotifyWay `json:"notify"`
	// Keys are the actions of keys in a chat, by the name of the key; see package keys.
	Keys map[string]string `json:"keys"`
	// Budget limits what the turns of all teams use. That of a team file holds, too.
	Budget team.Budget `json:"budget"`

	// Prices are what tokens cost, by the name of the model as usage shows it. They count where no cost is reported.
	Prices map[string]Price `json:"prices"`

	// Unknown are the settings that ReadConfig has left out, such as "retention.kepe".
	Unknown []string `json:"-"`
}

// A StatusFact is what the status row of a chat can say of a conversation.
type StatusFact string

// The facts.
const (
	StatusTeam      StatusFact = "team"
	StatusMessages  StatusFact = "messages"
	StatusModel     StatusFact = "model"   // of the member at work, or of the last turn
	StatusContext   StatusFact = "context" // how full its context is
	StatusTokens    StatusFact = "tokens"
	StatusCost      StatusFact = "cost"
	StatusSaved     StatusFact = "saved"
	StatusDirectory StatusFact = "directory" // and the branch of git
)

// StatusFacts are all of them, in the default order.
var StatusFacts = []StatusFact{
	StatusTeam, StatusMessages, StatusModel, StatusContext, StatusTokens, StatusCost, StatusSaved, StatusDirectory,
}

// A Theme is a use of the colours of a terminal.
type Theme string

// The themes.
const (
	ThemeDark         Theme = "dark"
	ThemeLight        Theme = "light"
	ThemeHighContrast Theme = "high-contrast"
	ThemeMonochrome   Theme = "monochrome"
)

var themes = []Theme{"", ThemeDark, ThemeLight, ThemeHighContrast, ThemeMonochrome}

// A NotifyWay is a way to report that an agent asks, or that a long turn has ended.
type NotifyWay string

// The ways.
const (
	NotifyTitle    NotifyWay = "title"    // of the terminal's window
	NotifyBell     NotifyWay = "bell"     // of the terminal
	NotifyTerminal NotifyWay = "terminal" // OSC 9 or OSC 777, if the terminal is known to have it
	NotifyDesktop  NotifyWay = "desktop"  // a program of the platform
)

var notifyWays = []NotifyWay{NotifyTitle, NotifyBell, NotifyTerminal, NotifyDesktop}

// NotifyWays returns the ways that are used.
func (c Config) NotifyWays() []NotifyWay {
	if c.Notify == nil {
		return notifyWays[:3]
	}
	return c.Notify
}

// toggle is whether something is done; "" is on.
type toggle string

const (
	on  toggle = "on"
	off toggle = "off"
)

func (t toggle) valid() bool { return t == "" || t == on || t == off }

// files is what is captured of the directories in which agents work; see workspace.Limits. 0 is the default.
type files struct {
	Capture      toggle `json:"capture"`
	MaxFiles     int    `json:"maxFiles"`
	MaxBytes     int64  `json:"maxBytes"`
	MaxFileBytes int64  `json:"maxFileBytes"`
	MaxStored    int64  `json:"maxStored"`
}

// limits are the limits of journals.
type limits struct {
	MaxLine int `json:"maxLine"` // bytes of a line; 0: 64 MiB
}

// The range of Journal.MaxLine in bytes: a session of a large team starts with a long line, and a line
// has to fit into memory a few times.
const (
	minLineLimit = 64 << 10
	MaxLineLimit = 1 << 30
)

// window is the part of a conversation that a prompt contains, as coordinator.Window.
type window struct {
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
}

// Retention is the policy for old sessions; nil is unset. The environment variables
// AGENT_CHATTER_RETENTION_AUTO, _KEEP, _ARCHIVE_AFTER and _DELETE_AFTER override it.
type Retention struct {
	Auto         *bool `json:"auto"` // also at the end of each chat; default: true
	Keep         *int  `json:"keep"`
	ArchiveAfter *Days `json:"archiveAfter"`
	DeleteAfter  *Days `json:"deleteAfter"`
}

// Auto reports whether a chat applies the retention policy at its end.
func (c Config) Auto() bool { return c.Retention.Auto == nil || *c.Retention.Auto }

// KeepSecrets reports whether redaction is off.
func (c Config) KeepSecrets() bool { return c.Redaction == off }

// CapturesFiles reports whether the files around the turns of agents are captured.
func (c Config) CapturesFiles() bool { return c.Files.Capture != off }

// FileLimits returns the limits of captures.
func (c Config) FileLimits() workspace.Limits {
	l := workspace.DefaultLimits
	l.Files = cmp.Or(c.Files.MaxFiles, l.Files)
	l.Stores = cmp.Or(c.Files.MaxStored, l.Stores)
	l.Bytes, l.FileBytes = cmp.Or(c.Files.MaxBytes, l.Bytes), cmp.Or(c.Files.MaxFileBytes, l.FileBytes)
	return l
}

// Policy returns the retention policy.
func (c Config) Policy() catalog.Policy { return c.Retention.Over(catalog.DefaultPolicy) }

// Over returns p with the settings of r that are set.
func (r Retention) Over(p catalog.Policy) catalog.Policy {
	if r.Keep != nil {
		p.Keep = *r.Keep
	}
	if r.ArchiveAfter != nil {
		p.ArchiveAfter = time.Duration(*r.ArchiveAfter)
	}
	if r.DeleteAfter != nil {
		p.DeleteAfter = time.Duration(*r.DeleteAfter)
	}
	return p
}

// maxSize is the size limit of a configuration, in bytes.
const maxSize = 1 << 20

// ReadConfig reads the file at path. A missing file is an empty configuration. Errors about the content are
// *ConfigError. A setting that it does not know, perhaps one of a newer program, is no error, except in permissions,
// hub and redaction: without such a one, more would be allowed, or others could read what the file keeps from them.
func ReadConfig(path string) (c Config, err error) {
	data, err := regularfile.Read(path, maxSize)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	known, unknown := withoutUnknown(data)
	if c, err = decode(known); err == nil {
		err = c.check()
	}
	if err != nil {
		return c, &ConfigError{path, problemsOf(data, err)}
	}
	c.Unknown = unknown
	return c, nil
}

// decode reads one JSON object without unknown fields.
func decode(data []byte) (c Config, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Config{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Config{}, errors.New("the file has more than one JSON object")
	}
	return c, nil
}

// rangeError is about a setting whose value is out of range.
type rangeError struct{ setting, want string }

func (e *rangeError) Error() string { return e.setting + " must be " + e.want }

// check returns a rangeError for a value out of range.
func (c Config) check() error {
	for _, fact := range c.Status {
		if !slices.Contains(StatusFacts, fact) {
			return &rangeError{"status", fmt.Sprintf("a list of some of %v", StatusFacts)}
		}
	}
	if !slices.Contains(themes, c.Theme) {
		return &rangeError{"theme", fmt.Sprintf("one of %v", themes[1:])}
	}
	for _, way := range c.Notify {
		if !slices.Contains(notifyWays, way) {
			return &rangeError{"notify", fmt.Sprintf("a list of some of %v", notifyWays)}
		}
	}
	if _, err := keys.New(c.Keys); err != nil {
		return &rangeError{"keys", "names of keys and actions: " + err.Error()}
	}
	switch line := c.Journal.MaxLine; {
	case c.Retention.Keep != nil && *c.Retention.Keep < 0:
		return &rangeError{"retention.keep", "a number of sessions, 0 or more"}
	case c.Window.Messages < 0:
		return &rangeError{"window.messages", "a number of messages, or 0 for the default"}
	case c.Window.Bytes < 0:
		return &rangeError{"window.bytes", "a number of bytes, or 0 for the default"}
	case c.MaxResident < 0:
		return &rangeError{"maxResident", "a number of programs, or 0 for the default"}
	case !c.Redaction.valid():
		return &rangeError{"redaction", fmt.Sprintf("%q or %q", on, off)}
	case !c.Files.Capture.valid():
		return &rangeError{"files.capture", fmt.Sprintf("%q or %q", on, off)}
	case c.Files.MaxFiles < 0 || c.Files.MaxBytes < 0 || c.Files.MaxStored < 0:
		return &rangeError{"files.maxFiles, files.maxBytes and files.maxStored", "a number, or 0 for the default"}
	case c.Files.MaxFileBytes < 0 || c.Files.MaxFileBytes > objects.MaxObject:
		return &rangeError{"files.maxFileBytes",
			fmt.Sprintf("a number of bytes to %d, or 0 for the default", objects.MaxObject)}
	case line != 0 && (line < minLineLimit || line > MaxLineLimit):
		return &rangeError{"journal.maxLine", fmt.Sprintf("a number of bytes from %d to %d, or 0 for the default %d",
			minLineLimit, MaxLineLimit, journal.DefaultMaxLine)}
	}
	if b, invalid := c.Budget.Invalid(); invalid {
		return &rangeError{"budget." + b.Name(), "a number, or 0 for no limit"}
	}
	for _, model := range slices.Sorted(maps.Keys(c.Prices)) {
		if err := c.Prices[model].check("prices." + model); err != nil {
			return err
		}
	}
	return c.Hub.check()
}

// WithEnvironment returns c with the retention and the hub that the environment sets.
func (c Config) WithEnvironment() (Config, error) {
	if urls := os.Getenv("AGENT_CHATTER_HUB"); urls != "" {
		c.Hub = c.Hub.WithURLs(urls)
	}
	const prefix = "AGENT_CHATTER_RETENTION_"
	r := &c.Retention
	for name, set := range map[string]func(string) error{
		"AUTO":          func(v string) (err error) { r.Auto, err = parseAuto(v); return err },
		"KEEP":          func(v string) (err error) { r.Keep, err = parseKeep(v); return err },
		"ARCHIVE_AFTER": func(v string) (err error) { r.ArchiveAfter, err = parseDays(v); return err },
		"DELETE_AFTER":  func(v string) (err error) { r.DeleteAfter, err = parseDays(v); return err },
	} {
		if v := os.Getenv(prefix + name); v != "" {
			if err := set(v); err != nil {
				return c, fmt.Errorf("%s%s: %w", prefix, name, err)
			}
		}
	}
	return c, nil
}

func parseAuto(text string) (*bool, error) {
	auto, err := strconv.ParseBool(text)
	if err != nil {
		return nil, fmt.Errorf("%q is neither true nor false", text)
	}
	return &auto, nil
}

func parseDays(text string) (*Days, error) {
	d := new(Days)
	return d, d.UnmarshalText([]byte(text))
}

func parseKeep(text string) (*int, error) {
	keep, err := strconv.Atoi(text)
	if err != nil || keep < 0 {
		return nil, fmt.Errorf("%q is not a number of sessions, 0 or more", text)
	}
	return &keep, nil
}

// Days is a duration such as 30d or 12h.
type Days time.Duration

// UnmarshalText reads a number of days, such as 30d, or a duration as time.ParseDuration
// does. A negative duration is an error.
func (d *Days) UnmarshalText(text []byte) error {
	s := string(text)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		number, err := strconv.ParseFloat(days, 64)
		if err == nil && number >= 0 && number < 1e5 {
			*d = Days(number * float64(24*time.Hour))
			return nil
		}
	}
	span, err := time.ParseDuration(s)
	if err != nil || span < 0 {
		return fmt.Errorf("invalid duration %q; try 7d", s)
	}
	*d = Days(span)
	return nil
}
