package telemetry

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

const traceID, spanID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// A traceparent goes on as it came if it is one, and tracestate only beside it.
func TestIncoming(t *testing.T) {
	good := "00-" + traceID + "-" + spanID + "-01"
	for name, c := range map[string]struct {
		parents, states []string
		trace, state    string
	}{
		"one":                   {[]string{good}, []string{"a=1"}, traceID, "a=1"},
		"several states":        {[]string{good}, []string{"a=1", "b=2"}, traceID, "a=1,b=2"},
		"a long state":          {[]string{good}, []string{strings.Repeat("a", 2000)}, traceID, ""},
		"none":                  {nil, []string{"a=1"}, "", ""},
		"two":                   {[]string{good, good}, []string{"a=1"}, "", ""},
		"a later version":       {[]string{"01" + good[2:] + "-more"}, nil, traceID, ""},
		"more, in this version": {[]string{good + "-more"}, nil, "", ""},
		"no such version":       {[]string{"ff" + good[2:]}, nil, "", ""},
		"large letters":         {[]string{strings.ToUpper(good)}, nil, "", ""},
		"no trace": {[]string{"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01"}, nil, "",
			""},
		"no span": {[]string{"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01"}, nil, "",
			""},
		"other signs": {[]string{"00_" + traceID + "_" + spanID + "_01"}, nil, "", ""},
		"cut":         {[]string{good[:54]}, nil, "", ""},
	} {
		p := Incoming(http.Header{"Traceparent": c.parents, "Tracestate": c.states}, "r1")
		out := http.Header{}
		p.Set(out)
		if p.Trace != c.trace || out.Get("tracestate") != c.state || p.Request != "r1" ||
			(c.trace != "") != (out.Get("traceparent") != "") {
			t.Errorf("%s: %+v %v", name, p, out)
		}
		if c.trace != "" && out.Get("traceparent") != c.parents[0] {
			t.Errorf("%s: %v", name, out)
		}
	}
}

// FuzzIncoming: whatever comes, what goes on is what came, and has the form of the standard.
func FuzzIncoming(f *testing.F) {
	f.Add("00-"+traceID+"-"+spanID+"-01", "a=1")
	f.Add("cc-"+traceID+"-"+spanID+"-01-x", "")
	f.Fuzz(func(t *testing.T, parent, state string) {
		p := Incoming(http.Header{"Traceparent": {parent}, "Tracestate": {state}}, "")
		if p.Parent != "" && (p.Parent != parent || len(p.Trace) != 32 ||
			!strings.Contains(parent, p.Trace)) || p.Parent == "" && p.State != "" {
			t.Errorf("%+v", p)
		}
	})
}

// A line says where it belongs: by its context, or by the one that the log was bound to. What it says
// itself stays.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewLogHandler(slog.NewJSONHandler(&out, nil)))
	ctx := WithPlace(context.Background(), Place{Request: "r1", Trace: traceID, Span: spanID})
	other := WithPlace(context.Background(), Place{Request: "r2", Trace: "t2", Span: "s2"})
	for _, c := range []struct {
		name     string
		say      func()
		has, not []string
	}{
		{"nothing known", func() { log.Info("a") }, nil, []string{"trace_id", "request"}},
		{"by its context", func() { log.InfoContext(ctx, "a") }, []string{`"request":"r1"`, `"trace_id":"` + traceID, `"span_id":"` + spanID}, nil},
		{"bound", func() { BindLog(log, ctx).Info("a") }, []string{`"request":"r1"`, `"trace_id":"` + traceID}, nil},
		{"bound, and another context", func() { BindLog(log, ctx).InfoContext(other, "a") }, []string{`"request":"r2"`, `"trace_id":"t2"`}, []string{"r1"}},
		{"bound, with attributes", func() { BindLog(log, ctx).With("k", 1).WithGroup("g").Info("a", "x", 1) }, []string{`"request":"r1"`, `"k":1`}, nil},
		{"one of its own", func() { log.InfoContext(ctx, "a", "request", "own") }, []string{`"request":"own"`, `"trace_id":"` + traceID}, []string{"r1"}},
	} {
		out.Reset()
		c.say()
		for _, want := range c.has {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in %s", c.name, want, &out)
			}
		}
		for _, not := range c.not {
			if strings.Contains(out.String(), not) {
				t.Errorf("%s: %s in %s", c.name, not, &out)
			}
		}
	}
	plain := slog.New(slog.NewTextHandler(&out, nil))
	if BindLog(plain, ctx) != plain || BindLog(log, context.Background()) != log {
		t.Error("a log is bound that writes no places")
	}
}
