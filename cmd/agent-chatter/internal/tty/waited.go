package tty

// waited is why a waiter has ended a wait.
type waited int

const (
	readable waited = iota // there is input, or reading it fails
	timedOut
	interrupted
)
