// Package sessioncopy writes sessions whose events come from elsewhere: forks
// and merges of sessions in a catalog, and imports of journals and of other
// programs' sessions.
//
// # Memory
//
// A copy is written in batches, so that memory stays within a few megabytes
// whatever the length of the session. Merge also holds about 150 bytes for each event
// that only the first session has, and Import what the reader of the source holds.
//
// # Recovery
//
// A failed call removes the session that it began. A crash leaves a valid
// session that is shorter: a fork or a merge under an id that was not returned
// to a caller, or an import that continues when it is repeated.
//
// # Concurrency
//
// A session may be appended to while it is being copied; the copy ends at an
// event. The session that is written is locked. Import and ImportEvents compare
// the existing session before they lock it, and return catalog.ErrChanged if it
// grew in between.
package sessioncopy
