// Package programtest finds the programs that tests run.
package programtest
