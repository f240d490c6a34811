// Package projectiontest generates sessions of any length for tests and benchmarks.
package projectiontest
