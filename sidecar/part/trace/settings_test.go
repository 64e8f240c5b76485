package trace

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The standard variables say where data goes, and how; nothing is sent before they name a collector.
func TestRead(t *testing.T) {
	const end = "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"
	for name, c := range map[string]struct {
		environ string // with blanks between
		check   func(Settings) bool
	}{
		"nothing":      {"", func(s Settings) bool { return s.Traces.URL == "" && s.Metrics.URL == "" }},
		"an empty one": {"OTEL_EXPORTER_OTLP_ENDPOINT=", func(s Settings) bool { return s.Traces.URL == "" }},
		"one for both": {end, func(s Settings) bool {
			return s.Traces.URL == "http://c:4318/v1/traces" && s.Metrics.URL == "http://c:4318/v1/metrics"
		}},
		"with a path": {end + "/otel/",
			func(s Settings) bool { return s.Traces.URL == "http://c:4318/otel/v1/traces" }},
		"traces alone": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://c", func(s Settings) bool { return s.Traces.URL == "https://c/" && s.Metrics.URL == "" }},
		"one of its own": {end + " OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://m/x", func(s Settings) bool {
			return s.Traces.URL == "http://c:4318/v1/traces" && s.Metrics.URL == "http://m/x"
		}},
		"no traces": {end + " OTEL_TRACES_EXPORTER=none",
			func(s Settings) bool { return s.Traces.URL == "" && s.Metrics.URL != "" }},
		"metrics on a page": {end + " OTEL_METRICS_EXPORTER=prometheus", func(s Settings) bool { return s.Traces.URL != "" && s.Metrics.URL == "" }},
		"off": {end + " OTEL_SDK_DISABLED=TRUE",
			func(s Settings) bool { return s.Traces.URL == "" && s.Metrics.URL == "" }},
		"not off": {end + " OTEL_SDK_DISABLED=1",
			func(s Settings) bool { return s.Traces.URL != "" }},
		"the protocol": {end + " OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
			func(s Settings) bool { return s.Traces.URL != "" }},
		"headers": {end + " OTEL_EXPORTER_OTLP_HEADERS=a=1,b=x%20y", func(s Settings) bool {
			return reflect.DeepEqual(s.Metrics.Headers, map[string]string{"a": "1", "b": "x y"})
		}},
		"headers of traces": {end + " OTEL_EXPORTER_OTLP_HEADERS=a=1 OTEL_EXPORTER_OTLP_TRACES_HEADERS=t=1", func(s Settings) bool { return reflect.DeepEqual(s.Traces.Headers, map[string]string{"t": "1"}) }},
		"times": {end + " OTEL_EXPORTER_OTLP_TIMEOUT=1500 OTEL_METRIC_EXPORT_INTERVAL=2000",
			func(s Settings) bool {
				return s.Traces.Timeout == 1500*time.Millisecond && s.Interval == 2*time.Second
			}},
		"usual times": {end,
			func(s Settings) bool { return s.Traces.Timeout == 10*time.Second && s.Interval == time.Minute }},
		"gzip": {end + " OTEL_EXPORTER_OTLP_COMPRESSION=gzip OTEL_EXPORTER_OTLP_METRICS_COMPRESSION=none", func(s Settings) bool {
			return s.Traces.Compression == otlptracehttp.GzipCompression &&
				s.Metrics.Compression == otlptracehttp.NoCompression
		}},
		"certificates": {end + " OTEL_EXPORTER_OTLP_CERTIFICATE=/ca OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/c OTEL_EXPORTER_OTLP_CLIENT_KEY=/k", func(s Settings) bool {
			return s.Traces.Certificate == "/ca" && s.Traces.ClientCert == "/c" && s.Metrics.ClientKey == "/k"
		}},
		"the usual sampler": {end, func(s Settings) bool {
			return s.Sampler.Description() == sdktrace.ParentBased(sdktrace.AlwaysSample()).Description()
		}},
		"a sampler": {end + " OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=0.25", func(s Settings) bool { return s.Sampler.Description() == sdktrace.TraceIDRatioBased(.25).Description() }},
		"a sampler below": {end + " OTEL_TRACES_SAMPLER=parentbased_always_off", func(s Settings) bool {
			return s.Sampler.Description() == sdktrace.ParentBased(sdktrace.NeverSample()).Description()
		}},
		"the usual name": {end, func(s Settings) bool {
			return reflect.DeepEqual(s.Resource, map[string]string{"service.name": "gpt-oss-executor"})
		}},
		"names of the place": {end + " OTEL_RESOURCE_ATTRIBUTES=service.name=x,deployment.environment.name=test%2C1 OTEL_SERVICE_NAME=mine", func(s Settings) bool {
			return s.Resource["service.name"] == "mine" &&
				s.Resource["deployment.environment.name"] == "test,1"
		}},
	} {
		s, err := Read(strings.Fields(c.environ))
		if err != nil || !c.check(s) {
			t.Errorf("%s: %v %+v", name, err, s)
		}
	}
}

// What is wrong is said with the name of the variable and what helps, and without a key.
func TestReadWrong(t *testing.T) {
	const end = "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"
	for environ, want := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=c:4318":                                "OTEL_EXPORTER_OTLP_ENDPOINT=…: it is no URL; write it as http://127.0.0.1:4318",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://u:hunter2@%zz":                  "OTEL_EXPORTER_OTLP_ENDPOINT=…: it is no URL",
		end + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc":                           "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: this program speaks http/protobuf alone; set it to http/protobuf, and the endpoint to the collector's port for that, mostly 4318",
		end + " OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json":               "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json: this program",
		end + " OTEL_TRACES_EXPORTER=zipkin":                                "OTEL_TRACES_EXPORTER=zipkin: this exporter is not in this program; set it to otlp or none",
		end + " OTEL_EXPORTER_OTLP_HEADERS=hunter2":                         "OTEL_EXPORTER_OTLP_HEADERS=…: it is no list",
		end + " OTEL_EXPORTER_OTLP_HEADERS=a=%0a":                           "OTEL_EXPORTER_OTLP_HEADERS=…: it is no list",
		end + " OTEL_EXPORTER_OTLP_TIMEOUT=10s":                             "OTEL_EXPORTER_OTLP_TIMEOUT=10s: it is no number of milliseconds",
		end + " OTEL_METRIC_EXPORT_INTERVAL=0":                              "OTEL_METRIC_EXPORT_INTERVAL=0: it is no number",
		end + " OTEL_EXPORTER_OTLP_COMPRESSION=zstd":                        "OTEL_EXPORTER_OTLP_COMPRESSION=zstd: this compression",
		end + " OTEL_TRACES_SAMPLER=jaeger_remote":                          "OTEL_TRACES_SAMPLER=jaeger_remote: there is no such sampler here; one of: always_on",
		end + " OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=2": "OTEL_TRACES_SAMPLER_ARG=2: it is no share",
		end + " OTEL_RESOURCE_ATTRIBUTES=a":                                 "OTEL_RESOURCE_ATTRIBUTES=a: it is no list",
		end + " OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta":    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta: metrics are sent as sums",
	} {
		_, err := Read(strings.Fields(environ))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", environ, err)
		}
	}
}

// Whatever stands in a variable, it is read or refused, and what is read can be sent.
func FuzzRead(f *testing.F) {
	f.Add("http://c:4318", "a=1,b=%20", "service.name=x", "0.5")
	f.Add("https://u:p@[::1]:4318/x?y#z", "=,=%", ",,a", "NaN")
	f.Fuzz(func(t *testing.T, endpoint, headers, attributes, share string) {
		s, err := Read([]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint, "OTEL_EXPORTER_OTLP_HEADERS=" + headers,
			"OTEL_RESOURCE_ATTRIBUTES=" + attributes,
			"OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=" + share,
		})
		if err != nil {
			if s.Traces.URL != "" || !strings.HasPrefix(err.Error(), "OTEL_") {
				t.Errorf("%+v %v", s, err)
			}
			return
		}
		for name, value := range s.Traces.Headers {
			if name == "" || strings.ContainsAny(name+value, "\r\n") {
				t.Errorf("header %q: %q", name, value)
			}
		}
	})
}
