// Package trash keeps deleted journals until they are purged.
//
// The trash of a directory of journals is its subdirectory trash:
//
//	<ID>.jsonl, <ID>.jsonl.zst  the journal, live or archived
//	<ID>.aside-<n>              what was set aside from it, and earlier journals of that name
//	<ID>.attachments/           what package attachment keeps for it, and for earlier journals of that name
//	<ID>.trashed                when it was moved there, RFC 3339; may be missing
//
// Moving and restoring rename the files while the journal is locked. A crash leaves the
// journal in its place or in the trash; what it leaves elsewhere is found by the next call.
package trash
