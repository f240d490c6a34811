//go:build unix && !linux

package agent

// fionread asks how much can be read. It is the same wherever it comes from BSD, and
// golang.org/x/sys does not name it.
const fionread = 0x4004667f
