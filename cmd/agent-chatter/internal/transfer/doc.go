// Package transfer has the commands that move sessions between homes and programs:
// export and import.
//
// Export writes sessions as Markdown, HTML, JSON, journals, snapshots, bundles or
// transcripts of other programs, and replaces secrets. Import reads journals, bundles,
// snapshots and transcripts. Importing a source again adds only its new messages.
//
// Bundles are encrypted for recipients, and encrypted files decrypted, in the format of age
// (https://age-encryption.org/v1). A file that is imported may be compressed; that of a transcript of another program
// is read with those of its subagents.
package transfer
