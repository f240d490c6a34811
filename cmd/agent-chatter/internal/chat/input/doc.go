// Package input reads the lines of a chat from flags, a pipe or a terminal without cursor movement. Package tty reads
// those of any other terminal.
package input
