package agent

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// A group is the program of a turn alone: what the program starts is not followed, lives on,
// and is waited for while it holds standard output.
type group struct{ leader *os.Process }

func leadGroup(*exec.Cmd) {}

// terminate kills the program: there is no signal that asks.
func (g group) terminate() { g.kill() }

func (g group) interrupt() { g.kill() }

func (g group) kill() { _ = g.leader.Kill() }

// awaitEnd has nothing to wait for once the program was reaped.
func (g group) awaitEnd(<-chan time.Time) bool { return true }

// unread is not asked: pipes have no deadlines there, and are read to their end.
func unread(*os.File) (int, error) { return 0, errors.ErrUnsupported }
