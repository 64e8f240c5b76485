package script

import (
	"fmt"
	"net/http"
)

// Dialect is what tells one kind of gpt-oss server from another on the wire. Those of Ollama 0.17.4 and of
// llama.cpp 0.5.0 are held to the real servers by the tests. Those of vLLM, SGLang and LM Studio follow their
// sources and what users reported: they were never compared with a real server.
type Dialect struct {
	ID        string
	Model     string            // the id that it lists
	Reasoning string            // field of the chain of thought, in replies and in history
	Pages     map[string]string // GET path → body; how a caller finds out whom it talks to
	Missing   string            // body for every other path
	MissingOK bool              // and its status is 200, not 404
	Header    map[string]string // on every reply
	Stream    map[string]string // header of streams

	First       string // the first delta of a stream; "": none
	Each        string // members of all other deltas
	WholeCalls  bool   // a streamed call is one delta, which has the finish_reason
	Fingerprint string // system_fingerprint
	Sparse      bool   // what a message does not have is left out, and its content is never null; no logprobs
	Details     string // members of usage
	Timings     string // members of the last chunk and of a whole reply
	OwnModel    bool   // replies name its own model, not the one that was asked for
	Code        bool   // errors have their status as code
	FlatErrors  bool   // {"object":"error",…} instead of {"error":{…}}
	ChatErrors  bool   // {"error":"…"}, as at Ollama's own API
	Chat        bool   // it has Ollama's own API, too
	Broken      Broken // how an error in a stream comes

	ErrorTypes map[int]string              // 0: of all other statuses; nil: as the script says
	Parse      func(Reply, *Request) Reply // what its parser makes of what the model says; nil: the same
}

// Broken is how a server ends a stream in which an error occurs.
type Broken int

// The ways to do that.
const (
	ErrorThenDone Broken = iota // the error, then [DONE]
	Bare                        // the error, and nothing else
	// a chunk without a word and without a model's name; before any other chunk: the error with its status
	Blanked
)

// Models is the body of /v1/models; more are further members of the model.
func Models(id, owner, more string) string {
	return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","created":%d,"owned_by":%q%s}]}`,
		id, created, owner, more)
}

// VLLM is vLLM since 2026, which says reasoning.
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

// LoadedPage is where Ollama lists the models that it has loaded; before its first reply, none.
const LoadedPage = "/api/ps"

// probe answers everything but a chat.
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

// fail sends an error as this kind of server shapes it.
func (d Dialect) fail(w http.ResponseWriter, e Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_, _ = w.Write(d.errorBody(e)) // the caller may have left
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
