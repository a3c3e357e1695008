package oracle

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// begin is the zero of the recordings' clock, too.
var begin = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// TestWitness schedules the cluster on standard input, one attempt after the other, each when all
// that the last one caused has happened.
func TestWitness(t *testing.T) {
	asked := read(t)
	out := json.NewEncoder(os.Stdout)
	// The scheduler asks for this signal, too; what serves signals has to be begun out here.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2)
	utilruntime.ErrorHandlers = nil // one of them sleeps, by the time of the day
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(begin))
		ctx, cancel := context.WithCancel(t.Context())
		w, err := newWorld(ctx, asked, 1)
		if err != nil {
			write(t, out, started{"kube-scheduler " + release, err.Error()})
			cancel()
			return
		}
		witness(t, ctx, w, asked, out)
		cancel()
		w.sched.SchedulingQueue.Close()
		w.factory.Shutdown()
		time.Sleep(10 * time.Second) // what looks only now and then whether it is to end
	})
}

func witness(t *testing.T, ctx context.Context, w *world, asked request, out *json.Encoder) {
	write(t, out, started{RecordedFrom: "kube-scheduler " + release})
	recorder, err := record(ctx, w)
	if err == nil {
		err = w.start(ctx)
	}
	for _, object := range asked.Objects {
		if err != nil {
			break
		}
		time.Sleep(time.Millisecond)
		err = w.add(object)
		synctest.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; asked.MaxAttempts == 0 || n < asked.MaxAttempts; n++ {
		time.Sleep(time.Millisecond)
		now, popped := time.Since(begin).Milliseconds(), false
		go func() {
			w.sched.ScheduleOne(ctx)
			popped = true
		}()
		synctest.Wait()
		if !popped {
			break
		}
		if made := recorder.finish(); made != nil {
			made.T = now
			write(t, out, made)
		}
	}
	write(t, out, final{nodesOfPods(t, w)})
}

func nodesOfPods(t *testing.T, w *world) map[string]string {
	found, err := w.stored.List(pods, v1.SchemeGroupVersion.WithKind("Pod"), "")
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]string{}
	for _, pod := range found.(*v1.PodList).Items {
		nodes[keyOf(&pod)] = pod.Spec.NodeName
		if assumed, err := w.sched.Cache.GetPod(&pod); err == nil { // also if its binding waits
			nodes[keyOf(&pod)] = assumed.Spec.NodeName
		}
	}
	return nodes
}

func read(t *testing.T) request {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		t.Fatal(err)
	}
	return asked
}

func write(t *testing.T, out *json.Encoder, document any) {
	if err := out.Encode(document); err != nil {
		t.Fatal(err)
	}
}
