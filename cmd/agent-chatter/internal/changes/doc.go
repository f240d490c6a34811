// Package changes makes the changes of sessions that the browser and the served page offer, each as the command
// of the same name makes it.
//
// A [Change] begins when it is requested and runs in a goroutine of its own: nothing that a
// screen draws waits for it. The changes of one session run one after another, in the order
// in which they were requested. [Changes.Wait] waits for all of them before the program ends.
//
// A change works on the session as it is when the change runs, not as a list showed it.
// Errors are for app.Explain, which names the commands that help.
package changes
