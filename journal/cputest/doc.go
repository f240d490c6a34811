// Package cputest measures processor time in tests that compare costs.
package cputest
