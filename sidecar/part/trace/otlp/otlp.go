// Package otlp sends spans and metrics to a collector of OpenTelemetry, as its standard variables say:
// OTLP over HTTP, in the background, from a queue that has an end. Where the collector cannot keep up,
// data is lost, and the log says so; a request never waits. It does not know what a span means.
package otlp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Config is what a sender works with. All of it must be set but Version.
type Config struct {
	Settings
	Metrics *telemetry.Metrics
	Name    string // of who makes the spans
	Version string // of this program
	Log     *slog.Logger
}

// Sender sends spans and metrics. A nil Sender sends nothing.
type Sender struct {
	Config
	spans *sdktrace.TracerProvider // nil: none are sent
	posts []*poster
	end   context.CancelFunc
	tasks sync.WaitGroup
}

// Open begins to send, if the settings name a collector; else the Sender is nil. Close must be called.
func Open(c Config) (*Sender, error) {
	if c.Settings.Traces.URL == "" && c.Settings.Metrics.URL == "" {
		return nil, nil
	}
	ctx, end := context.WithCancel(context.Background())
	s := &Sender{Config: c, end: end}
	of, tell := s.resource(), &teller{log: c.Log, now: time.Now}
	err := s.opens(ctx, of, tell)
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

func (s *Sender) opens(ctx context.Context, of *resource.Resource, tell *teller) error {
	if to := s.Settings.Traces; to.URL != "" {
		post, err := s.poster(to)
		if err != nil {
			return err
		}
		s.spans = sdktrace.NewTracerProvider(sdktrace.WithResource(of), sdktrace.WithSampler(s.Sampler),
			sdktrace.WithSpanProcessor(counted{sdktrace.NewBatchSpanProcessor(&exporter{post, tell,
				s.Config.Metrics}), s.Config.Metrics}))
	}
	if to := s.Settings.Metrics; to.URL != "" {
		post, err := s.poster(to)
		if err != nil {
			return err
		}
		p := &pusher{of: of, from: s.Config.Metrics, post: post, tell: tell, since: time.Now(), name: s.Name,
			version: s.Version}
		s.tasks.Go(func() { p.run(ctx, s.Every) })
	}
	return nil
}

func (s *Sender) poster(to Target) (*poster, error) {
	p, err := newPoster(to)
	if err == nil {
		s.posts = append(s.posts, p)
	}
	return p, err
}

// resource describes this program to the collector.
func (s *Sender) resource() *resource.Resource {
	var list []attribute.KeyValue
	for _, pair := range s.Resource {
		list = append(list, attribute.String(pair.Name, pair.Value))
	}
	if s.Version != "" {
		// of two, the last counts
		list = append([]attribute.KeyValue{semconv.ServiceVersion(s.Version)}, list...)
	}
	return resource.NewWithAttributes(semconv.SchemaURL, list...)
}

// Tracer makes the spans; nil: none are sent.
func (s *Sender) Tracer() trace.Tracer {
	if s == nil || s.spans == nil {
		return nil
	}
	return s.spans.Tracer(s.Name, trace.WithInstrumentationVersion(s.Version),
		trace.WithSchemaURL(semconv.SchemaURL))
}

// Close sends what is left, until ctx ends.
func (s *Sender) Close(ctx context.Context) (err error) {
	if s == nil {
		return nil
	}
	for _, p := range s.posts {
		defer p.last(ctx)()
	}
	s.end()
	if s.spans != nil {
		err = s.spans.Shutdown(ctx)
	}
	s.tasks.Wait()
	return err
}
