package setup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

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
