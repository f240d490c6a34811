// Package progress shows on one line of a terminal what is running, and how far it is.
package progress
