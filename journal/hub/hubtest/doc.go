// Package hubtest has the tests that every engine of a hub passes, and an engine in memory.
package hubtest
