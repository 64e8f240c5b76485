package script

import (
	"fmt"
	"net/http"
)

// Dialect describes how one kind of gpt-oss server differs on the wire. Tests compare those of Ollama
// 0.17.4 and llama.cpp 0.5.0 with the real servers. Those of vLLM, SGLang and LM Studio follow their
// sources and reports of users, and were never compared with a real server.
type Dialect struct {
	ID        string
	Model     string            // the id that it lists
	Reasoning string            // field of the reasoning, in replies and in history
	Pages     map[string]string // GET path → body, by which callers identify the server
	Missing   string            // body for every other path
	MissingOK bool              // with status 200, not 404
	Header    map[string]string // on every reply
	Stream    map[string]string // header of streams

	First       string // first delta of a stream; "": none
	Each        string // members of all later deltas
	WholeCalls  bool   // a streamed call is one delta, with the finish_reason
	Fingerprint string // system_fingerprint
	Sparse      bool   // missing members are left out, content is never null, and there are no logprobs
	Details     string // members of usage
	Timings     string // members of the last chunk and of a whole reply
	OwnModel    bool   // replies have its own model name, not the requested one
	Code        bool   // errors have their status as code
	FlatErrors  bool   // {"object":"error",…} instead of {"error":{…}}
	ChatErrors  bool   // {"error":"…"}, as at Ollama's own API
	Chat        bool   // it also has Ollama's own API
	Broken      Broken // how an error in a stream comes

	ErrorTypes map[int]string              // type by status; 0: all others; nil: as the script says
	Parse      func(Reply, *Request) Reply // how its parser changes a reply; nil: not at all
}

// Broken is how a server ends a stream after an error.
type Broken int

// The values of Broken.
const (
	ErrorThenDone Broken = iota // the error, then [DONE]
	Bare                        // the error, and nothing else
	// a chunk without text and model name; before the first chunk: the error with its status
	Blanked
)

// Models returns the body of /v1/models; more holds further members of the model.
func Models(id, owner, more string) string {
	return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","created":%d,"owned_by":%q%s}]}`,
		id, created, owner, more)
}

// VLLM is the dialect of vLLM since 2026, which uses the field reasoning.
func VLLM() Dialect {
	d := Dialect{ID: "vllm", Model: "openai/gpt-oss-20b", Reasoning: "reasoning",
		First: `{"role":"assistant","content":""}`, Code: true,
		Details: `,"completion_tokens_details":{"reasoning_tokens":%d}`,
		Missing: `{"detail":"Not Found"}`, Header: map[string]string{"Server": "uvicorn"}}
	d.Pages = map[string]string{
		"/v1/models": Models(d.Model, "vllm",
			`,"root":"openai/gpt-oss-20b","parent":null,"max_model_len":131072`),
		"/version": `{"version":"0.26.0"}`,
		"/health":  "",
	}
	return d
}

// LoadedPage is where Ollama lists its loaded models, which are none before its first reply.
const LoadedPage = "/api/ps"

// probe answers all requests except for chats.
func (d Dialect) probe(w http.ResponseWriter, r *http.Request) {
	body, ok := d.Pages[r.URL.Path]
	if ok && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		contentType(w, body)
		fmt.Fprint(w, body)
		return
	}
	contentType(w, d.Missing)
	if !d.MissingOK {
		w.WriteHeader(http.StatusNotFound)
	}
	fmt.Fprint(w, d.Missing)
}

func contentType(w http.ResponseWriter, body string) {
	if len(body) > 0 && body[0] == '{' {
		w.Header().Set("Content-Type", "application/json")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
}

// fail sends an error in the dialect.
func (d Dialect) fail(w http.ResponseWriter, e Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_, _ = w.Write(d.errorBody(e)) // the caller may be gone
}

func (d Dialect) errorBody(e Error) []byte {
	if d.ChatErrors {
		return encode(map[string]string{"error": e.Message})
	}
	fields := map[string]any{"message": e.Message, "type": e.Type}
	if kind, ok := d.ErrorTypes[e.Status]; ok {
		fields["type"] = kind
	} else if d.ErrorTypes != nil {
		fields["type"] = d.ErrorTypes[0]
	}
	if d.ID != "llamacpp" {
		fields["param"], fields["code"] = nil, nil
	}
	if d.Code {
		fields["code"] = e.Status
	}
	if d.FlatErrors {
		fields["object"] = "error"
		return encode(fields)
	}
	return encode(map[string]any{"error": fields})
}
