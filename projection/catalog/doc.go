// Package catalog finds sessions on the disk and keeps the caches that make
// that cheap.
//
// A Catalog is the directory of all sessions, with one directory for each team;
// a Team is one of these. What a catalog keeps are caches, computed from
// journals and never believed against them:
//
//	<team>/sessions.json            the index: a row for each session
//	<team>/<ID>.checkpoint.json     the State of a session at one of its events
//
// Deleting them changes no answer about a sound journal, only how long it takes.
//
// # Index
//
// A row counts when its fold version is this program's, and size, modification
// time and inode of the session's file are those that it was made from. When
// the file is longer, and the line at the row's place still has the row's sum,
// only the tail is folded; otherwise everything. Session.Shrunk tells of a file
// that has become shorter than its row. What could not be read for another
// reason than damage is tried again every time. The index is replaced under a
// short lock of its own; when it cannot be written, nobody is told, for nothing
// is lost.
//
// A list describes every file and reads the beginning of every row, which says
// whether it counts and where it comes in the list; that is what it costs. The
// rest of a row is decoded, without reflection, when somebody asks for it. So a
// row of which a crash left the beginning counts, and what it lacks is folded
// when it is asked for. The end of a chat rewrites the index while a team
// has fewer than 1,000 sessions; a list rewrites a larger one only when it had to
// read as much as the index weighs. Until then it folds the few tails again.
//
// # Checkpoints
//
// A checkpoint counts when its fold version is this program's and a line with
// its sequence number and sum ends at its offset. A crash leaves the old one,
// the new one, or one that cannot be read: then the journal is folded from its
// beginning.
package catalog
