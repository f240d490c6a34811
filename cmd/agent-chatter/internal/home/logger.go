package home

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// The log of a home: two renamed files of 1 MiB are kept beside the current one.
const (
	homeLimit = 1 << 20
	homeKeep  = 2
)

// LogOptions are the destinations of a Logger besides the log of the home. The zero
// LogOptions are none.
type LogOptions struct {
	Level  *string   // the minimum level for File or Stderr; nil: info for File, nothing for Stderr
	File   string    // a file to append to; "": Stderr
	Stderr io.Writer // not nil
}

// NewLogger returns a logger that writes records of level info or higher to the log of
// the home, which the first record creates if the home exists, and records of o.Level or higher to o.File or
// o.Stderr. Records must have no texts of messages and no secrets. A log of the home that
// cannot be written is no error: the logger drops its records.
func NewLogger(home string, o LogOptions) (*slog.Logger, error) {
	w := &writer{path: filepath.Join(home, "logs", "agent-chatter.log"), limit: homeLimit, keep: homeKeep}
	handlers := []slog.Handler{slog.NewTextHandler(w, nil).WithAttrs([]slog.Attr{slog.Int("pid", os.Getpid())})}
	level := slog.LevelInfo
	if o.Level != nil {
		if err := level.UnmarshalText([]byte(*o.Level)); err != nil {
			return nil, err
		}
	}
	out := o.Stderr
	if o.File != "" {
		f, err := os.OpenFile(o.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		out = f // until the process ends
	}
	if o.File != "" || o.Level != nil {
		handlers = append(handlers, slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(slog.NewMultiHandler(handlers...)), nil
}
