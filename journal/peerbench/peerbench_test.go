package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkAppend measures the contestants one after another. To compare them, use
// go run ., which alternates between them.
func BenchmarkAppend(b *testing.B) {
	for _, s := range settings {
		for _, size := range sizes {
			for _, c := range s.contestants() {
				b.Run(fmt.Sprintf("sync=%v/batch=%d/size=%d/%s", s.sync, s.batch, size, filepath.Base(c.name)),
					func(b *testing.B) {
						st, err := c.start(b.TempDir(), s)
						if err != nil {
							b.Fatal(err)
						}
						defer st.close()
						batch := entries(rand.New(rand.NewPCG(1, 1)), s.batch, size)
						b.SetBytes(int64(s.batch * size))
						b.ReportAllocs()
						for b.Loop() {
							if err := st.append(batch); err != nil {
								b.Fatal(err)
							}
						}
					})
			}
		}
	}
}

func TestContestantsStoreEveryEntry(t *testing.T) {
	for _, s := range settings {
		for _, c := range s.contestants() {
			t.Run(fmt.Sprintf("%s, %s", s, c.name), func(t *testing.T) {
				dir := t.TempDir()
				st, err := c.start(dir, s)
				if err != nil {
					t.Fatal(err)
				}
				all := entries(rand.New(rand.NewPCG(1, 1)), 3*s.batch, 300)
				for i := 0; i < len(all); i += s.batch {
					if err := st.append(all[i : i+s.batch]); err != nil {
						t.Fatal(err)
					}
				}
				if err := st.close(); err != nil {
					t.Fatal(err)
				}
				kept := content(t, dir)
				for i, e := range all {
					if !bytes.Contains(kept, e) {
						t.Errorf("entry %d is not in any file", i)
					}
				}
			})
		}
	}
}

func TestTableHasARowPerContestant(t *testing.T) {
	s := setting{batch: 2}
	r, err := race{dir: t.TempDir(), setting: s, size: 300, rounds: 2, turn: 3}.run()
	if err != nil {
		t.Fatal(err)
	}
	rows := table{s, []result{r}}.markdown()
	for _, c := range s.contestants() {
		if !strings.Contains(rows, "\n| "+c.name+" | ") {
			t.Errorf("no row for %s:\n%s", c.name, rows)
		}
	}
	if !strings.Contains(rows, "\n| bare file | 1.00 (1.00–1.00) |\n") {
		t.Errorf("the bare file is not the base:\n%s", rows)
	}
}

// content returns the concatenated content of all files in a directory.
func content(t *testing.T, dir string) (all []byte) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
