//go:build unix

package agenttest

import (
	"os/exec"
	"os/signal"
	"syscall"
)

// apart puts the program into a session of its own, as agents do with their tools.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// ignoreSignals makes this program one that has to be killed.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM) }
