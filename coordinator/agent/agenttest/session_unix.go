//go:build unix

package agenttest

import (
	"os/exec"
	"os/signal"
	"syscall"
)

// detach makes the program lead a new session, as agents do with their tools.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// ignoreSignals makes this process end only when it is killed.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM) }
