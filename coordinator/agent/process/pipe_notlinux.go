//go:build unix && !linux

package process

// fionread requests the number of readable bytes. The value is the same on all BSD systems;
// golang.org/x/sys does not define it.
const fionread = 0x4004667f
