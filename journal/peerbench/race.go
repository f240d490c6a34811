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

// result has the time that the middle one of a turn's batches took, of each
// contestant in each round.
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
			took, err := timed(stores[i], batches)
			if err != nil {
				return res, fmt.Errorf("%s: %w", in[i].name, err)
			}
			if round > 0 { // in the first one files, caches and code get warm
				res.times[in[i].name] = append(res.times[in[i].name], took)
			}
		}
	}
	return res, nil
}

// timed is how long a batch takes, the middle one of those given, when neither
// the garbage of the contestant before nor the unwritten pages of an earlier
// round get in the way. What happens once in many batches is not in it, as when
// something else gets the processor, or SQLite works its log into the database.
func timed(s store, batches [][][]byte) (time.Duration, error) {
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
