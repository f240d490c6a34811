// Package turnstest has sessions for tests of timelines, and compares what is shown of them with golden files.
package turnstest
