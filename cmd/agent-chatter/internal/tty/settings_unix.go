//go:build unix

package tty

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// EnableSequences returns true: a terminal interprets control sequences. On Windows it makes a console do so.
func EnableSequences(io.Writer) bool { return true }

// settings are those of a terminal's driver.
type settings struct{ unix.Termios }

func currentSettings(in, _ *os.File) (settings, error) {
	s, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	if err != nil {
		return settings{}, &os.PathError{Op: "read the settings of the terminal", Path: in.Name(), Err: err}
	}
	return settings{*s}, nil
}

// hungUp reports whether a terminal, from which nothing could be read, has gone away.
func hungUp(in *os.File) bool {
	_, err := currentSettings(in, nil)
	return err != nil
}

// raw returns settings in which every key is input, and the output is processed as usual. A read does not block: after
// a stop of the process, the input that it waited for may be gone.
func (s settings) raw() settings {
	s.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	s.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	s.Cflag = s.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	s.Oflag |= unix.OPOST | unix.ONLCR
	s.Cc[unix.VMIN], s.Cc[unix.VTIME] = 0, 0
	return s
}

func (s settings) apply(in, out *os.File) error {
	// Another program may have made reads and writes fail instead of waiting.
	for _, file := range []*os.File{in, out} {
		if err := unix.SetNonblock(int(file.Fd()), false); err != nil {
			return &os.PathError{Op: "wait for the terminal", Path: file.Name(), Err: err}
		}
	}
	if err := unix.IoctlSetTermios(int(in.Fd()), setTermios, &s.Termios); err != nil {
		return &os.PathError{Op: "change the settings of the terminal", Path: in.Name(), Err: err}
	}
	return nil
}
