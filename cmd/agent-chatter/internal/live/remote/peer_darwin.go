package remote

import "golang.org/x/sys/unix"

// peerOf returns the user at the other end of a socket. pid is 0: the process is not known.
func peerOf(fd int) (uid, pid int, err error) {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return int(peer.Uid), 0, nil
}
