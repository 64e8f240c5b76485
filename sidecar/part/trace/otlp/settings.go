package otlp

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Settings are what the standard variables of OpenTelemetry say.
type Settings struct {
	Traces, Metrics Target
	Sampler         sdktrace.Sampler
	Every           time.Duration // metrics are sent
	Resource        []Pair        // what describes this program
}

// Target is where one kind of data goes. The zero Target is nowhere.
type Target struct {
	URL         string
	Headers     []Pair
	Timeout     time.Duration // of one delivery, with all its attempts
	Gzip        bool
	Certificate string // files: of who signs the collector's certificate, and our own; empty: none
	ClientCert  string
	ClientKey   string
}

// Pair is a name with its value.
type Pair struct{ Name, Value string }

// Service is the name of this program where no variable gives another.
const Service = "gpt-oss-executor"

const variable = "OTEL_EXPORTER_OTLP_"

// reader reads variables, and notes the first that is wrong.
type reader struct {
	of  map[string]string
	err error
}

// Read reads them of an environment. The error names the variable that is wrong.
func Read(environ []string) (s Settings, err error) {
	r := &reader{of: map[string]string{}}
	for _, pair := range environ {
		// an empty one counts as none
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, "OTEL_") && value != "" {
			r.of[name] = value
		}
	}
	if strings.EqualFold(r.of["OTEL_SDK_DISABLED"], "true") {
		return Settings{}, nil
	}
	s.Traces, s.Metrics = r.target("TRACES"), r.target("METRICS")
	s.Sampler = r.sampler()
	s.Every = r.millis("OTEL_METRIC_EXPORT_INTERVAL", time.Minute)
	s.Resource = r.resource()
	if t := "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"; s.Metrics.URL != "" &&
		!strings.EqualFold(orElse(r.of[t], "cumulative"), "cumulative") {
		r.wrong(t, "metrics are sent as sums since the start of the program",
			"leave it out, or set it to cumulative; a collector makes deltas with its processor cumulativetodelta")
	}
	if r.err != nil {
		return Settings{}, r.err
	}
	return s, nil
}

// wrong notes what is wrong with a variable, and what helps.
func (r *reader) wrong(name, why, hint string) {
	if r.err == nil {
		value := r.of[name]
		if strings.HasSuffix(name, "HEADERS") {
			value = "…" // it may hold a key
		}
		r.err = fmt.Errorf("%s=%s: %s; %s", name, value, why, hint)
	}
}

// first is the first variable that is set: that of a kind of data, else the common one.
func (r *reader) first(kind, what string) (name, value string) {
	if name = variable + kind + "_" + what; r.of[name] == "" {
		name = variable + what
	}
	return name, r.of[name]
}

// target reads where a kind of data goes.
func (r *reader) target(kind string) (t Target) {
	exporter := "OTEL_" + kind + "_EXPORTER"
	switch to := strings.ToLower(r.of[exporter]); {
	case to == "none", kind == "METRICS" && to == "prometheus": // the page is there in any case
		return t
	case to != "" && to != "otlp":
		r.wrong(exporter, "this exporter is not in this program", "set it to otlp or none")
		return t
	}
	name, endpoint := r.first(kind, "ENDPOINT")
	if endpoint == "" {
		return t
	}
	if t.URL = r.endpoint(name, endpoint, kind); t.URL == "" {
		return Target{}
	}
	if name, protocol := r.first(kind, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		r.wrong(name, "this program speaks http/protobuf alone",
			"set it to http/protobuf, and the endpoint to the collector's port for that, mostly 4318")
	}
	name, headers := r.first(kind, "HEADERS")
	t.Headers = r.pairs(name, headers)
	name, compression := r.first(kind, "COMPRESSION")
	if t.Gzip = compression == "gzip"; compression != "" && compression != "none" && !t.Gzip {
		r.wrong(name, "this compression is not in this program", "set it to gzip or none")
	}
	name, _ = r.first(kind, "TIMEOUT")
	t.Timeout = r.millis(name, 10*time.Second)
	_, t.Certificate = r.first(kind, "CERTIFICATE")
	_, t.ClientCert = r.first(kind, "CLIENT_CERTIFICATE")
	_, t.ClientKey = r.first(kind, "CLIENT_KEY")
	return t
}

// endpoint is the URL for a kind of data. The common variable gives the beginning of it.
func (r *reader) endpoint(name, value, kind string) string {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.of[name] = "…" // it may hold a password
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

// pairs reads a list such as a=1,b=2, with values in percent form.
func (r *reader) pairs(name, list string) (out []Pair) {
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
		out = append(out, Pair{key, value})
	}
	return out
}

func (r *reader) millis(name string, usual time.Duration) time.Duration {
	text := r.of[name]
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > 1<<31 {
		r.wrong(name, "it is no number of milliseconds above 0",
			"leave it out, or write 10000 for 10 seconds")
		return usual
	}
	return time.Duration(n) * time.Millisecond
}

// sampler is which traces are kept; as the standard has it, all that their caller keeps, or that begin
// here.
func (r *reader) sampler() sdktrace.Sampler {
	const name, arg = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	ratio := 1.0
	if text := r.of[arg]; text != "" && strings.HasSuffix(r.of[name], "traceidratio") {
		var err error
		if ratio, err = strconv.ParseFloat(text, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			r.wrong(arg, "it is no share", "write a number from 0 to 1, such as 0.1")
		}
	}
	root := sdktrace.AlwaysSample()
	switch kind := strings.TrimPrefix(r.of[name], "parentbased_"); kind {
	case "", "always_on":
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		root = sdktrace.TraceIDRatioBased(ratio)
	default:
		r.wrong(name, "there is no such sampler here",
			"one of: always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio")
	}
	if kind := r.of[name]; kind == "" || strings.HasPrefix(kind, "parentbased_") {
		return sdktrace.ParentBased(root)
	}
	return root
}

// resource is what describes this program. The variable of the name counts more than the list.
func (r *reader) resource() []Pair {
	const list = "OTEL_RESOURCE_ATTRIBUTES"
	out := append([]Pair{{"service.name", Service}}, r.pairs(list, r.of[list])...)
	if own := r.of["OTEL_SERVICE_NAME"]; own != "" {
		out = append(out, Pair{"service.name", own})
	}
	return out
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
