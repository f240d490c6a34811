// Package home locates the home, the directory with the sessions of a user, and decides which
// home's settings, agents and teams count.
package home
