//go:build linux || darwin

package remote

import (
	"errors"
	"net"
	"os"
)

// checkPeer checks that the process at the other end of a connection belongs to the user, and, unless pid is 0 or the
// system does not say it, that it is the process pid.
func checkPeer(c *net.UnixConn, pid int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var uid, found int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, found, failed = peerOf(int(fd)) }); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return failed
	case uid != os.Geteuid():
		return errors.New("the process at the socket belongs to another user")
	case pid != 0 && found != 0 && found != pid:
		return errors.New("another process listens on the socket")
	}
	return nil
}
