//go:build unix

package tty

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// handled are the signals that an open terminal handles. SIGTSTP is not one of them: it does not come from the
// terminal, and a shell has taken the terminal back when a parent in the group has stopped, before a handler could.
var handled = []os.Signal{syscall.SIGWINCH, syscall.SIGCONT}

// handleSignals turns signals into events until Close.
func (t *Terminal) handleSignals() {
	for s := range t.signals {
		switch s {
		case syscall.SIGWINCH:
			t.notice(Resize{})
		case syscall.SIGCONT: // after a stop that was no Suspend, the shell has changed the settings
			t.retake()
			t.notice(Resize{})
		}
	}
}

// stopGroup stops the process group until it is continued. The group of the session's leader has no shell that would
// continue it, so it is not stopped. No parent in the group may catch the signal.
func (t *Terminal) stopGroup() error {
	session, err := unix.Getsid(0)
	if err != nil || session == unix.Getpgrp() {
		return err
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return err
	}
	<-continued
	return nil
}
