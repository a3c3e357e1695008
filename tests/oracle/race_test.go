package oracle

import (
	"context"
	"encoding/json"
	"os"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

const (
	raceParallelism = 16
	patience        = time.Minute
)

type raced struct {
	RecordedFrom string  `json:"recordedFrom"`
	Bound        int     `json:"bound"`
	CPUSeconds   float64 `json:"cpuSeconds"`
	WallSeconds  float64 `json:"wallSeconds"`
}

// TestRace takes the processor time in which the scheduler, in real time and with its usual
// parallelism, binds all pending pods on standard input. Loading them does not count.
func TestRace(t *testing.T) {
	asked := read(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := newWorld(ctx, asked, raceParallelism)
	if err == nil {
		err = w.start(ctx)
	}
	for _, object := range asked.Objects {
		if err == nil {
			err = w.add(object)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	pending := 0
	for _, node := range nodesOfPods(t, w) {
		if node == "" {
			pending++
		}
	}
	waitFor(t, func() bool { queued, _ := w.sched.SchedulingQueue.PendingPods(); return len(queued) == pending })
	bound := make(chan struct{}, pending)
	w.onBound = func(*v1.Pod) { bound <- struct{}{} }

	start, cpu := time.Now(), processorTime(t)
	go w.sched.Run(ctx)
	for range pending {
		select {
		case <-bound:
		case <-time.After(patience):
			t.Fatalf("no pod was bound for %s; %d of %d were", patience, len(bound), pending)
		}
	}
	result := raced{"kube-scheduler " + release, pending, (processorTime(t) - cpu).Seconds(), time.Since(start).Seconds()}
	write(t, json.NewEncoder(os.Stdout), result)
}

func waitFor(t *testing.T, holds func() bool) {
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the scheduler has not heard of all pods")
		}
	}
}

// processorTime returns what all threads of this process have used so far.
func processorTime(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
