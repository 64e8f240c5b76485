package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// most is the maximal size of an answer, in bytes.
const most = 64 << 20

// FromServer asks a server for its counts since its start, or for a positive over for those of that time
// from now on.
func FromServer(ctx context.Context, client *http.Client, at string, over time.Duration,
	now func() time.Time) (Usage, error) {
	base, err := baseURL(at)
	if err == nil && over < 0 {
		err = errors.New("--over says for how long to count from now on, so it is not below 0")
	}
	if err != nil {
		return Usage{}, err
	}
	first, err := pageOf(ctx, client, base, now)
	if err != nil || over == 0 {
		return first.usage(base), err
	}
	from := now()
	select {
	case <-ctx.Done():
		return Usage{}, fmt.Errorf("wait for the second page: %w", ctx.Err())
	case <-time.After(over):
	}
	second, err := pageOf(ctx, client, base, now)
	if err == nil {
		err = second.since(first)
	}
	if err != nil {
		return Usage{}, fmt.Errorf("ask %s again: %w", base.Redacted(), err)
	}
	took := now().Sub(from)
	return Usage{Models: second.models(), Hours: took.Hours(), From: fmt.Sprintf("counted by %s in %s",
		base.Redacted(), took.Round(time.Second))}, nil
}

// usage returns the counts of a page since the start of the process.
func (p *metricsPage) usage(base *url.URL) Usage {
	if p == nil {
		return Usage{}
	}
	u := Usage{Models: p.models(), From: "counted by " + base.Redacted() + " since its start"}
	if p.began > 0 {
		start := time.Unix(0, int64(p.began*1e9))
		u.Hours = max(0, p.at.Sub(start).Hours())
		u.From += ", " + start.Format("2006-01-02 15:04")
	}
	return u
}

// pageOf asks for a page. Its time is by the server's clock, like the start time, if the answer has a date.
func pageOf(ctx context.Context, client *http.Client, base *url.URL,
	now func() time.Time) (*metricsPage, error) {
	res, err := get(ctx, client, base.JoinPath("metrics"))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	p, err := readPage(io.LimitReader(res.Body, most))
	if err != nil {
		return nil, fmt.Errorf("%s/metrics: %w", base.Redacted(), err)
	}
	p.at = now()
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		p.at = date.Add(time.Second) // the date has whole seconds
	}
	return p, nil
}

// FromPrometheus asks Prometheus for the counts of all its servers in a span that ends now.
func FromPrometheus(ctx context.Context, client *http.Client, at string, span time.Duration) (Usage, error) {
	base, err := baseURL(at)
	if err != nil {
		return Usage{}, err
	}
	if span < time.Minute {
		return Usage{}, errors.New("--over must say how far back Prometheus is to look: 24h, 720h, at least 1m")
	}
	counts, err := query(ctx, client, base, "sum by (model, kind) (increase("+counted+"["+seconds(span)+"]))")
	if err != nil {
		return Usage{}, err
	}
	seen, err := knownSpan(ctx, client, base, span)
	if err != nil {
		return Usage{}, err
	}
	p := &metricsPage{tokens: map[string]*Tokens{}}
	for _, s := range counts {
		p.add(s.Labels["model"], s.Labels["kind"], s.value)
	}
	u := Usage{Models: p.models(), Hours: span.Hours(), From: "counted in " + span.String() +
		", as " + base.Redacted() + " says"}
	if seen < span-span/50 {
		u.Hours = seen.Hours()
		u.From = fmt.Sprintf("counted in %s (of %s Prometheus knows no more), as %s says",
			seen.Round(time.Second), span, base.Redacted())
	}
	return u, nil
}

// knownSpan returns how much of a span Prometheus knows: it may keep less, or know the servers for less. It
// queries 500 moments, and then again around the first one with data, until the result is precise enough.
func knownSpan(ctx context.Context, client *http.Client, base *url.URL,
	span time.Duration) (age time.Duration, err error) {
	for window := span; ; {
		step := max(window/500, time.Second)
		first, err := query(ctx, client, base, "min(min_over_time(timestamp(gptoss_executor_open_streams)["+
			seconds(window)+":"+seconds(step)+"]))")
		if err != nil {
			return 0, err
		}
		if age = 0; len(first) == 1 {
			age = time.Duration((first[0].at - first[0].value) * float64(time.Second))
		}
		if step <= time.Second || age > 50*step {
			return age, nil
		}
		window = age + 2*step
	}
}

// seconds formats a span for PromQL.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64(math.Ceil(d.Seconds())), 10) + "s"
}

// series is one result of Prometheus.
type series struct {
	Labels map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // a time, and a number as text
	at     float64           // Unix time of the answer
	value  float64
}

func query(ctx context.Context, client *http.Client, base *url.URL, expr string) ([]series, error) {
	to := base.JoinPath("api/v1/query")
	to.RawQuery = url.Values{"query": {expr}}.Encode()
	res, err := get(ctx, client, to)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var answer struct {
		Status string `json:"status"`
		Data   struct {
			Result []series `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, most)).Decode(&answer); err != nil ||
		answer.Status != "success" {
		return nil, fmt.Errorf("%s gave no answer of Prometheus; is this its address?", base.Redacted())
	}
	for i := range answer.Data.Result {
		s := &answer.Data.Result[i]
		s.at, _ = s.Value[0].(float64)
		text, _ := s.Value[1].(string)
		if s.value, err = strconv.ParseFloat(text, 64); err != nil || !(s.value >= 0) {
			return nil, fmt.Errorf("%s: %v is no number of tokens", base.Redacted(), s.Value[1])
		}
	}
	return answer.Data.Result, nil
}

func get(ctx context.Context, client *http.Client, to *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the metrics: %w", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no server answers at %s: %s", req.URL.Host, upstream.Reason(err))
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("ask for the metrics: %s answered %s", req.URL.Host, res.Status)
	}
	return res, nil
}

// baseURL parses a URL or HOST:PORT. Use Redacted to print it: it may have a password.
func baseURL(at string) (*url.URL, error) {
	if strings.HasPrefix(at, ":") { // the server listens on all addresses
		at = "127.0.0.1" + at
	}
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, errors.New("this is no address of a server; write it as http://127.0.0.1:8001")
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is no address of a server; write it as http://127.0.0.1:8001",
			u.Redacted())
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// Names of the metrics for tokens and for the start time of the process.
const (
	counted = "gptoss_executor_tokens_total"
	began   = "process_start_time_seconds"
)

// metricsPage is a parsed page of metrics.
type metricsPage struct {
	tokens map[string]*Tokens // by model
	began  float64            // Unix time; 0: unknown
	at     time.Time          // when it was read
}

// readPage parses a page in the format of Prometheus, and ignores other metrics.
func readPage(r io.Reader) (*metricsPage, error) {
	p := &metricsPage{tokens: map[string]*Tokens{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	ours := false
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		ours = ours || strings.HasPrefix(line, "gptoss_executor_")
		name, rest := line, ""
		if at := strings.IndexAny(line, "{ "); at >= 0 {
			name, rest = line[:at], line[at:]
		}
		if name != counted && name != began {
			continue
		}
		labels, value, err := sample(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d of the metrics: %w", n, err)
		}
		if name == began {
			p.began = value
			continue
		}
		p.add(labels["model"], labels["kind"], value)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	if !ours {
		return nil, fmt.Errorf("this is no page of metrics of gpt-oss-executor")
	}
	return p, nil
}

func (p *metricsPage) add(model, kind string, n float64) {
	t := p.tokens[model]
	if t == nil {
		t = &Tokens{Model: model}
		p.tokens[model] = t
	}
	switch kind {
	case "prompt":
		t.Prompt += n
	case "completion":
		t.Completion += n
	case "reasoning":
		t.Reasoning += n
	}
}

// since subtracts the counts of an earlier page of the same process.
func (p *metricsPage) since(old *metricsPage) error {
	anew := p.began != old.began
	for model, was := range old.tokens {
		now := p.tokens[model]
		if now == nil {
			now = &Tokens{}
		}
		anew = anew || now.Prompt < was.Prompt || now.Completion < was.Completion ||
			now.Reasoning < was.Reasoning
		now.Prompt -= was.Prompt
		now.Completion -= was.Completion
		now.Reasoning -= was.Reasoning
	}
	if anew { // not every system reports the start time
		return errors.New("the server was started anew meanwhile, so its counters are")
	}
	return nil
}

func (p *metricsPage) models() (out []Tokens) {
	for _, t := range p.tokens {
		if t.Prompt+t.Completion > 0 {
			out = append(out, *t)
		}
	}
	return out
}

// sample parses a line after the name of its metric: optional labels in braces, and a number.
func sample(s string) (labels map[string]string, value float64, err error) {
	labels = map[string]string{}
	if rest, braced := strings.CutPrefix(s, "{"); braced {
		if s, err = readLabels(rest, labels); err != nil {
			return nil, 0, err
		}
	}
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return nil, 0, fmt.Errorf("the number is missing")
	}
	value, err = strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return nil, 0, fmt.Errorf("%q is not a number of tokens or seconds", fields[0])
	}
	return labels, value, nil
}

// readLabels reads name="value" up to the closing brace, and returns the rest.
func readLabels(s string, to map[string]string) (rest string, err error) {
	for {
		s = strings.TrimLeft(s, ", ")
		if rest, end := strings.CutPrefix(s, "}"); end {
			return rest, nil
		}
		name, after, ok := strings.Cut(s, `="`)
		if !ok {
			return "", fmt.Errorf("the labels have no end")
		}
		var value strings.Builder
		i := 0
		for ; i < len(after) && after[i] != '"'; i++ {
			if after[i] == '\\' && i+1 < len(after) {
				i++
				if after[i] == 'n' {
					value.WriteByte('\n')
					continue
				}
			}
			value.WriteByte(after[i])
		}
		if i == len(after) {
			return "", fmt.Errorf("the label %s has no end", name)
		}
		to[name], s = value.String(), after[i+1:]
	}
}
