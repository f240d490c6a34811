package tty

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A waiter waits for input without reading it, so that another program can be given the console.
type waiter struct {
	in   windows.Handle
	wake windows.Handle // an event, for interrupt
}

func newWaiter(in *os.File) (*waiter, error) {
	wake, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateEvent", err)
	}
	return &waiter{windows.Handle(in.Fd()), wake}, nil
}

func (w *waiter) close() error { return windows.CloseHandle(w.wake) }

// interrupt ends the next wait.
func (w *waiter) interrupt() { _ = windows.SetEvent(w.wake) }

// wait waits for input, for interrupt, or for a time; below 0 without limit. A resize of the window is an interrupt,
// after which the caller compares the size.
func (w *waiter) wait(limit time.Duration) waited {
	milliseconds := uint32(windows.INFINITE)
	if limit >= 0 {
		milliseconds = uint32(limit.Milliseconds())
	}
	for {
		object, err := windows.WaitForMultipleObjects([]windows.Handle{w.wake, w.in}, false, milliseconds)
		switch {
		case err != nil:
			return readable // the error is that of the read
		case object == windows.WAIT_OBJECT_0:
			return interrupted
		case object == uint32(windows.WAIT_TIMEOUT):
			return timedOut
		}
		switch next, err := w.peek(); {
		case err != nil || next.isText():
			return readable
		case next.kind == bufferSizeEvent:
			return interrupted
		}
	}
}

// inputRecord is an INPUT_RECORD of the console: a KEY_EVENT_RECORD, or another event of at most that size.
type inputRecord struct {
	kind      uint16
	_         uint16
	keyDown   int32
	repeat    uint16
	keyCode   uint16
	scanCode  uint16
	character uint16
	modifiers uint32
}

const (
	keyEvent        = 1
	bufferSizeEvent = 4
	altKeyCode      = 0x12 // its release enters the character of a number that was typed
)

// isText reports whether a read returns at least a byte for the event.
func (r inputRecord) isText() bool {
	return r.kind == keyEvent && r.character != 0 && (r.keyDown != 0 || r.keyCode == altKeyCode)
}

var (
	kernel32         = windows.NewLazySystemDLL("kernel32.dll")
	peekConsoleInput = kernel32.NewProc("PeekConsoleInputW")
	readConsoleInput = kernel32.NewProc("ReadConsoleInputW")
)

// peek returns the next event. It takes an event that is no text, for which a read would block.
func (w *waiter) peek() (next inputRecord, err error) {
	for _, call := range []*windows.LazyProc{peekConsoleInput, readConsoleInput} {
		var n uint32
		ok, _, err := call.Call(uintptr(w.in), uintptr(unsafe.Pointer(&next)), 1, uintptr(unsafe.Pointer(&n)))
		switch {
		case ok == 0:
			return inputRecord{}, err
		case n == 0, next.isText():
			return next, nil
		}
	}
	return next, nil
}
