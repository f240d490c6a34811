package process

import "golang.org/x/sys/unix"

// fionread requests the number of readable bytes. Its value depends on the architecture.
const fionread = unix.TIOCINQ
