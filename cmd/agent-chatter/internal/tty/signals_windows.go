package tty

import (
	"errors"
	"os"
)

// handled are the signals that an open terminal handles: a console sends none.
var handled = []os.Signal{}

func (t *Terminal) handleSignals() {}

func (t *Terminal) stopGroup() error { return errors.ErrUnsupported }
