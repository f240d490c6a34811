package process

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// A group is the program alone: what the program starts is not tracked, keeps running, and is
// waited for while it holds standard output.
type group struct{ leader *os.Process }

func leadGroup(*exec.Cmd) {}

// terminate kills the program: Windows has no signal that asks.
func (g group) terminate() { g.kill() }

func (g group) interrupt() { g.kill() }

func (g group) kill() { _ = g.leader.Kill() }

// awaitEnd returns at once: the program was reaped.
func (g group) awaitEnd(<-chan time.Time) bool { return true }

// unread is not called: pipes have no deadlines on Windows, and are read to their end.
func unread(*os.File) (int, error) { return 0, errors.ErrUnsupported }
