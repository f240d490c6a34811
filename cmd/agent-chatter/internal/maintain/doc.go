// Package maintain has the commands that check and maintain stored sessions: verify,
// repair, reindex, compact, clean and restore.
//
// Verify reads journals and caches and reports what is damaged; repair sets damaged
// lines aside. Reindex rebuilds the caches. Compact and clean apply retention: they
// archive sessions or move them to the trash, and restore takes one out of it.
package maintain
