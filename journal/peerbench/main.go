// Command peerbench measures what durability costs in a journal, beside a bare
// file and beside other logs and stores that a Go program could keep its
// entries in.
//
// A contestant is given batches of entries and says when they are on the disk,
// or, in the runs without sync, when the system has them. All contestants get
// the same entries, and in every round each of them gets its turn, so that what
// else the disk is doing hits all of them; who comes behind whom is by chance.
//
// A figure is how much longer a contestant took for a batch, the middle one of
// its turn, than the bare file in the same round: the median of all rounds, and
// the smallest and largest. Only such
// ratios are worth keeping, a disk is another one every minute.
//
// It is a module of its own, so that nobody who uses a journal has to fetch its
// peers.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	rounds := flag.Int("rounds", 40, "rounds of each run")
	turn := flag.Int("turn", 10, "batches that a contestant appends in a round")
	dir := flag.String("dir", "", "directory on the disk to measure (default: a temporary one)")
	flag.Parse()
	if err := run(*dir, *rounds, *turn); err != nil {
		fmt.Fprintln(os.Stderr, "peerbench:", err)
		os.Exit(1)
	}
}

func run(dir string, rounds, turn int) error {
	dir, err := os.MkdirTemp(dir, "peerbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, s := range settings {
		t := table{setting: s}
		for _, size := range sizes {
			r, err := race{dir, s, size, rounds, turn}.run()
			if err != nil {
				return err
			}
			t.columns = append(t.columns, r)
		}
		fmt.Println(t.markdown())
	}
	return nil
}
