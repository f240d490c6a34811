package chart

import (
	"slices"
	"time"
)

// An axis maps times to places. Long pauses take little of it, so that work is visible.
type axis struct {
	works  []work
	scale  float64 // pixels of a second of work
	pauses int     // that are shortened
}

// A work is a time without a long pause, and where it begins.
type work struct {
	from, to time.Time
	at       float64 // in pixels
}

// The measures of an axis.
const (
	leastPause = 2 * time.Minute // that is shortened
	mostPauses = 40              // that are shortened; the limit is longer if there would be more
	pauseWidth = 10.0            // pixels
)

// newAxis returns the axis of spans on a width in pixels.
func newAxis(spans []span, width float64) *axis {
	byStart := slices.Clone(spans)
	slices.SortStableFunc(byStart, func(a, b span) int { return a.from.Compare(b.from) })
	a := &axis{}
	for pause := leastPause; ; pause *= 2 {
		a.divide(byStart, pause)
		if len(a.works) <= mostPauses {
			break
		}
	}
	total := 0.0
	for _, w := range a.works {
		total += w.to.Sub(w.from).Seconds()
	}
	a.pauses = max(len(a.works)-1, 0)
	a.scale = (width - pauseWidth*float64(a.pauses)) / max(total, 1)
	at := 0.0
	for i, w := range a.works {
		a.works[i].at = at
		at += w.to.Sub(w.from).Seconds()*a.scale + pauseWidth
	}
	return a
}

// divide divides the time of spans at pauses of a length.
func (a *axis) divide(spans []span, pause time.Duration) {
	a.works = nil
	for _, s := range spans {
		to := s.to
		if to.Before(s.from) {
			to = s.from
		}
		n := len(a.works)
		if n == 0 || s.from.Sub(a.works[n-1].to) >= pause {
			a.works = append(a.works, work{from: s.from, to: to})
		} else if to.After(a.works[n-1].to) {
			a.works[n-1].to = to
		}
	}
}

// at returns the place of a time.
func (a *axis) at(t time.Time) float64 {
	i, _ := slices.BinarySearchFunc(a.works, t, func(w work, t time.Time) int { return w.to.Compare(t) })
	if i == len(a.works) {
		i--
	}
	if i < 0 {
		return 0
	}
	w := a.works[i]
	return w.at + max(t.Sub(w.from).Seconds(), 0)*a.scale
}
