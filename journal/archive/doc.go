// Package archive compresses a journal into one file that can be read from any offset, and
// reads it back. It does not know what the bytes of a journal mean.
//
// An archive is a file of the zstd seekable format: frames of at most 16 MiB of the journal,
// each of which ends with a line, and a table of their sizes at the end, so that the end of
// a journal can be read alone. The zstd program decompresses it. A checksum covers the whole
// file. Files that other programs compressed are read, too, with or without a table.
//
// Write returns nil only if what it wrote reads back as the journal. A reader never returns
// other bytes without an error: frames have checksums, and a wrong table leads to lines that
// fail theirs.
//
// Writing takes 16 MiB of memory and the output for each of up to four processors; reading,
// a window of at most 16 MiB, and twice that where a part was prefetched.
package archive
