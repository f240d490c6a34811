// Package letters compares texts by their letters, however these are encoded: composed or decomposed, and in any case.
package letters
