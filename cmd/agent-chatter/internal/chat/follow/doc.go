// Package follow prints a session while it is written, and the newest messages of one.
package follow
