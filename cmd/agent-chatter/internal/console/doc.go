// Package console shows conversations: on a terminal with a live region, elsewhere as plain lines.
//
// What has been said is printed once and stays in the terminal's own scrollback. Below it is the live
// region: what an agent is saying, the input box, and a status row. A [Model] is the pure part: events
// of the terminal go in, rows come out. A [Console] connects it to a terminal and to a conversation. One that only
// shows has no input box and reads nothing, so that it can run in the background. A [Printer] has no live region.
//
// # Concurrency
//
// The goroutines that read keys, draw, print the conversation and ask a question share the Model under a
// lock. Only the goroutine that draws writes to the terminal, without the lock, so that keys are read while
// the terminal does not take any output.
package console
