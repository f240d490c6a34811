package agent

import "golang.org/x/sys/unix"

// fionread asks how much can be read. Its number depends on the processor.
const fionread = unix.TIOCINQ
