// Command peerbench measures the cost of durability in a journal, compared to a bare
// file and to other logs and stores that a Go program could use.
//
// A contestant appends batches of entries. An append returns when the batch is on
// the disk or, in the runs without sync, when the operating system has it. All
// contestants of a run append the same entries; one that cannot append without a sync
// is left out of the runs without sync. In every round each of them gets a turn, in random
// order, so that other load on the disk affects all of them.
//
// For each contestant and round, the result is the median time of a batch in its
// turn, as a multiple of the bare file's in the same round. A table for each
// setting shows the median, the smallest and the largest of all rounds, without a first
// one that warms up. Only such ratios are reproducible: the speed of a disk changes from
// minute to minute.
//
// It is a module of its own, so that users of the journal do not download its
// peers.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	rounds := flag.Int("rounds", 40, "number of rounds of each run")
	turn := flag.Int("turn", 10, "number of batches that a contestant appends per round")
	dir := flag.String("dir", "", "existing directory on the disk to measure (default: that for temporary files)")
	flag.Parse()
	if *rounds < 1 || *turn < 1 {
		fmt.Fprintln(os.Stderr, "peerbench: -rounds and -turn must be at least 1")
		os.Exit(2)
	}
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
