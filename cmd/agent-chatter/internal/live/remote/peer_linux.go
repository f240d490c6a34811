package remote

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer checks that the process at the other end of a connection belongs to the user, and, unless pid is 0, that it
// is the process pid.
func checkPeer(c *net.UnixConn, pid int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return failed
	case int(peer.Uid) != os.Geteuid():
		return errors.New("the process at the socket belongs to another user")
	case pid != 0 && int(peer.Pid) != pid:
		return errors.New("another process listens on the socket")
	}
	return nil
}
