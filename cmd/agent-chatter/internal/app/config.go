package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// config is the content of config.json in the home. All of it is optional.
type Config struct {
	Retention retention `json:"retention"`
	Window    window    `json:"window"`
	Journal   limits    `json:"journal"`
	Redaction redaction `json:"redaction"`
}

// redaction says whether secrets are replaced before anything is kept.
type redaction string

// The values of redaction; "" is on.
const (
	redactionOn  redaction = "on"
	redactionOff redaction = "off"
)

// limits are those of journals.
type limits struct {
	MaxLine int `json:"maxLine"` // bytes that one event may take; 0: 64 MiB
}

// The limit of a line is at least what a session with a large team begins with,
// and at most what fits into memory a few times.
const (
	minMaxLine = 64 << 10
	maxMaxLine = 1 << 30
)

// window is how much of a conversation agents are shown; 0 is the usual.
type window struct {
	Messages int `json:"messages"` // 20
	Bytes    int `json:"bytes"`    // 256 KiB
}

// retention says what becomes of old sessions. Environment variables say the
// same: AGENT_CHATTER_RETENTION_AUTO, _KEEP, _ARCHIVE_AFTER, _DELETE_AFTER.
type retention struct {
	Auto         *bool `json:"auto"` // also at the end of each chat, not only by compact; true
	Keep         *int  `json:"keep"`
	ArchiveAfter *Days `json:"archiveAfter"`
	DeleteAfter  *Days `json:"deleteAfter"`
}

func (c Config) Auto() bool { return c.Retention.Auto == nil || *c.Retention.Auto }

func (c Config) KeepSecrets() bool { return c.Redaction == redactionOff }

func (c Config) Policy() catalog.Policy {
	p, r := catalog.DefaultPolicy, c.Retention
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

// readConfig reads the file at path. One that is not there is empty.
func readConfig(path string) (c Config, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if c, err = decodeConfig(data); err == nil {
		err = c.check()
	}
	if err != nil {
		return c, &configError{path, configProblems(data, err)}
	}
	return c, nil
}

// decodeConfig reads one JSON object and nothing else.
func decodeConfig(data []byte) (c Config, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Config{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Config{}, errors.New("there is more than one JSON object in it")
	}
	return c, nil
}

// check says what no configuration may ask for.
func (c Config) check() error {
	switch line := c.Journal.MaxLine; {
	case c.Retention.Keep != nil && *c.Retention.Keep < 0:
		return errors.New("retention.keep is a number of sessions, 0 or more")
	case c.Window.Messages < 0 || c.Window.Bytes < 0:
		return errors.New("window has numbers of messages and bytes, 0 for the usual")
	case c.Redaction != "" && c.Redaction != redactionOn && c.Redaction != redactionOff:
		return fmt.Errorf("redaction is %q or %q", redactionOn, redactionOff)
	case line != 0 && (line < minMaxLine || line > maxMaxLine):
		return fmt.Errorf("journal.maxLine is a number of bytes from %d to %d, 0 for the usual %d", minMaxLine, maxMaxLine, journal.DefaultMaxLine)
	}
	return nil
}

func (r *retention) fromEnvironment() error {
	const prefix = "AGENT_CHATTER_RETENTION_"
	for name, set := range map[string]func(string) error{
		"AUTO":          func(v string) (err error) { r.Auto, err = parseAuto(v); return err },
		"KEEP":          func(v string) (err error) { r.Keep, err = parseKeep(v); return err },
		"ARCHIVE_AFTER": func(v string) error { r.ArchiveAfter = new(Days); return r.ArchiveAfter.UnmarshalText([]byte(v)) },
		"DELETE_AFTER":  func(v string) error { r.DeleteAfter = new(Days); return r.DeleteAfter.UnmarshalText([]byte(v)) },
	} {
		if v := os.Getenv(prefix + name); v != "" {
			if err := set(v); err != nil {
				return UsageError("%s%s: %v", prefix, name, err)
			}
		}
	}
	return nil
}

func parseAuto(text string) (*bool, error) {
	auto, err := strconv.ParseBool(text)
	if err != nil {
		return nil, fmt.Errorf("%q is neither true nor false", text)
	}
	return &auto, nil
}

func parseKeep(text string) (*int, error) {
	keep, err := strconv.Atoi(text)
	if err != nil || keep < 0 {
		return nil, fmt.Errorf("%q is no number of sessions, 0 or more", text)
	}
	return &keep, nil
}

// days is a span of time such as 30d or 12h; zero is none.
type Days time.Duration

// UnmarshalText reads a number with d for days, or what time.ParseDuration
// reads.
func (d *Days) UnmarshalText(text []byte) error {
	s := string(text)
	if n := len(s) - 1; n > 0 && s[n] == 'd' {
		number, err := strconv.ParseFloat(s[:n], 64)
		if err == nil && number >= 0 && number < 1e5 {
			*d = Days(number * float64(24*time.Hour))
			return nil
		}
	}
	span, err := time.ParseDuration(s)
	if err != nil || span < 0 {
		return fmt.Errorf("%q is no span of time such as 30d or 12h", s)
	}
	*d = Days(span)
	return nil
}
