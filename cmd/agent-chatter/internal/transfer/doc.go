// Package transfer has the commands that move sessions between homes and programs:
// export and import.
//
// Export writes sessions as Markdown, HTML, JSON, journals, snapshots, bundles or
// transcripts of other programs, and replaces secrets. Import reads journals, bundles,
// snapshots and transcripts. Importing a source again adds only its new messages.
package transfer
