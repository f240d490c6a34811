package devices

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// newCodes returns a Codes and the function that sets its clock forward.
func newCodes() (c *Codes, forward func(time.Duration)) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	c = NewCodes()
	c.now = func() time.Time { return now }
	return c, func(d time.Duration) { now = now.Add(d) }
}

func TestCodeIsGoodOnceAndForAShortTime(t *testing.T) {
	c, forward := newCodes()
	if _, err := c.Take(""); err != ErrCode {
		t.Errorf("without a code: %v", err)
	}
	code := c.New(Grant{Role: web.RoleAnswer})
	forward(CodeTime - 1)
	if g, err := c.Take(code); g.Role != web.RoleAnswer || err != nil {
		t.Errorf("in time: %q, %v", g.Role, err)
	}
	if _, err := c.Take(code); err != ErrCode {
		t.Errorf("once more: %v", err)
	}
	code = c.New(Grant{Role: web.RoleRead})
	forward(CodeTime)
	if _, err := c.Take(code); err != ErrCode {
		t.Errorf("too late: %v", err)
	}
	first := c.New(Grant{Role: web.RoleAll})
	second := c.New(Grant{Role: web.RoleRead})
	if _, err := c.Take(first); err != ErrCode {
		t.Errorf("after another code was made: %v", err)
	}
	if g, err := c.Take(" " + strings.ToLower(second[:4]+"-"+second[4:])); g.Role != web.RoleRead || err != nil {
		t.Errorf("typed: %q, %v", g.Role, err)
	}
	if len(code) < 8 || first == second {
		t.Errorf("the codes are %q, %q, %q", code, first, second)
	}
}

func TestWrongCodesAreCounted(t *testing.T) {
	c, forward := newCodes()
	code := c.New(Grant{Role: web.RoleAll})
	for i := range maxWrong - 1 {
		if _, err := c.Take("wrong"); err != ErrCode {
			t.Errorf("wrong code %d: %v", i, err)
		}
	}
	if _, err := c.Take(code); err != nil {
		t.Errorf("after %d wrong codes: %v", maxWrong-1, err)
	}
	code = c.New(Grant{Role: web.RoleAll})
	if _, err := c.Take("wrong"); err != ErrCode {
		t.Errorf("one more: %v", err)
	}
	for _, tried := range []string{code, c.New(Grant{Role: web.RoleAll}), "wrong"} {
		if _, err := c.Take(tried); err != ErrTries {
			t.Errorf("after too many: %v", err)
		}
	}
	forward(wrongTime)
	if _, err := c.Take(code); err != ErrCode {
		t.Errorf("the code is not void: %v", err)
	}
	if _, err := c.Take(c.New(Grant{Role: web.RoleRead})); err != nil {
		t.Errorf("a new code later: %v", err)
	}
	// The code that was there when they were too many is void, even if nothing is tried before it is allowed again.
	forward(wrongTime)
	code = c.New(Grant{Role: web.RoleAll})
	for range maxWrong {
		c.Take("wrong")
	}
	forward(wrongTime)
	if _, err := c.Take(code); err != ErrCode {
		t.Errorf("the code is not void: %v", err)
	}
}

func TestCodeIsTakenOnceByMany(t *testing.T) {
	c, _ := newCodes()
	code := c.New(Grant{Role: web.RoleAll})
	var taken atomic.Int32
	var running sync.WaitGroup
	for range 100 {
		running.Go(func() {
			if _, err := c.Take(code); err == nil {
				taken.Add(1)
			}
		})
	}
	running.Wait()
	if taken.Load() != 1 {
		t.Errorf("it was taken %d times", taken.Load())
	}
}
