package tty

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// EnableSequences makes a console interpret control sequences, and reports whether it does. It reports
// true for what is no console. The console stays so for the programs that follow.
func EnableSequences(w io.Writer) bool {
	out, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return true
	}
	var mode uint32
	console := windows.Handle(out.Fd())
	if windows.GetConsoleMode(console, &mode) != nil || mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 {
		return true
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// settings are the modes of a console.
type settings struct{ in, out uint32 }

// hungUp returns true: what ends the input of a console ends it for good.
func hungUp(*os.File) bool { return true }

func currentSettings(in, out *os.File) (s settings, err error) {
	if err := windows.GetConsoleMode(windows.Handle(in.Fd()), &s.in); err != nil {
		return s, &os.PathError{Op: "read the mode of the console", Path: in.Name(), Err: err}
	}
	if err := windows.GetConsoleMode(windows.Handle(out.Fd()), &s.out); err != nil {
		return s, &os.PathError{Op: "read the mode of the console", Path: out.Name(), Err: err}
	}
	return s, nil
}

// raw returns modes in which every key is input, as terminals send it, and control sequences work.
func (s settings) raw() settings {
	s.in &^= windows.ENABLE_ECHO_INPUT | windows.ENABLE_PROCESSED_INPUT | windows.ENABLE_LINE_INPUT |
		windows.ENABLE_MOUSE_INPUT
	s.in |= windows.ENABLE_VIRTUAL_TERMINAL_INPUT | windows.ENABLE_WINDOW_INPUT
	s.out |= windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_WRAP_AT_EOL_OUTPUT |
		windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	s.out &^= windows.DISABLE_NEWLINE_AUTO_RETURN
	return s
}

func (s settings) apply(in, out *os.File) error {
	if err := windows.SetConsoleMode(windows.Handle(in.Fd()), s.in); err != nil {
		return &os.PathError{Op: "change the mode of the console", Path: in.Name(), Err: err}
	}
	if err := windows.SetConsoleMode(windows.Handle(out.Fd()), s.out); err != nil {
		return &os.PathError{Op: "change the mode of the console", Path: out.Name(), Err: err}
	}
	return nil
}
