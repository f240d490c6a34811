//go:build linux || darwin

package tty

import "golang.org/x/sys/unix"

// processOutput lets a terminal in raw mode print a newline as a carriage return and a
// line feed, as in its usual mode.
func processOutput(fd uintptr) error {
	settings, err := unix.IoctlGetTermios(int(fd), getTermios)
	if err != nil {
		return err
	}
	settings.Oflag |= unix.OPOST | unix.ONLCR
	return unix.IoctlSetTermios(int(fd), setTermios, settings)
}
