// Package historytest checks, at the end of a test, the sessions of machines that share a hub against what they
// acknowledged to people.
//
// While the test runs, it notes each Acknowledged. At the end, when all machines have shipped and fetched everything,
// Check compares the journals of all machines and the copies of the hub with these notes. An event is recognized by
// its time, type and data: a fork has it with another sequence number and another sum.
//
// The package shares no code with those that it checks.
package historytest
