// Package script is a gpt-oss server that plays replies from a script: every kind of damage that real
// servers and the model produce, streamed in small pieces, in the dialect of vLLM or, by
// internal/testkit/servers, of others. The demo, the tests and a person at a shell use it in place of a
// model. Its replies depend only on its scenarios and on the order of the requests.
package script

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Scenario is the replies to one conversation, in order.
type Scenario struct {
	Name   string
	User   string               // text of a user message that selects it; "": Name
	Steps  []Reply              // one for each request
	Loop   bool                 // begin again after the last step; else that is an error
	Choose func(Request) *Reply // called before Steps; nil, or a nil answer: Steps decide
	After  *Reply               // the answer to the result of a call, which is then no step; nil: none
}

// phrase returns the text of a user message that selects the scenario; "" for the default one.
func (s *Scenario) phrase() string {
	if s.User != "" {
		return s.User
	}
	return s.Name
}

// Server plays scenarios at /v1/chat/completions and at /v1/responses. Set its dialect before the first
// request.
type Server struct {
	Dialect Dialect

	mu       sync.Mutex
	played   map[string]int // scenario → requests so far
	requests []Request
	unplayed int
	scripts  []Scenario
}

// New returns a vLLM server with these scenarios. The newest user message with a phrase selects the one
// with the longest phrase; a scenario without a name is the default.
func New(scenarios ...Scenario) *Server {
	return &Server{Dialect: VLLM(), played: map[string]int{}, scripts: scenarios}
}

// ServeHTTP answers in the dialect.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for k, v := range s.Dialect.Header {
		w.Header().Set(k, v)
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
		s.answer(w, r, readRequest)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/responses":
		s.answer(w, r, readResponses)
	case r.Method == http.MethodPost && r.URL.Path == ollamaPath && s.Dialect.Chat:
		s.answer(w, r, readOllama)
	case r.URL.Path == LoadedPage && s.Dialect.Pages[LoadedPage] != "" && len(s.Requests("")) == 0:
		contentType(w, "{}")
		fmt.Fprint(w, `{"models":[]}`)
	default:
		s.Dialect.probe(w, r)
	}
}

// answer plays the next reply to a request, which read parses.
func (s *Server) answer(w http.ResponseWriter, r *http.Request,
	read func(http.Header, []byte) (Request, error)) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller left before the request was complete
	}
	q, err := read(r.Header, body)
	if err != nil {
		d := s.Dialect
		d.ChatErrors = q.ollama
		d.fail(w, Error{http.StatusBadRequest, "BadRequestError", err.Error()})
		return
	}
	reply, n := s.next(&q)
	p := player{w: w, dialect: s.Dialect, id: fmt.Sprintf("chatcmpl-%d", n), q: &q, created: created}
	p.play(r.Context(), reply)
	if r.Context().Err() != nil {
		s.mu.Lock()
		s.unplayed++
		s.mu.Unlock()
	}
}

// next records the request, and returns its reply and the number of requests.
func (s *Server) next(q *Request) (Reply, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := s.find(q)
	if sc != nil {
		q.Scenario, q.Step = sc.Name, s.played[sc.Name]
		if !sc.after(q) {
			s.played[sc.Name]++
		}
	}
	s.requests = append(s.requests, *q)
	return sc.reply(q), len(s.requests)
}

// find returns the scenario that the newest user message with a phrase selects, or else the default.
func (s *Server) find(q *Request) *Scenario {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role != "user" {
			continue
		}
		if found := s.pick(q.Messages[i].Text); found != nil && found.phrase() != "" {
			return found
		}
	}
	return s.pick("")
}

// pick returns the scenario with the longest phrase in the text.
func (s *Server) pick(text string) *Scenario {
	var found *Scenario
	for i := range s.scripts {
		sc := &s.scripts[i]
		if strings.Contains(text, sc.phrase()) && (found == nil || len(sc.phrase()) > len(found.phrase())) {
			found = sc
		}
	}
	return found
}

// after reports whether q has the result of a call and the scenario an answer to it.
func (s *Scenario) after(q *Request) bool {
	last := len(q.Messages) - 1
	return s.After != nil && last >= 0 && q.Messages[last].Role == "tool"
}

// reply returns the answer to q. A conversation beyond the script is a mistake in the script, and answered
// with an error.
func (s *Scenario) reply(q *Request) Reply {
	if s == nil {
		return Fail(http.StatusNotImplemented, "no scenario is picked by this conversation")
	}
	if s.Choose != nil {
		if r := s.Choose(*q); r != nil {
			return *r
		}
	}
	if s.after(q) {
		return *s.After
	}
	n := q.Step
	if s.Loop && len(s.Steps) > 0 {
		n %= len(s.Steps)
	}
	if n >= len(s.Steps) {
		return Fail(http.StatusNotImplemented, fmt.Sprintf("scenario %q has no reply number %d", s.Name, n+1))
	}
	return s.Steps[n]
}

// Requests returns the chat requests so far, in order, of one scenario, or of all for "".
func (s *Server) Requests(scenario string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, q := range s.requests {
		if scenario == "" || q.Scenario == scenario {
			out = append(out, q)
		}
	}
	return out
}

// Unplayed counts the callers that left before the end of their reply.
func (s *Server) Unplayed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unplayed
}
