package telemetry

import (
	"testing"
)

func BenchmarkCount(b *testing.B) {
	m := New()
	b.ReportAllocs()
	for b.Loop() {
		m.Hits.WithLabelValues(Labels("gpt-oss", []string{"short-prompt/long"}, "exec.yaml",
			"read-only")...).Inc()
	}
}

func BenchmarkInferred(b *testing.B) {
	m, at := New(), Place{Trace: "4bf92f3577b34da6a3ce929d0e0e4736", Span: "00f067aa0ba902b7",
		Kept: true}
	r := Inference{Model: "gpt-oss", Upstream: "main", Provider: "vllm", Asked: "gpt-oss:20b", Took: 3,
		First: 1, Stream: true, Input: 100, At: at}
	b.ReportAllocs()
	for b.Loop() {
		m.CountInference(&r)
	}
}
