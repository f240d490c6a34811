// Package runecut cuts UTF-8 text to a number of bytes without splitting a rune.
//
// Bytes that are not UTF-8 are kept: only the first or last bytes of a valid
// encoding that the cut would divide are dropped, at most three.
package runecut
