// Package stretch reads the events around a place in a journal, without those far from it.
package stretch
