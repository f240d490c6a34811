// Package tty reads from and writes to terminals: keys, frames of lines and rows, and safe text.
//
// A [Terminal] reports keys and gives the terminal back at the end, however the program ends. A [Screen] draws on it.
//
// Safe text has no control character but newline and tab, and none that changes the
// direction of writing, so that it cannot move the cursor, change colours or hide
// itself. All untrusted text passes through [Safe] or [SafeLine].
package tty
