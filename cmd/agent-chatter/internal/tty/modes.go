package tty

// The modes of a terminal while it is ours: bracketed paste, the kitty keyboard protocol, modifyOtherKeys of xterm,
// reports of the focus, a title of its own, and a hidden cursor. A terminal ignores those that it does not know.
const (
	modesOn  = "\x1b[?2004h" + kittyOn + "\x1b[>4;1m\x1b[?1004h\x1b[22;2t" + hideCursor
	modesOff = "\x1b[?2004l" + kittyOff + "\x1b[>4m\x1b[?1004l\x1b[23;2t" + wrapOn + showCursor
	kittyOn  = "\x1b[>1u"
	kittyOff = "\x1b[<u"
	mouseOff = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l"
)
