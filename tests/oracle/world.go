// Package oracle has the real kube-scheduler schedule a cluster that is read from JSON, over an
// API server in memory, and writes down every decision. It is built as a test binary, as only
// tests may run in virtual time (testing/synctest).
package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// maxUndelivered events wait in a watch before a write waits for them: the fake clientset's
// watches hold 100 and panic when there are more.
const maxUndelivered = 50

// release is the version of k8s.io/kubernetes, which the build says: a test binary does not know it.
var release string

var pods = v1.SchemeGroupVersion.WithResource("pods")

// world is an API server in memory, and a scheduler that watches it.
type world struct {
	client    *fake.Clientset
	stored    *tracker
	factory   informers.SharedInformerFactory
	sched     *scheduler.Scheduler
	profiles  []config.KubeSchedulerProfile
	watches   []watch.Interface
	onBound   func(pod *v1.Pod)
	onDeleted func(pod string)
	generated int
}

// newWorld starts a scheduler over an empty cluster. The gates hold for the whole process.
func newWorld(ctx context.Context, asked request, parallelism int32) (*world, error) {
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(asked.FeatureGates); err != nil {
		return nil, err
	}
	if errs := utilfeature.DefaultMutableFeatureGate.Validate(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	cfg, err := configuration(asked.Config)
	if err != nil {
		return nil, err
	}
	w := &world{client: fake.NewSimpleClientset(), profiles: cfg.Profiles}
	w.stored = &tracker{ObjectTracker: w.client.Tracker()}
	w.onBound, w.onDeleted = func(*v1.Pod) {}, func(string) {}
	w.serve()
	w.factory = informers.NewSharedInformerFactory(w.client, 0)
	w.sched, err = scheduler.New(ctx, w.client, w.factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithParallelism(parallelism),
	)
	return w, err
}

// start has the informers watch the cluster. What scores is asked for before, so that the
// informers it needs start, too.
func (w *world) start(ctx context.Context) error {
	w.factory.Start(ctx.Done())
	w.factory.WaitForCacheSync(ctx.Done())
	return w.sched.WaitForHandlersSync(ctx)
}

func configuration(text json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return latest.Default()
	}
	object, kind, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("%s is not a KubeSchedulerConfiguration", kind)
	}
	cfg.TypeMeta.APIVersion = kind.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

// add creates an object, as if somebody had written it to the API server.
func (w *world) add(text json.RawMessage) error {
	object, _, err := clientscheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return err
	}
	w.letWatchesCatchUp()
	return w.stored.Add(object)
}

// serve completes the fake clientset with what the scheduler asks of an API server.
func (w *world) serve() {
	w.client.PrependReactor("*", "*", clienttesting.ObjectReaction(w.stored))
	w.client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetVerb() != "get" && action.GetVerb() != "list" && action.GetVerb() != "watch" {
			w.letWatchesCatchUp()
		}
		return false, nil, nil
	})
	w.client.PrependReactor("create", "*", w.nameGenerated)
	w.client.PrependReactor("create", "pods", w.bind)
	w.client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deleted := action.(clienttesting.DeleteAction)
		w.onDeleted(deleted.GetNamespace() + "/" + deleted.GetName())
		return false, nil, nil
	})
	w.client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		opened, err := w.stored.Watch(action.GetResource(), action.GetNamespace())
		if err == nil {
			w.watches = append(w.watches, opened)
		}
		return true, opened, err
	})
}

// tracker gives each write a resource version: the scheduler ignores an update without a new one.
type tracker struct {
	clienttesting.ObjectTracker
	version atomic.Int64
}

func (t *tracker) Add(object runtime.Object) error {
	return errors.Join(t.mark(object), t.ObjectTracker.Add(object))
}

func (t *tracker) Create(kind schema.GroupVersionResource, object runtime.Object, namespace string, opts ...metav1.CreateOptions) error {
	return errors.Join(t.mark(object), t.ObjectTracker.Create(kind, object, namespace, opts...))
}

func (t *tracker) Update(kind schema.GroupVersionResource, object runtime.Object, namespace string, opts ...metav1.UpdateOptions) error {
	return errors.Join(t.mark(object), t.ObjectTracker.Update(kind, object, namespace, opts...))
}

func (t *tracker) Patch(kind schema.GroupVersionResource, object runtime.Object, namespace string, opts ...metav1.PatchOptions) error {
	return errors.Join(t.mark(object), t.ObjectTracker.Patch(kind, object, namespace, opts...))
}

func (t *tracker) mark(object runtime.Object) error {
	written, err := meta.Accessor(object)
	if err == nil {
		written.SetResourceVersion(strconv.FormatInt(t.version.Add(1), 10))
	}
	return err
}

func (w *world) letWatchesCatchUp() {
	for _, opened := range w.watches {
		for len(opened.ResultChan()) > maxUndelivered {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// bind does what the API server does with a Binding.
func (w *world) bind(action clienttesting.Action) (bool, runtime.Object, error) {
	binding, ok := action.(clienttesting.CreateAction).GetObject().(*v1.Binding)
	if !ok {
		return false, nil, nil
	}
	stored, err := w.stored.Get(pods, action.GetNamespace(), binding.Name)
	if err != nil {
		return true, nil, err
	}
	pod := stored.(*v1.Pod).DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	pod.Status.NominatedNodeName = ""
	if err := w.stored.Update(pods, pod, pod.Namespace); err != nil {
		return true, nil, err
	}
	w.onBound(pod)
	return true, binding, nil
}

// nameGenerated gives an object with generateName its name; then it is created.
func (w *world) nameGenerated(action clienttesting.Action) (bool, runtime.Object, error) {
	created, err := meta.Accessor(action.(clienttesting.CreateAction).GetObject())
	if err == nil && created.GetName() == "" && created.GetGenerateName() != "" {
		w.generated++
		created.SetName(fmt.Sprintf("%s%d", created.GetGenerateName(), w.generated))
	}
	return false, nil, nil
}
