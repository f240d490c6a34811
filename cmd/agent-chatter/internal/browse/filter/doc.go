// Package filter selects and orders the sessions that the browser lists, by keys.
package filter
