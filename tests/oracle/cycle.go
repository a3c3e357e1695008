package oracle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// recorder writes down what the scheduler decides in one attempt.
type recorder struct {
	sched   *scheduler.Scheduler
	scorers map[string]map[string]fwk.ScorePlugin // by profile and name: for scores before normalising
	weights map[string]map[string]int64
	current *attempt
	victims []string
}

// record has every attempt written down from now on.
func record(ctx context.Context, w *world) (*recorder, error) {
	r := &recorder{
		sched:   w.sched,
		scorers: map[string]map[string]fwk.ScorePlugin{},
		weights: map[string]map[string]int64{},
	}
	for _, profile := range w.profiles {
		if err := r.findScorers(ctx, profile); err != nil {
			return nil, err
		}
	}
	w.onDeleted = func(pod string) { r.victims = append(r.victims, pod) }
	schedulePod, handleFailure := w.sched.SchedulePod, w.sched.FailureHandler
	w.sched.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		r.current = r.begin(ctx, profile, pod)
		result, err := schedulePod(ctx, profile, state, pod)
		r.current.Node = result.SuggestedHost
		r.current.EvaluatedNodes, r.current.FeasibleNodes = result.EvaluatedNodes, result.FeasibleNodes
		return result, err
	}
	w.sched.FailureHandler = func(ctx context.Context, profile framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominated *fwk.NominatingInfo, start time.Time) {
		r.fail(status, nominated)
		handleFailure(ctx, profile, pod, status, nominated, start)
	}
	return r, nil
}

// findScorers finds the profile's Score plugins, as the framework does not tell raw scores. Of those
// that wait for no event it tells nothing; they are made once more.
func (r *recorder) findScorers(ctx context.Context, profile config.KubeSchedulerProfile) error {
	found, weights := map[string]fwk.ScorePlugin{}, map[string]int64{}
	handle := r.sched.Profiles[profile.SchedulerName]
	for _, plugin := range handle.EnqueueExtensions() {
		if scorer, ok := plugin.(fwk.ScorePlugin); ok {
			found[plugin.Name()] = scorer
		}
	}
	args := map[string]runtime.Object{}
	for _, each := range profile.PluginConfig {
		args[each.Name] = each.Args
	}
	for _, enabled := range handle.ListPlugins().Score.Enabled {
		weights[enabled.Name] = int64(enabled.Weight)
		if found[enabled.Name] != nil {
			continue
		}
		plugin, err := plugins.NewInTreeRegistry()[enabled.Name](ctx, args[enabled.Name], handle)
		if err != nil {
			return err
		}
		found[enabled.Name] = plugin.(fwk.ScorePlugin)
	}
	r.scorers[profile.SchedulerName], r.weights[profile.SchedulerName] = found, weights
	return nil
}

// begin filters and scores all nodes with another state: the attempt itself may stop early.
func (r *recorder) begin(ctx context.Context, profile framework.Framework, queued *framework.QueuedPodInfo) *attempt {
	a := &attempt{Pod: keyOf(queued.Pod), Attempt: queued.Attempts, Result: "scheduled"}
	pod, state := queued.Pod, framework.NewCycleState()
	nodes, err := profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(nodes) == 0 {
		return a
	}
	a.NodeOrder = namesOf(nodes)
	narrowed, status, _ := profile.RunPreFilterPlugins(ctx, state, pod)
	a.PreFilter = &preFilter{Status: documentOf(status), Skipped: listOf(state.GetSkipFilterPlugins())}
	if !status.IsSuccess() {
		return a
	}
	if !narrowed.AllNodes() {
		a.PreFilter.NodeNames = listOf(narrowed.NodeNames)
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(node fwk.NodeInfo) bool {
			return !narrowed.NodeNames.Has(node.Node().Name)
		})
	}
	var feasible []fwk.NodeInfo
	a.Filter = map[string]statusDocument{}
	for _, node := range nodes {
		if status := profile.RunFilterPluginsWithNominatedPods(ctx, state, pod, node); status.IsSuccess() {
			feasible = append(feasible, node)
		} else {
			a.Filter[node.Node().Name] = documentOf(status)
		}
	}
	a.Feasible = namesOf(feasible)
	if len(feasible) > 0 {
		r.rate(ctx, profile, state, pod, feasible, a)
	}
	return a
}

func (r *recorder) rate(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo, a *attempt) {
	if !profile.HasScorePlugins() || !profile.RunPreScorePlugins(ctx, state, pod, nodes).IsSuccess() {
		return
	}
	a.PreScore = &preScore{Skipped: listOf(state.GetSkipScorePlugins())}
	rated, status := profile.RunScorePlugins(ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return
	}
	a.Scores, a.Totals = map[string]score{}, map[string]int64{}
	for i, node := range rated {
		a.Totals[node.Name] = node.TotalScore
		for _, weighted := range node.Scores {
			r.note(ctx, profile.ProfileName(), state, pod, nodes[i], weighted, a.Scores)
		}
	}
	best := slices.Max(slices.Collect(maps.Values(a.Totals)))
	for name, total := range a.Totals {
		if total == best {
			a.TopNodes = append(a.TopNodes, name)
		}
	}
	slices.Sort(a.TopNodes)
}

// note writes down what one plugin gives one node.
func (r *recorder) note(ctx context.Context, profile string, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, weighted fwk.PluginScore, scores map[string]score) {
	weight := r.weights[profile][weighted.Name]
	if _, known := scores[weighted.Name]; !known {
		scores[weighted.Name] = score{weight, map[string]int64{}, map[string]int64{}}
	}
	raw, _ := r.scorers[profile][weighted.Name].Score(ctx, state, pod, node)
	scores[weighted.Name].Raw[node.Node().Name] = raw
	scores[weighted.Name].Normalized[node.Node().Name] = weighted.Score / weight
}

// fail writes down why an attempt, or its binding, came to nothing.
func (r *recorder) fail(status *fwk.Status, nominated *fwk.NominatingInfo) {
	a := r.current
	if a == nil { // a binding that had to wait, after its attempt was told
		return
	}
	var unfit *framework.FitError
	switch err := status.AsError(); {
	case errors.As(err, &unfit):
		a.Result = "unschedulable"
		a.UnschedulablePlugins = listOf(unfit.Diagnosis.UnschedulablePlugins)
	case status.IsRejected():
		a.Result = "unschedulable"
	case a.Node != "":
		a.Result = "bindError"
	default:
		a.Result = "error"
	}
	a.Message = status.AsError().Error()
	switch {
	case nominated == nil:
	case nominated.NominatingMode == fwk.ModeOverride:
		a.Nominating = nominating{"override", nominated.NominatedNodeName}
	default:
		a.Nominating = nominating{"noop", nominated.NominatedNodeName}
	}
}

// finish returns what was written down of the last attempt, nil if the pod was not attempted.
func (r *recorder) finish() *attempt {
	a := r.current
	if a != nil {
		a.Victims = r.victims
	}
	r.current, r.victims = nil, nil
	return a
}

func namesOf(nodes []fwk.NodeInfo) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return names
}
