package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// answered is one answer of a server, as a variant read it.
type answered struct {
	replay.Made
	Spent

	failed error // why there is no answer this time
	sent   int   // number of requests
}

// answers holds the answers of earlier runs and of this one by question, and appends them to a file as JSON
// lines. An interrupted run loses at most the open answers: an incomplete line is skipped.
type answers struct {
	file *os.File // nil: they are not stored

	mu   sync.Mutex
	made map[string]answered
}

func openAnswers(path string) (*answers, error) {
	a := &answers{made: map[string]answered{}}
	if path == "" {
		return a, nil
	}
	doc, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	for line := range bytes.Lines(doc) {
		var one struct {
			Key string `json:"key"`
			answered
		}
		if json.Unmarshal(line, &one) == nil && one.Key != "" {
			a.made[one.Key] = one.answered
		}
	}
	if a.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("keep answers: %w", err)
	}
	if n := len(doc); n > 0 && doc[n-1] != '\n' {
		if _, err := a.file.WriteString("\n"); err != nil {
			return nil, errors.Join(fmt.Errorf("keep answers: %w", err), a.file.Close())
		}
	}
	return a, nil
}

// add stores an answer. A question whose answer failed is asked again next time.
func (a *answers) add(key string, one answered) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made[key] = one
	if a.file == nil || one.failed != nil {
		return nil
	}
	line, err := json.Marshal(struct {
		Key string `json:"key"`
		answered
	}{key, one})
	if err == nil {
		_, err = a.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep answers: %w", err)
	}
	return nil
}

// among counts the questions with known answers.
func (a *answers) among(questions []question, servers []*server) (n int) {
	for _, q := range questions {
		for _, s := range servers {
			if _, ok := a.made[s.key(q)]; ok {
				n++
			}
		}
	}
	return n
}

func (a *answers) close() {
	if a.file != nil {
		_ = a.file.Close() // each line has been written
	}
}
