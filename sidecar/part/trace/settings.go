package trace

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Settings are the standard variables of OpenTelemetry.
type Settings struct {
	Traces, Metrics Target
	Sampler         sdktrace.Sampler
	Interval        time.Duration     // between deliveries of metrics
	Resource        map[string]string // attributes of this program
}

// Target is the destination of one kind of data. Zero: none.
type Target struct {
	URL         string
	Headers     map[string]string
	Timeout     time.Duration // of a delivery with its retries
	Compression otlptracehttp.Compression
	Certificate string // files: authority of the collector, and our own; empty: none
	ClientCert  string
	ClientKey   string
}

// program is the default name of this program.
const program = "gpt-oss-executor"

const variable = "OTEL_EXPORTER_OTLP_"

// envReader reads variables and records the first wrong one.
type envReader struct {
	vars map[string]string
	err  error
}

// Read reads the variables. The error names the wrong one.
func Read(environ []string) (s Settings, err error) {
	r := &envReader{vars: map[string]string{}}
	for _, pair := range environ {
		name, value, ok := strings.Cut(pair, "=")
		if ok && strings.HasPrefix(name, "OTEL_") && value != "" { // an empty one counts as none
			r.vars[name] = value
		}
	}
	if strings.EqualFold(r.vars["OTEL_SDK_DISABLED"], "true") {
		return Settings{}, nil
	}
	s.Traces, s.Metrics = r.target("TRACES"), r.target("METRICS")
	s.Sampler = r.sampler()
	s.Interval = r.millis("OTEL_METRIC_EXPORT_INTERVAL", time.Minute)
	s.Resource = r.resource()
	if s.Metrics.URL != "" {
		r.choice(variable+"METRICS_TEMPORALITY_PREFERENCE",
			"metrics are sent as sums since the start of the program",
			"leave it out, or set it to cumulative; a collector makes deltas with its processor cumulativetodelta", "cumulative")
	}
	if r.err != nil {
		return Settings{}, r.err
	}
	return s, nil
}

// wrong records what is wrong with a variable and what helps.
func (r *envReader) wrong(name, why, hint string) {
	if r.err == nil {
		value := r.vars[name]
		if strings.HasSuffix(name, "HEADERS") || strings.HasSuffix(name, "ENDPOINT") {
			value = "…" // it may hold a key or a password
		}
		r.err = fmt.Errorf("%s=%s: %s; %s", name, value, why, hint)
	}
}

// choice reads a variable with few values, in lower case; empty: it is not set.
func (r *envReader) choice(name, why, hint string, of ...string) string {
	value := strings.ToLower(r.vars[name])
	if value != "" && !slices.Contains(of, value) {
		r.wrong(name, why, hint)
	}
	return value
}

// first returns the variable of a kind of data, or else the common one.
func (r *envReader) first(kind, what string) (name, value string) {
	if name = variable + kind + "_" + what; r.vars[name] == "" {
		name = variable + what
	}
	return name, r.vars[name]
}

// target reads the destination of a kind of data.
func (r *envReader) target(kind string) (t Target) {
	exporters := []string{"otlp", "none"}
	if kind == "METRICS" {
		exporters = append(exporters, "prometheus") // the page is there in any case
	}
	exporter := r.choice("OTEL_"+kind+"_EXPORTER", "this exporter is not in this program",
		"set it to otlp or none", exporters...)
	name, endpoint := r.first(kind, "ENDPOINT")
	if endpoint == "" || exporter != "" && exporter != "otlp" {
		return t
	}
	if t.URL = r.endpoint(name, endpoint, kind); t.URL == "" {
		return Target{}
	}
	name, _ = r.first(kind, "PROTOCOL")
	r.choice(name, "this program speaks http/protobuf alone",
		"set it to http/protobuf, and the endpoint to the collector's port for that, mostly 4318",
		"http/protobuf")
	name, headers := r.first(kind, "HEADERS")
	t.Headers = r.pairs(name, headers)
	name, _ = r.first(kind, "COMPRESSION")
	compression := r.choice(name, "this compression is not in this program", "set it to gzip or none", "gzip",
		"none")
	if compression == "gzip" {
		t.Compression = otlptracehttp.GzipCompression
	}
	name, _ = r.first(kind, "TIMEOUT")
	t.Timeout = r.millis(name, 10*time.Second)
	_, t.Certificate = r.first(kind, "CERTIFICATE")
	_, t.ClientCert = r.first(kind, "CLIENT_CERTIFICATE")
	_, t.ClientKey = r.first(kind, "CLIENT_KEY")
	return t
}

// endpoint returns the URL for a kind of data, which the common variable only begins.
func (r *envReader) endpoint(name, value, kind string) string {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.wrong(name, "it is no URL", "write it as http://127.0.0.1:4318")
		return ""
	}
	if name == variable+"ENDPOINT" {
		u = u.JoinPath("v1", strings.ToLower(kind))
	} else if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// pairs reads a list such as a=1,b=2 with percent-encoded values.
func (r *envReader) pairs(name, list string) map[string]string {
	out := map[string]string{}
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, value, ok := strings.Cut(item, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || err != nil || strings.ContainsAny(key+value, "\r\n") {
			r.wrong(name, "it is no list of names and values",
				"write it as NAME=VALUE,NAME=VALUE, with other signs in percent form")
			return nil
		}
		out[key] = value
	}
	return out
}

func (r *envReader) millis(name string, usual time.Duration) time.Duration {
	if r.vars[name] == "" {
		return usual
	}
	n, err := strconv.Atoi(r.vars[name])
	if err != nil || n <= 0 || n > 1<<31 {
		r.wrong(name, "it is no number of milliseconds above 0",
			"leave it out, or write 10000 for 10 seconds")
	}
	return time.Duration(n) * time.Millisecond
}

// sampler selects the traces to keep: as in the standard, those that their caller keeps or that begin here.
func (r *envReader) sampler() sdktrace.Sampler {
	const name, arg = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	kinds := []string{
		"always_on", "always_off", "traceidratio",
		"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
	}
	kind := r.choice(name, "there is no such sampler here", "one of: "+strings.Join(kinds, ", "), kinds...)
	root := sdktrace.AlwaysSample()
	switch strings.TrimPrefix(kind, "parentbased_") {
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		if r.vars[arg] == "" {
			break
		}
		ratio, err := strconv.ParseFloat(r.vars[arg], 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			r.wrong(arg, "it is no share", "write a number from 0 to 1, such as 0.1")
		}
		root = sdktrace.TraceIDRatioBased(ratio)
	}
	if kind == "" || strings.HasPrefix(kind, "parentbased_") {
		return sdktrace.ParentBased(root)
	}
	return root
}

// resource describes this program. The variable with its name outranks the list.
func (r *envReader) resource() map[string]string {
	const list = "OTEL_RESOURCE_ATTRIBUTES"
	out := map[string]string{"service.name": program}
	maps.Copy(out, r.pairs(list, r.vars[list]))
	if name := r.vars["OTEL_SERVICE_NAME"]; name != "" {
		out["service.name"] = name
	}
	return out
}
