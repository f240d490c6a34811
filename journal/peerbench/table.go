package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// table shows the results of one setting.
type table struct {
	setting setting
	columns []result
}

func (t table) markdown() string {
	var b strings.Builder
	row := func(first string, cell func(result) string) {
		fmt.Fprintf(&b, "| %s |", first)
		for _, r := range t.columns {
			fmt.Fprintf(&b, " %s |", cell(r))
		}
		b.WriteByte('\n')
	}
	row(t.setting.String(), func(r result) string { return fmt.Sprintf("%d B", r.size) })
	row("---", func(result) string { return "---" })
	base := contestants[0].name
	for _, c := range t.setting.contestants() {
		row(c.name, func(r result) string { return spread(ratios(r.times[c.name], r.times[base])) })
	}
	row("1 is", func(r result) string { return median(r.times[base]).Round(100 * time.Nanosecond).String() })
	return b.String()
}

// ratios divides the times of two contestants, round by round.
func ratios(times, base []time.Duration) (quotients []float64) {
	for i := range times {
		quotients = append(quotients, float64(times[i])/float64(base[i]))
	}
	return quotients
}

// spread formats the median, the smallest and the largest value.
func spread(values []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(values), slices.Min(values), slices.Max(values))
}

func median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
