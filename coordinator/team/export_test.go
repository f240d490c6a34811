package team

import "os"

type ElsewhereError = elsewhereError

// CheckPlace is checkPlace.
func (t *Team) CheckPlace(f *os.File, path, baseDir string) error {
	return t.checkPlace(f, path, baseDir)
}
