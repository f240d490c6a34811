// Package chattest has a conversation that is typed on a terminal, for tests that have the same one elsewhere and
// compare the journals.
package chattest
