package cost

import (
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
)

// most is how much of an answer is read.
const most = 64 << 20

// FromServer asks a server for what it has counted since its start; with over, what it counts from now on for so
// long.
func FromServer(ctx context.Context, client *http.Client, at string, over time.Duration, now func() time.Time) (Usage, error) {
	base, err := baseURL(at)
	if err != nil {
		return Usage{}, err
	}
	first, err := pageOf(ctx, client, base)
	if err != nil || over == 0 {
		return first.usage(base, now()), err
	}
	from := now()
	select {
	case <-ctx.Done():
		return Usage{}, fmt.Errorf("wait for the second page: %w", ctx.Err())
	case <-time.After(over):
	}
	second, err := pageOf(ctx, client, base)
	if err == nil {
		err = second.since(first)
	}
	if err != nil {
		return Usage{}, fmt.Errorf("ask %s again: %w", base, err)
	}
	took := now().Sub(from)
	return Usage{Models: second.models(), Hours: took.Hours(), From: fmt.Sprintf("counted by %s in %s", base, took.Round(time.Second))}, nil
}

// usage is what a page says of the time since the start of the process.
func (p *page) usage(base string, now time.Time) Usage {
	if p == nil {
		return Usage{}
	}
	u := Usage{Models: p.models(), From: "counted by " + base + " since its start"}
	if p.began > 0 {
		start := time.Unix(0, int64(p.began*1e9))
		u.Hours = now.Sub(start).Hours()
		u.From += ", " + start.Format("2006-01-02 15:04")
	}
	return u
}

func pageOf(ctx context.Context, client *http.Client, base string) (*page, error) {
	body, err := get(ctx, client, base+"/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	p, err := readPage(io.LimitReader(body, most))
	if err != nil {
		return nil, fmt.Errorf("%s/metrics: %w", base, err)
	}
	return p, nil
}

// FromPrometheus asks Prometheus for what was counted in a span that ends now, by all servers that it knows.
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
	seen, err := known(ctx, client, base, span)
	if err != nil {
		return Usage{}, err
	}
	p := &page{tokens: map[string]*Tokens{}}
	for _, s := range counts {
		p.add(s.Labels["model"], s.Labels["kind"], s.value)
	}
	u := Usage{Models: p.models(), Hours: span.Hours(), From: "counted in " + span.String() + ", as " + base + " says"}
	if seen < span-span/50 {
		u.Hours = seen.Hours()
		u.From = fmt.Sprintf("counted in %s (of %s Prometheus knows no more), as %s says", seen.Round(time.Second), span, base)
	}
	return u, nil
}

// known is how much of a span Prometheus knows: it may keep less, or know the servers for less. It looks at 500
// moments, and again at the time around the first of them, until that is known well enough.
func known(ctx context.Context, client *http.Client, base string, span time.Duration) (age time.Duration, err error) {
	for window := span; ; {
		step := max(window/500, time.Second)
		first, err := query(ctx, client, base, "min(min_over_time(timestamp(gptoss_executor_open_streams)["+seconds(window)+":"+seconds(step)+"]))")
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

// seconds is a span as PromQL has it.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64(math.Ceil(d.Seconds())), 10) + "s"
}

// series is one line of an answer of Prometheus.
type series struct {
	Labels map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // when, and a number as text
	at     float64           // Unix time of the answer
	value  float64
}

func query(ctx context.Context, client *http.Client, base, expr string) ([]series, error) {
	body, err := get(ctx, client, base+"/api/v1/query?query="+url.QueryEscape(expr))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var answer struct {
		Status string `json:"status"`
		Data   struct {
			Result []series `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(body, most)).Decode(&answer); err != nil || answer.Status != "success" {
		return nil, fmt.Errorf("%s gave no answer of Prometheus; is this its address?", base)
	}
	for i := range answer.Data.Result {
		s := &answer.Data.Result[i]
		s.at, _ = s.Value[0].(float64)
		text, _ := s.Value[1].(string)
		if s.value, err = strconv.ParseFloat(text, 64); err != nil || !(s.value >= 0) {
			return nil, fmt.Errorf("%s: %v is no number of tokens", base, s.Value[1])
		}
	}
	return answer.Data.Result, nil
}

func get(ctx context.Context, client *http.Client, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the metrics: %w", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for the metrics: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("ask for the metrics: %s answered %s", req.URL.Host, res.Status)
	}
	return res.Body, nil
}

// baseURL takes a URL, or HOST:PORT.
func baseURL(at string) (string, error) {
	if strings.HasPrefix(at, ":") { // the server listens everywhere
		at = "127.0.0.1" + at
	}
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s is no address of a server; write it as http://127.0.0.1:8001", at)
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}
