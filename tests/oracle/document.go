package oracle

import (
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// request is the JSON document on standard input: a cluster, and how it is scheduled.
// Objects are complete, as the API server stores them, and in order of creation.
type request struct {
	Config       json.RawMessage   `json:"config"`
	FeatureGates map[string]bool   `json:"featureGates"`
	Objects      []json.RawMessage `json:"objects"`
	MaxAttempts  int               `json:"maxAttempts"`
}

// The lines on standard output, one JSON document each: what runs, every attempt, and the end.

type started struct {
	RecordedFrom string `json:"recordedFrom"`
	ConfigError  string `json:"configError,omitempty"`
}

// attempt has the fields of a recorded cycle (tests/conformance/data/README.md). Filtering and
// scoring are those of all nodes, evaluatedNodes and feasibleNodes those of the attempt itself.
type attempt struct {
	T         int64      `json:"t"`
	Pod       string     `json:"pod"`
	Attempt   int        `json:"attempt"`
	Result    string     `json:"result"`
	Node      string     `json:"node,omitempty"`
	NodeOrder []string   `json:"nodeOrder"`
	PreFilter *preFilter `json:"preFilter,omitempty"`

	Filter   map[string]statusDocument `json:"filter,omitempty"`
	PreScore *preScore                 `json:"preScore,omitempty"`
	Scores   map[string]score          `json:"scores,omitempty"`
	Totals   map[string]int64          `json:"totals,omitempty"`
	TopNodes []string                  `json:"topNodes,omitempty"`
	Feasible []string                  `json:"feasible,omitempty"`

	EvaluatedNodes int `json:"evaluatedNodes,omitempty"`
	FeasibleNodes  int `json:"feasibleNodes,omitempty"`

	Message              string     `json:"message,omitempty"`
	UnschedulablePlugins []string   `json:"unschedulablePlugins,omitempty"`
	Nominating           nominating `json:"nominating,omitzero"`
	Victims              []string   `json:"victims,omitempty"`
}

type preFilter struct {
	Status    statusDocument `json:"status"`
	Skipped   []string       `json:"skipped,omitempty"`
	NodeNames []string       `json:"nodeNames,omitempty"`
}

type preScore struct {
	Skipped []string `json:"skipped,omitempty"`
}

type score struct {
	Weight     int64            `json:"weight"`
	Raw        map[string]int64 `json:"raw"`
	Normalized map[string]int64 `json:"normalized"`
}

type nominating struct {
	Mode string `json:"mode"`
	Node string `json:"node"`
}

// final says of every pod that is still there which node the scheduler has it on, "" for none.
type final struct {
	Final map[string]string `json:"final"`
}

type statusDocument struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func documentOf(status *fwk.Status) statusDocument {
	if status.IsSuccess() { // also if it is nil
		return statusDocument{Code: fwk.Success.String()}
	}
	document := statusDocument{Code: status.Code().String(), Plugin: status.Plugin()}
	if status.Code() == fwk.Error {
		document.Error = status.Message()
	}
	document.Reasons = slices.Sorted(slices.Values(status.Reasons()))
	return document
}

func keyOf(pod *v1.Pod) string {
	return pod.Namespace + "/" + pod.Name
}

func listOf(names sets.Set[string]) []string {
	return sets.List(names)
}
