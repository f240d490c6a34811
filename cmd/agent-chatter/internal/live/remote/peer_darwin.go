package remote

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer checks that the process at the other end of a connection belongs to the user.
func checkPeer(c *net.UnixConn, _ int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Xucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return failed
	case int(peer.Uid) != os.Geteuid():
		return errors.New("the process at the socket belongs to another user")
	}
	return nil
}
