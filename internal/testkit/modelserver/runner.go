package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runner answers Ollama like its process runner/ollamarunner, with text from a script.
func (s *script) runner(mux *http.ServeMux) {
	mux.HandleFunc("GET /health",
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":0,"progress":1}`) })
	// no GPU
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) })
	mux.HandleFunc("POST /load", s.load)
	mux.HandleFunc("POST /completion", s.complete)
}

func (s *script) load(w http.ResponseWriter, r *http.Request) {
	var q struct{ KvSize, Parallel int }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if q.KvSize > 0 {
		s.mu.Lock()
		s.window = q.KvSize / max(1, q.Parallel)
		s.mu.Unlock()
	}
	fmt.Fprint(w, `{"Success":true}`)
}

// completion is Ollama's request to its runner.
type completion struct {
	Prompt   string
	Format   json.RawMessage
	Truncate bool
	Options  struct {
		NumPredict int      `json:"num_predict"`
		Stop       []string `json:"stop"`
	}
}

// Ollama's numbers for the end of a completion.
const (
	endStop   = 0
	endLength = 1
)

func (s *script) complete(w http.ResponseWriter, r *http.Request) {
	var q completion
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, "Bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	window := s.window
	s.mu.Unlock()
	p := Prompt{Text: q.Prompt, Tokens: countTokens(q.Prompt), Window: window, Stop: q.Options.Stop,
		Format: string(q.Format)}
	if limit := q.Options.NumPredict; limit < 10*window { // Ollama makes that of no limit
		p.MaxTokens = limit
	}
	reply := s.next(p)
	switch {
	case reply.Status != 0:
		http.Error(w, reply.Text, reply.Status)
		return
	case p.Tokens > window && !q.Truncate:
		http.Error(w, "the input length exceeds the context length", http.StatusBadRequest)
		return
	}
	read := min(p.Tokens, window)
	say := func(line map[string]any) {
		_ = json.NewEncoder(w).Encode(line) // whether Ollama still listens, its context says
		_ = http.NewResponseController(w).Flush()
	}
	reason, made, here := sample(r.Context(), reply, q.Options.NumPredict, window-read, q.Options.Stop,
		func(text string) { say(map[string]any{"content": text}) })
	switch {
	case !here:
		s.mu.Lock()
		s.aborted++
		s.mu.Unlock()
	case reply.Die:
		_ = http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+"Die", "yes") // the runner, when it has passed all on
	default:
		say(map[string]any{"done": true, "done_reason": reason, "prompt_eval_count": read,
			"eval_count": made})
	}
}

// sample sends a reply piece by piece until an end token, a stop text or a limit, and reports whether the
// reader has stayed. What may become a stop text waits.
func sample(ctx context.Context, r Reply, limit, room int, stops []string,
	say func(string)) (reason, made int, here bool) {
	pending := ""
	flush := func() {
		if pending != "" {
			say(pending)
		}
		pending = ""
	}
	for _, piece := range cut(r) {
		select {
		case <-ctx.Done():
			return endStop, made, false
		case <-time.After(r.Pause):
		}
		made++
		if slices.Contains(endTokens, piece) {
			break
		}
		pending += piece
		if limit > 0 && made >= limit || made >= room {
			flush()
			return endLength, made, true
		}
		if before, found := cutStop(pending, stops); found {
			pending = before
			break
		}
		if !mayStop(pending, stops) {
			flush()
		}
	}
	flush()
	return endStop, made, ctx.Err() == nil
}

var token = regexp.MustCompile(`<\|[a-z]+\|>| ?\pL+| ?\pN{1,3}| ?[^\s\pL\pN<]+|<|\s+`)

// cut splits a reply into pieces.
func cut(r Reply) []string {
	if r.Pieces != nil {
		return r.Pieces
	}
	return token.FindAllString(r.Text, -1)
}

// cutStop cuts a text before the first stop text in it.
func cutStop(text string, stops []string) (before string, found bool) {
	for _, stop := range stops {
		if before, _, found = strings.Cut(text, stop); found {
			return before, true
		}
	}
	return text, false
}

// mayStop reports whether a text ends with the beginning of a stop text.
func mayStop(text string, stops []string) bool {
	for _, stop := range stops {
		for i := 1; i <= len(stop); i++ {
			if strings.HasSuffix(text, stop[:i]) {
				return true
			}
		}
	}
	return false
}

// countTokens counts tokens of the tiny model.
func countTokens(text string) int {
	n := len(text)
	for _, special := range specialTokens {
		n -= (len(special) - 1) * strings.Count(text, special)
	}
	return n
}
