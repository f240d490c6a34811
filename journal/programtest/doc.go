// Package programtest finds the programs and npm packages that tests use, and decides what a test does if the system
// lacks something.
package programtest
