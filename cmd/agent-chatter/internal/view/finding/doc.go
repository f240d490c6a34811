// Package finding shows on a terminal what a command has found: a line for each finding, after a sign that says
// whether it is good, and a last line that sums up.
//
// A finding is an app.Finding. What helps follows it on lines of its own; a command stays whole, so that it can be
// copied. In a pipe, and on a terminal without control sequences, a command prints its own lines instead.
package finding
