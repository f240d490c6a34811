// Package catalog lists and loads sessions, and keeps the caches that make that
// cheap.
//
// A Catalog is the directory of all sessions; a Dir is one of its directories,
// with the sessions of one team. Its caches are computed from the journals:
//
//	<team>/sessions.json            the index: a row for each session
//	<team>/<ID>.checkpoint.json     the State of a session at one of its events
//
// If they are deleted, the answers about intact journals are the same, only
// slower.
//
// # Lists
//
// A Query selects, orders and pages sessions. Every list of the program is one:
// sessions, search, completion, pickers. Where a caller needs more than one
// page, Result.Matches has an Entry for each selected session; its row is
// decoded when Session is called.
//
// # Index
//
// A row is valid if its fold and row versions are this program's, and it has
// the size, modification time and inode of the session's file. If the file has
// only grown, its tail is folded, otherwise all of it. A file that is shorter
// than its row is reported as Session.Truncated. A journal that could not be
// read for another reason than damage is read again each time.
//
// A list calls stat for every file and reads the first part of every row, which
// decides whether the row is valid and where the session comes in the list. A
// crash may truncate the second part; the journal is then folded when that part
// is needed. The index is replaced under its own lock. Errors in writing it
// are ignored, since nothing is lost. For one changed session it is rewritten
// while the team has fewer than 1,000; a larger index is rewritten only by a
// list that had to read as many bytes of journals as the index has. Until then
// each list folds those tails.
//
// # Checkpoints
//
// A checkpoint is valid if the checksum of its own bytes matches, its fold version
// is this program's, and the line that ends at its offset has its sequence number
// and checksum. A crash leaves the old one, the new one, or an invalid one: then the
// journal is folded from its beginning.
package catalog
