// Package place warns of places on the disk in which a session is less safe.
package place
