//go:build !linux && !darwin

package remote

import "net"

// checkPeer checks nothing: the directory of the socket keeps other users out.
func checkPeer(*net.UnixConn, int) error { return nil }
