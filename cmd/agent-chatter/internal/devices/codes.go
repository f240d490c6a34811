package devices

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// The bounds of a code.
const (
	CodeTime  = 2 * time.Minute // for which a code is good
	codeChars = 12              // of 5 bits each
	maxWrong  = 10              // wrong codes in wrongTime, before the code is void and all others are refused
	wrongTime = time.Minute
)

// Codes has the code with which one device can be paired. Its methods may be called concurrently.
type Codes struct {
	now func() time.Time

	mu    sync.Mutex
	good  bool
	hash  [sha256.Size]byte // of the code
	grant Grant             // of it
	until time.Time
	wrong []time.Time // the times of wrong codes, the last maxWrong of them
}

// A Grant is what a code is good for.
type Grant struct {
	Role web.Role // of the device that is paired with it
	By   string   // the id of the device that asked for the code, and must still be paired; "": none did
}

// NewCodes returns a Codes without a code.
func NewCodes() *Codes { return &Codes{now: time.Now} }

// New returns a new code. Any other code is void.
func (c *Codes) New(g Grant) string {
	code := rand.Text()[:codeChars]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.good, c.hash, c.grant, c.until = true, sha256.Sum256([]byte(code)), g, c.now().Add(CodeTime)
	return code
}

// Errors of Take.
var (
	ErrCode  = errors.New("the code is wrong, was used or is too old")
	ErrTries = errors.New("there were too many wrong codes")
)

// Take returns what a code is good for, which is void after that. The error is ErrCode, or ErrTries
// without a comparison after too many wrong codes.
func (c *Codes) Take(code string) (Grant, error) {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	hash := sha256.Sum256([]byte(code))
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.tooMany(now) {
		return Grant{}, ErrTries
	}
	equal := subtle.ConstantTimeCompare(hash[:], c.hash[:]) == 1
	if equal && c.good && now.Before(c.until) {
		c.good = false
		return c.grant, nil
	}
	if c.wrong = append(c.wrong, now); len(c.wrong) > maxWrong {
		c.wrong = c.wrong[1:]
	}
	if c.tooMany(now) {
		c.good = false
	}
	return Grant{}, ErrCode
}

// tooMany reports whether there were maxWrong wrong codes in the time before now. The caller has locked them.
func (c *Codes) tooMany(now time.Time) bool {
	return len(c.wrong) == maxWrong && now.Sub(c.wrong[0]) < wrongTime
}
