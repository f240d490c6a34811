// Package figures measures what agent-chatter costs: start, first paint, the echo
// of a key, disk space, resume, list, search, archive, read, follow and a hub, each next
// to something comparable. It builds the program and runs it as a process of its own for
// each measurement.
//
// The tests are the measurements; the README says how to run them. It is a module
// of its own so that users of the packages do not depend on it.
package figures
