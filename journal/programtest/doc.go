// Package programtest finds the programs and npm packages that tests use.
package programtest
