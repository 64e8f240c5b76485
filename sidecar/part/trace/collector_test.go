package trace

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metric "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a collector of OpenTelemetry: it takes OTLP over HTTP at a real socket, refuses what is not as
// the protocol has it, and keeps all that came.
type Collector struct {
	URL string
	t   testing.TB
	srv *httptest.Server

	mu       sync.Mutex
	status   int // that it answers; 0: it takes what comes
	traces   []*traces.ExportTraceServiceRequest
	metrics  []*metrics.ExportMetricsServiceRequest
	headers  http.Header // of the last request
	requests int
	more     chan struct{} // closed when something has come
}

// StartCollector listens at a free port of this machine.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, more: make(chan struct{})}
	c.listen("127.0.0.1:0")
	t.Cleanup(c.Stop)
	return c
}

func (c *Collector) listen(address string) {
	c.t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.srv = &httptest.Server{Listener: l, Config: &http.Server{Handler: c}}
	c.srv.Start()
	c.URL = "http://" + l.Addr().String()
}

// Stop ends it as a crash would: connections break, and its port closes.
func (c *Collector) Stop() {
	c.srv.CloseClientConnections()
	c.srv.Close()
}

// Again listens where it has listened before.
func (c *Collector) Again() {
	c.t.Helper()
	c.listen(c.srv.Listener.Addr().String())
}

// Answer is the status that it answers from now on; 0: it takes what comes.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// ServeHTTP takes one request.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	status := c.status
	c.requests++
	c.headers = r.Header.Clone()
	c.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	if err := c.take(r); err != nil {
		c.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *Collector) take(r *http.Request) error {
	if kind := r.Header.Get("Content-Type"); r.Method != http.MethodPost || kind != "application/x-protobuf" {
		return fmt.Errorf("content type %q", kind)
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		body = z
	}
	doc, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.URL.Path {
	case "/v1/traces":
		m := &traces.ExportTraceServiceRequest{}
		if err := proto.Unmarshal(doc, m); err != nil {
			return err
		}
		c.traces = append(c.traces, m)
	case "/v1/metrics":
		m := &metrics.ExportMetricsServiceRequest{}
		if err := proto.Unmarshal(doc, m); err != nil {
			return err
		}
		c.metrics = append(c.metrics, m)
	default:
		return fmt.Errorf("nothing is taken there")
	}
	close(c.more)
	c.more = make(chan struct{})
	return nil
}

// Requests is how many came, taken or not.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Header is one of the last request.
func (c *Collector) Header(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers.Get(name)
}

// Spans are all that came, in the order in which they ended.
func (c *Collector) Spans() (out []*trace.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.traces {
		for _, of := range m.ResourceSpans {
			for _, in := range of.ScopeSpans {
				out = append(out, in.Spans...)
			}
		}
	}
	return out
}

// Traces are all requests with spans.
func (c *Collector) Traces() []*traces.ExportTraceServiceRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.traces)
}

// Metrics are those of the last request that had any, by their names.
func (c *Collector) Metrics() map[string]*metric.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]*metric.Metric{}
	if len(c.metrics) == 0 {
		return out
	}
	for _, of := range c.metrics[len(c.metrics)-1].ResourceMetrics {
		for _, in := range of.ScopeMetrics {
			for _, m := range in.Metrics {
				out[m.Name] = m
			}
		}
	}
	return out
}

// Wait waits until what came is enough.
func (c *Collector) Wait(enough func() bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		c.mu.Lock()
		more := c.more
		c.mu.Unlock()
		if enough() {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			c.t.Fatal("the collector did not get it")
		}
	}
}

// Attributes are attributes by their names: strings, numbers, truth values, lists of strings.
func Attributes(list []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.Key] = v.IntValue
		case *common.AnyValue_DoubleValue:
			out[kv.Key] = v.DoubleValue
		case *common.AnyValue_BoolValue:
			out[kv.Key] = v.BoolValue
		case *common.AnyValue_ArrayValue:
			var texts []string
			for _, item := range v.ArrayValue.Values {
				texts = append(texts, item.GetStringValue())
			}
			out[kv.Key] = texts
		}
	}
	return out
}
