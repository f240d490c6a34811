package web

import (
	"crypto/rand"
	"os"
	"runtime"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// The bounds of a token in a file, in bytes.
const (
	leastToken = 20
	mostToken  = 1000
)

// NewToken returns a random token.
func NewToken() string { return strings.ToLower(rand.Text()) }

// ReadToken reads a token that only the user can read. Its errors are those of a command.
func ReadToken(path string) (string, error) {
	text, err := regularfile.Read(path, mostToken)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", app.Exit(app.ExitUsage, tokenSharedText(path))
	}
	token := strings.TrimSpace(string(text))
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '&' }
	if len(token) < leastToken || strings.ContainsFunc(token, odd) {
		return "", app.UsageError("The token in %s must have at least %d visible ASCII characters other than &.",
			tty.SafeLine(path), leastToken)
	}
	return token, nil
}

func tokenSharedText(path string) app.Message {
	return app.Text("Other users can read the token in %s.", tty.SafeLine(path)).
		With(app.ToRun("make it private", "chmod", "600", path))
}
