// Package tty reads from and writes to terminals: keys and edited lines, safe text,
// tables, wrapped lines and a spinner.
//
// Safe text has no control character but newline and tab, and none that changes the
// direction of writing, so that it cannot move the cursor, change colours or hide
// itself. All untrusted text passes through [Safe] or [SafeLine].
package tty
