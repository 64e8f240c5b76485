package trace

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	wire "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Config configures a sender. All but Version must be set.
type Config struct {
	Settings
	Metrics *telemetry.Metrics
	Version string // of this program
	Log     *slog.Logger
}

// Sender sends spans and metrics to a collector by OTLP over HTTP, in the background, from a bounded queue.
// If the collector cannot keep up, data is lost and the log says so; requests never wait. A nil Sender
// sends nothing.
type Sender struct {
	traces  *sdktrace.TracerProvider // nil: none are sent
	metrics *sdkmetric.MeterProvider // nil: none are sent
	version string

	transports []*http.Transport
	losses     losses
	ending     atomic.Bool     // the program ends, so a failed delivery is not retried
	until      context.Context // ends all deliveries
	cut        context.CancelFunc
}

// Open starts to send if the settings name a collector; else the Sender is nil. Close must be called.
func Open(c Config) (*Sender, error) {
	if c.Settings.Traces.URL == "" && c.Settings.Metrics.URL == "" {
		return nil, nil
	}
	s := &Sender{version: c.Version, losses: losses{log: c.Log, lost: map[string]int{}}}
	s.until, s.cut = context.WithCancel(context.Background())
	err := s.sendSpans(c)
	if err == nil {
		err = s.sendMetrics(c)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(s.until))
	}
	return s, nil
}

func (s *Sender) sendSpans(c Config) error {
	to := c.Settings.Traces
	if to.URL == "" {
		return nil
	}
	d, err := s.delivery("spans", to)
	if err != nil {
		return err
	}
	out, err := otlptracehttp.New(s.until,
		otlptracehttp.WithEndpointURL(to.URL), otlptracehttp.WithHeaders(to.Headers),
		otlptracehttp.WithCompression(to.Compression),
		otlptracehttp.WithTLSClientConfig(nil), otlptracehttp.WithHTTPClient(d.client()),
		otlptracehttp.WithRetry(d.retry))
	if err != nil {
		return err
	}
	queue := sdktrace.NewBatchSpanProcessor(&spanExporter{out, d, c.Metrics})
	s.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(c.resource()),
		sdktrace.WithSampler(c.Sampler),
		sdktrace.WithSpanProcessor(countingProcessor{queue, c.Metrics}))
	return nil
}

func (s *Sender) sendMetrics(c Config) error {
	to := c.Settings.Metrics
	if to.URL == "" {
		return nil
	}
	d, err := s.delivery("metrics", to)
	if err != nil {
		return err
	}
	out, err := otlpmetrichttp.New(s.until,
		otlpmetrichttp.WithEndpointURL(to.URL), otlpmetrichttp.WithHeaders(to.Headers),
		otlpmetrichttp.WithCompression(otlpmetrichttp.Compression(to.Compression)),
		otlpmetrichttp.WithTLSClientConfig(nil),
		otlpmetrichttp.WithHTTPClient(d.client()),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig(d.retry)))
	if err != nil {
		return err
	}
	scope := instrumentation.Scope{Name: telemetry.TracerName, Version: c.Version,
		SchemaURL: semconv.SchemaURL}
	reader := sdkmetric.NewPeriodicReader(&metricExporter{out, d}, sdkmetric.WithInterval(c.Interval),
		sdkmetric.WithProducer(&producer{from: c.Metrics, scope: scope, since: time.Now()}))
	s.metrics = sdkmetric.NewMeterProvider(sdkmetric.WithResource(c.resource()), sdkmetric.WithReader(reader))
	return nil
}

// resource describes this program to the collector.
func (c *Config) resource() *resource.Resource {
	var list []attribute.KeyValue
	if c.Version != "" {
		list = append(list, semconv.ServiceVersion(c.Version))
	}
	for key, value := range c.Resource {
		list = append(list, attribute.String(key, value)) // of two, the last counts
	}
	return resource.NewWithAttributes(semconv.SchemaURL, list...)
}

// Tracer returns the tracer; nil: no spans are sent.
func (s *Sender) Tracer() *telemetry.Tracer {
	if s == nil || s.traces == nil {
		return nil
	}
	version, schema := trace.WithInstrumentationVersion(s.version), trace.WithSchemaURL(semconv.SchemaURL)
	return telemetry.NewTracer(s.traces.Tracer(telemetry.TracerName, version, schema))
}

// Close sends what is left, until ctx ends.
func (s *Sender) Close(ctx context.Context) (err error) {
	if s == nil {
		return nil
	}
	s.ending.Store(true)
	stop := context.AfterFunc(ctx, s.cut)
	var metrics sync.WaitGroup
	if s.metrics != nil {
		metrics.Go(func() { _ = s.metrics.Shutdown(ctx) }) // the exporter has told what is lost
	}
	if s.traces != nil {
		err = s.traces.Shutdown(ctx)
	}
	metrics.Wait()
	stop()
	s.cut()
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
	return err
}

// countingProcessor counts the ended spans that will be sent.
type countingProcessor struct {
	sdktrace.SpanProcessor
	metrics *telemetry.Metrics
}

// OnEnd implements sdktrace.SpanProcessor.
func (c countingProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.metrics.Telemetry.WithLabelValues("ended").Inc()
	}
	c.SpanProcessor.OnEnd(s)
}

// spanExporter returns no errors: they are logged, and the queue could not use them.
type spanExporter struct {
	sdktrace.SpanExporter
	by      *delivery
	metrics *telemetry.Metrics
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *spanExporter) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	lost := e.by.deliver(ctx, len(list), func(ctx context.Context) error {
		return e.SpanExporter.ExportSpans(ctx, list)
	})
	e.metrics.Telemetry.WithLabelValues("sent").Add(float64(len(list) - lost))
	e.metrics.Telemetry.WithLabelValues("lost").Add(float64(lost))
	return nil
}

type metricExporter struct {
	sdkmetric.Exporter
	by *delivery
}

// Export delivers metrics within its own time, which the end of the program does not cut short.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	n := 0
	for i := range m.ScopeMetrics {
		n += len(m.ScopeMetrics[i].Metrics)
	}
	e.by.deliver(context.WithoutCancel(ctx), n, func(ctx context.Context) error {
		return e.Exporter.Export(ctx, m)
	})
	return nil
}

// delivery sends one kind of data to the collector, one request at a time. It is the HTTP client of an
// exporter of OpenTelemetry, which builds and retries requests, but by itself would not retry when no
// server listens, would follow a redirect with its headers, and would put the answer into its errors.
type delivery struct {
	what      string // spans or metrics
	to        *url.URL
	timeout   time.Duration
	retry     otlptracehttp.RetryConfig
	transport *http.Transport
	sender    *Sender

	lastErr error                           // of the last attempt
	partial *wire.ExportTracePartialSuccess // in the last answer
}

func (s *Sender) delivery(what string, to Target) (*delivery, error) {
	u, err := url.Parse(to.URL)
	if err != nil {
		return nil, errors.New("the address of the collector is no URL") // it may hold a password
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second,
		ForceAttemptHTTP2: true,
	}
	if t.TLSClientConfig, err = to.tls(); err != nil {
		return nil, err
	}
	s.transports = append(s.transports, t)
	retry := otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: 5 * time.Second,
		MaxElapsedTime: to.Timeout,
	}
	return &delivery{what: what, to: u, timeout: to.Timeout, retry: retry, transport: t, sender: s}, nil
}

func (t *Target) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.Certificate != "" {
		doc, err := os.ReadFile(t.Certificate)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the collector: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(doc) {
			return nil, fmt.Errorf("read the certificate of the collector: %s holds none in PEM",
				t.Certificate)
		}
	}
	if t.ClientCert != "" {
		own, err := tls.LoadX509KeyPair(t.ClientCert, t.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("read the certificate for the collector: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

func (d *delivery) client() *http.Client {
	return &http.Client{Transport: d, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // headers may hold a key
	}}
}

// deliver sends n items within the time of one delivery and returns how many are lost.
func (d *delivery) deliver(ctx context.Context, n int, send func(context.Context) error) (lost int) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	defer context.AfterFunc(d.sender.until, cancel)()
	d.lastErr, d.partial = nil, nil
	err := send(ctx)
	if err != nil {
		lost = n
		if d.lastErr != nil {
			err = d.lastErr
		}
	} else if rejected := d.partial.GetRejectedSpans(); rejected > 0 {
		lost = int(min(rejected, int64(n)))
		err = errors.New("the collector refuses some: " + d.partial.GetErrorMessage())
	}
	d.sender.losses.note(d.what, lost, err)
	return lost
}

// temporary is an error that a retry may avoid.
type temporary struct{ error }

// Temporary is what net/url looks for.
func (temporary) Temporary() bool { return true }

const maxAnswer = 64 << 10

// RoundTrip makes one attempt. It hides the body of the answer from the exporter, since that may come from
// a proxy and repeat a key.
func (d *delivery) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL = d.to // the exporter leaves out the user and the query
	if user := d.to.User; user != nil && r.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	res, err := d.transport.RoundTrip(r)
	if d.lastErr = err; err != nil {
		if !d.sender.ending.Load() {
			err = temporary{err}
		}
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	res.Body = http.NoBody
	if res.StatusCode/100 != 2 {
		d.lastErr = fmt.Errorf("the collector answers %s", res.Status)
		if d.sender.ending.Load() {
			return nil, d.lastErr
		}
		return res, nil
	}
	var answer wire.ExportTraceServiceResponse // that of metrics has the same form
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil && kind == "application/x-protobuf" && proto.Unmarshal(text, &answer) == nil {
		d.partial = answer.PartialSuccess
	}
	return res, nil
}

// losses logs that data is lost, and that it no longer is, at most once a minute.
type losses struct {
	log *slog.Logger

	mu   sync.Mutex
	lost map[string]int // by kind, since the last line
	last time.Time      // time of the last line; zero: nothing is lost
}

const logEvery = time.Minute

// note records a delivery of n items of a kind.
func (l *losses) note(what string, n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		if n, failed := l.lost[what]; failed {
			l.log.Info("the collector takes data again", "event", "telemetry_back", "what", what, "lost", n)
			delete(l.lost, what)
		}
		if len(l.lost) == 0 {
			l.last = time.Time{}
		}
		return
	}
	l.lost[what] += n
	if now := time.Now(); now.Sub(l.last) >= logEvery {
		l.last = now
		l.log.Warn("the collector has not taken data, which is lost",
			"event", "telemetry_lost", "what", what, "lost", l.lost[what], "detail", err.Error())
	}
}
