// Package modelserver starts real model servers for tests: Ollama, whose runner a script stands for, and
// llama.cpp's chat layer. What the server makes of a reply, its parser, its errors and its stream, is real;
// what the model says is a script. It needs no weights and no C compiler. A test that cannot have a server,
// since its module or package cannot be fetched, is skipped.
//
//	server := modelserver.Ollama(t, "<|channel|>final<|message|>Hello.<|return|>")
//	http.Post(server.URL+"/v1/chat/completions", …)
package modelserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Model is the id of the model that each server has.
const Model = "gpt-oss:20b"

// Config is how a server is started.
type Config struct {
	Window  int     // tokens; 0: 8192. A byte is a token, and so is each of Harmony's special ones
	NoModel bool    // Ollama: nothing was pulled yet
	Format  *Format // nil: gpt-oss's
}

// Format is the one of a family of models: what a server is told to write prompts and read replies by.
type Format struct {
	Model string // its name at the server
	// Ollama: what its API takes to create a model
	Template, Renderer, Parser string
	Jinja                      string // llama.cpp: the name of a template in its sources

	architecture string // Ollama: of the model's file; "": one that says nothing about the format
}

func (c Config) window() int { return cmp.Or(c.Window, 8192) }

// Reply is what the model says to one prompt, in Harmony as gpt-oss writes it behind <|start|>assistant.
type Reply struct {
	Text string
	// the text as the tokens that the model writes; nil: Text, cut about as gpt-oss would
	Pieces []string
	Always bool          // it says this to each prompt, until the script has a further reply
	Pause  time.Duration // before each piece; Ollama only
	Die    bool          // after the last piece the process that computes is gone; Ollama only
	Status int           // it says nothing: an error with Text as message; Ollama only
}

// Prompt is what the model was given.
type Prompt struct {
	Text      string
	Tokens    int
	Window    int
	MaxTokens int      // 0: none was asked for
	Stop      []string // texts that end the reply
	Format    string   // JSON Schema that binds the reply; "": none
}

// Server is one that runs until the test ends.
type Server struct {
	URL string // without /v1

	script *script
	tokens func(text string) int
}

// Tokens is how many tokens its model takes to write a text.
func (s *Server) Tokens(text string) int { return s.tokens(text) }

// Say adds replies to those that the server was started with.
func (s *Server) Say(replies ...Reply) {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	s.script.replies = append(s.script.replies, replies...)
}

// Prompts are those that the model was given so far.
func (s *Server) Prompts() []Prompt {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	return append([]Prompt(nil), s.script.prompts...)
}

// Aborted counts the replies whose reader left before their end.
func (s *Server) Aborted() int {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	return s.script.aborted
}

// script hands out replies, in order, to the process that stands for the model.
type script struct {
	mu      sync.Mutex
	replies []Reply
	prompts []Prompt
	aborted int
	window  int // of Ollama's runner, from the moment in which it has loaded the model
}

// next notes a prompt, and gives the reply to it.
func (s *script) next(p Prompt) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts = append(s.prompts, p)
	if len(s.replies) == 0 {
		return Reply{Text: "<|channel|>final<|message|>The script has no further reply.<|return|>"}
	}
	for len(s.replies) > 1 && s.replies[0].Always {
		s.replies = s.replies[1:]
	}
	r := s.replies[0]
	if !r.Always {
		s.replies = s.replies[1:]
	}
	return r
}

// listen offers the script to processes. A process that waits at /alive knows when it ends.
func (s *script) listen() (url string, end func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /alive", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("POST /next", s.sayNext)
	s.runner(mux)
	// The context of a request ends with the server: a reply that pauses holds nothing up.
	srv := httptest.NewUnstartedServer(mux)
	ctx, cancel := context.WithCancel(context.Background())
	srv.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	srv.Start()
	return srv.URL, func() {
		cancel()
		srv.CloseClientConnections()
		srv.Close()
	}
}

// sayNext tells the next reply to a process that says it by itself.
func (s *script) sayNext(w http.ResponseWriter, r *http.Request) {
	var p Prompt
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, fmt.Sprintf("read the prompt: %v", err), http.StatusBadRequest)
		return
	}
	_, _ = w.Write([]byte(s.next(p).Text)) // the process may be gone
}

func replies(texts []string) []Reply {
	out := make([]Reply, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}
