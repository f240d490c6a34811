package hint

import "strings"

// Nearest returns the name that is most similar to a misspelled word, in upper or lower case, and false if none
// is similar. Of two, it is the first.
func Nearest(word string, names []string) (nearest string, ok bool) {
	word = strings.ToLower(word)
	least := (len(word) + 2) / 3 // the largest distance of a similar name
	for _, name := range names {
		d := max(len(word)-len(name), len(name)-len(word)) // at least
		switch {
		case len(word) > 2 && strings.HasPrefix(name, word):
			d = 1
		case d <= least: // else no memory is used for a word of any length
			d = distance(word, strings.ToLower(name))
		}
		if d < len(word) && (d < least || d == least && !ok) {
			nearest, least, ok = name, d, true
		}
	}
	return nearest, ok
}

// distance returns the least number of bytes to insert, delete or replace, or of neighbours to swap, that make
// one word of the other. No byte is changed twice.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1) // rows[i][j] is the distance of a[:i] and b[:j]
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0:
				rows[i][j] = j
			case j == 0:
				rows[i][j] = i
			default:
				replaced := rows[i-1][j-1]
				if a[i-1] != b[j-1] {
					replaced++
				}
				rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
