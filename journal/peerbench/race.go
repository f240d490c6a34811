package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"
)

// race is one run of all contestants that know a setting, with entries of one
// size.
type race struct {
	dir     string
	setting setting
	size    int
	rounds  int
	turn    int // batches that a contestant appends in a round
}

// result has the time that a batch took, of each contestant in each round.
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
		for i := range in {
			i = (i + round) % len(in)
			took, err := timed(stores[i], batches)
			if err != nil {
				return res, fmt.Errorf("%s: %w", in[i].name, err)
			}
			if round > 0 { // in the first one files, caches and code get warm
				res.times[in[i].name] = append(res.times[in[i].name], took/time.Duration(r.turn))
			}
		}
	}
	return res, nil
}

// timed is how long the batches take, when neither the garbage of the
// contestant before nor the unwritten pages of an earlier round get in the way.
func timed(s store, batches [][][]byte) (time.Duration, error) {
	runtime.GC()
	start := time.Now()
	for _, b := range batches {
		if err := s.append(b); err != nil {
			return 0, err
		}
	}
	took := time.Since(start)
	return took, s.settle()
}
