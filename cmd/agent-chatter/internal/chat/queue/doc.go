// Package queue describes who speaks next, and why.
package queue
