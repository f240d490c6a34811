// Package projectiontest writes sessions of any length, for tests and
// benchmarks that need many events and do not care what is said.
package projectiontest
