package main

import (
	"math"
	"runtime"
	"time"
)

const (
	rounds = 200
	// Short enough to fit between two things that the machine does for others.
	round = 2 * time.Millisecond
)

type cost struct {
	Nanoseconds float64 `json:"nanoseconds"`
	Allocations float64 `json:"allocations"`
}

// measure tells what one time of work costs. How often it is done in a round is found out first.
func measure(work func(times int)) cost {
	times := 1
	for {
		start := time.Now()
		work(times)
		if took := time.Since(start); took >= round/4 {
			times = max(1, int(float64(times)*float64(round)/float64(took)))
			break
		}
		times *= 2
	}
	fastest := math.Inf(1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		start := time.Now()
		work(times)
		fastest = min(fastest, float64(time.Since(start).Nanoseconds())/float64(times))
	}
	runtime.ReadMemStats(&after)
	return cost{
		Nanoseconds: fastest,
		Allocations: math.Round(float64(after.Mallocs-before.Mallocs) / float64(rounds*times)),
	}
}

// heap tells what is reachable. Two rounds, since the first one may leave things to be finalized.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
