package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"
)

// race is one run of all contestants that support a setting, with entries of one
// size.
type race struct {
	dir     string
	setting setting
	size    int
	rounds  int
	turn    int // batches that a contestant appends per round
}

// result has, for each contestant and round, the median time of a batch.
type result struct {
	size  int
	times map[string][]time.Duration
}

func (r race) run() (res result, err error) {
	dir, err := os.MkdirTemp(r.dir, "race")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	in := r.setting.contestants()
	stores := make([]store, len(in))
	for i, c := range in {
		if stores[i], err = c.start(dir, r.setting); err != nil {
			return res, err
		}
		defer func() { err = errors.Join(err, stores[i].close()) }()
	}
	res = result{r.size, map[string][]time.Duration{}}
	random := rand.New(rand.NewPCG(1, uint64(r.size)))
	for round := range r.rounds + 1 {
		batches := make([][][]byte, r.turn)
		for i := range batches {
			batches[i] = entries(random, r.setting.batch, r.size)
		}
		for _, i := range random.Perm(len(in)) {
			took, err := medianTime(stores[i], batches)
			if err != nil {
				return res, fmt.Errorf("%s: %w", in[i].name, err)
			}
			if round > 0 { // the first one warms up files, caches and code
				res.times[in[i].name] = append(res.times[in[i].name], took)
			}
		}
	}
	return res, nil
}

// medianTime returns the median time of a batch. It collects the garbage of the
// previous contestant before, and syncs unwritten pages after. The median excludes
// rare delays, such as another process on the processor, or a checkpoint of SQLite.
func medianTime(s store, batches [][][]byte) (time.Duration, error) {
	runtime.GC()
	times := make([]time.Duration, len(batches))
	for i, b := range batches {
		start := time.Now()
		if err := s.append(b); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	return median(times), s.settle()
}
