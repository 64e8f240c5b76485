package telemetry

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/tracectx"
)

func BenchmarkCount(b *testing.B) {
	m := New()
	b.ReportAllocs()
	for b.Loop() {
		m.Requests.WithLabelValues("gpt-oss", "200").Inc()
	}
}

func BenchmarkCountOfArms(b *testing.B) {
	m, arms := New(), []string{"short-prompt/long"}
	b.ReportAllocs()
	for b.Loop() {
		m.Hits.WithLabelValues(Labels("gpt-oss", arms, "exec.yaml", "read-only")...).Inc()
	}
}

func BenchmarkCountParallel(b *testing.B) {
	m := New()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Requests.WithLabelValues("gpt-oss", "200").Inc()
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	m, at := New(), tracectx.Place{Trace: "4bf92f3577b34da6a3ce929d0e0e4736", Span: "00f067aa0ba902b7", Kept: true}
	for name, at := range map[string]tracectx.Place{"Plain": {}, "Exemplar": at} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Observe(m.Whole.WithLabelValues("true"), .2, at)
			}
		})
	}
}

func BenchmarkInferred(b *testing.B) {
	m := New()
	r := &Inference{Model: "gpt-oss", Upstream: "main", Provider: "vllm", Asked: "openai/gpt-oss-20b", Took: 3 * time.Second, First: 30 * time.Millisecond, Stream: true, Input: 100, Output: 5}
	b.ReportAllocs()
	for b.Loop() {
		m.Inferred(r)
	}
}

func BenchmarkPage(b *testing.B) {
	m := New()
	for _, model := range []string{"a", "b", "c"} {
		m.Requests.WithLabelValues(model, "200").Inc()
		m.Inferred(&Inference{Model: model, Stream: true, Took: 1, First: 1, Input: 1})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
}
