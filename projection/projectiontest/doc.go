// Package projectiontest makes events and sessions of any length for tests and benchmarks.
package projectiontest
