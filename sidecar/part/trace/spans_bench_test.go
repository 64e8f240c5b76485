package trace_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// nowhere takes spans and forgets them.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }

func (nowhere) Shutdown(context.Context) error { return nil }

// What it costs a turn that it is traced: off, with traces of which none is kept, with all of them.
func BenchmarkTraced(b *testing.B) {
	for _, mode := range []string{"off", "dropped", "kept"} {
		b.Run(mode, func(b *testing.B) {
			cfg := provider.Setup{Server: "vllm"}
			if mode != "off" {
				sampler := map[string]sdktrace.Sampler{"dropped": sdktrace.NeverSample(),
					"kept": sdktrace.AlwaysSample()}[mode]
				with := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler),
					sdktrace.WithBatcher(nowhere{}))
				defer func() { _ = with.Shutdown(context.Background()) }()
				cfg.Spans = telemetry.NewTracer(with.Tracer("bench"))
			}
			benchTurn(b, cfg)
		})
	}
}

func benchTurn(b *testing.B, cfg provider.Setup) {
	const said = `{"id":"x","object":"chat.completion","model":"gpt-oss","choices":[{"index":0,"message":{"role":"assistant","content":"It is done."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`
	r := provider.Start(b, cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, said)
	}))
	h, body := r.Sidecar.Handler(), provider.Body(provider.BothTools)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		q := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/chat/completions",
			strings.NewReader(body))
		if h.ServeHTTP(w, q); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
