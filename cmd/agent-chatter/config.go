package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// config is the content of config.json in the home. All of it is optional.
type config struct {
	Retention retention `json:"retention"`
	Window    window    `json:"window"`
}

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
	ArchiveAfter *days `json:"archiveAfter"`
	DeleteAfter  *days `json:"deleteAfter"`
}

func (c config) auto() bool { return c.Retention.Auto == nil || *c.Retention.Auto }

func (c config) policy() catalog.Policy {
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

// config reads the file, and the environment over it.
func (a *app) config() (config, error) {
	var c config
	path := filepath.Join(a.home, "config.json")
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
	case err != nil:
		return c, err
	default:
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := c.Retention.fromEnvironment(); err != nil {
		return c, err
	}
	if c.Retention.Keep != nil && *c.Retention.Keep < 0 {
		return c, fmt.Errorf("%s: retention.keep is a number of sessions, 0 or more", path)
	}
	if c.Window.Messages < 0 || c.Window.Bytes < 0 {
		return c, fmt.Errorf("%s: window has numbers of messages and bytes, 0 for the usual", path)
	}
	return c, nil
}

func (r *retention) fromEnvironment() error {
	const prefix = "AGENT_CHATTER_RETENTION_"
	for name, set := range map[string]func(string) error{
		"AUTO":          func(v string) (err error) { r.Auto, err = parsed(strconv.ParseBool(v)); return err },
		"KEEP":          func(v string) (err error) { r.Keep, err = parsed(strconv.Atoi(v)); return err },
		"ARCHIVE_AFTER": func(v string) error { r.ArchiveAfter = new(days); return r.ArchiveAfter.UnmarshalText([]byte(v)) },
		"DELETE_AFTER":  func(v string) error { r.DeleteAfter = new(days); return r.DeleteAfter.UnmarshalText([]byte(v)) },
	} {
		if v := os.Getenv(prefix + name); v != "" {
			if err := set(v); err != nil {
				return usageError("%s%s: %v", prefix, name, err)
			}
		}
	}
	return nil
}

func parsed[T any](v T, err error) (*T, error) { return &v, err }

// days is a span of time such as 30d or 12h; zero is none.
type days time.Duration

// UnmarshalText reads a number with d for days, or what time.ParseDuration
// reads.
func (d *days) UnmarshalText(text []byte) error {
	s := string(text)
	if n := len(s) - 1; n > 0 && s[n] == 'd' {
		number, err := strconv.ParseFloat(s[:n], 64)
		if err == nil && number >= 0 && number < 1e5 {
			*d = days(number * float64(24*time.Hour))
			return nil
		}
	}
	span, err := time.ParseDuration(s)
	if err != nil || span < 0 {
		return fmt.Errorf("%q is no span of time such as 30d or 12h", s)
	}
	*d = days(span)
	return nil
}
