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

	errorTypes map[int]string              // 0: of all other statuses; nil: as the script says
	parse      func(Reply, *Request) Reply // what its parser makes of what the model says; nil: the same
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

// Dialects are all of them.
func Dialects() []Dialect {
	return []Dialect{VLLM(), OldVLLM(), Ollama(), LlamaCPP(), SGLang(), LMStudio()}
}

// hfModel is the model's id where it comes from Hugging Face, and ggufModel in Ollama.
const (
	hfModel   = "openai/gpt-oss-20b"
	ggufModel = "gpt-oss:20b"
)

// openAI is what the servers have in common that are not measured.
func openAI(id, reasoning string) Dialect {
	return Dialect{ID: id, Model: hfModel, Reasoning: reasoning, First: `{"role":"assistant","content":""}`,
		Code:    true,
		Details: `,"completion_tokens_details":{"reasoning_tokens":%d}`}
}

// models is the body of /v1/models; more are further members of the model.
func models(id, owner, more string) string {
	return fmt.Sprintf(`{"object":"list","data":[{"id":%q,"object":"model","created":%d,"owned_by":%q%s}]}`,
		id, created, owner, more)
}

// VLLM is vLLM since 2026, which says reasoning.
func VLLM() Dialect {
	d := openAI("vllm", "reasoning")
	d.Missing, d.Header = `{"detail":"Not Found"}`, map[string]string{"Server": "uvicorn"}
	d.Pages = map[string]string{
		"/v1/models": models(d.Model, "vllm",
			`,"root":"openai/gpt-oss-20b","parent":null,"max_model_len":131072`),
		"/version": `{"version":"0.26.0"}`,
		"/health":  "",
	}
	return d
}

// OldVLLM is vLLM until late 2025, which says reasoning_content and tells errors flat.
func OldVLLM() Dialect {
	d := VLLM()
	d.ID, d.Reasoning, d.FlatErrors = "vllm-old", "reasoning_content", true
	d.Pages["/version"] = `{"version":"0.11.0"}`
	return d
}

// Ollama is Ollama 0.17.4.
func Ollama() Dialect {
	return Dialect{ID: "ollama", Model: ggufModel, Reasoning: "reasoning", Missing: "404 page not found",
		Each: `"role":"assistant","content":""`, WholeCalls: true, Sparse: true, Fingerprint: "fp_ollama",
		Broken: Blanked, Chat: true,
		errorTypes: map[int]string{http.StatusBadRequest: "invalid_request_error", 0: "api_error"},
		parse:      ollamaParse,
		Pages: map[string]string{
			"/":            "Ollama is running",
			"/v1/models":   models(ggufModel, "library", ""),
			"/api/version": `{"version":"0.17.4"}`,
			"/api/tags":    `{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","modified_at":"2026-11-01T12:00:00Z","size":13793441244,"digest":"17052f91a42e","details":{"parent_model":"","format":"gguf","family":"gptoss","families":["gptoss"],"parameter_size":"20.9B","quantization_level":"MXFP4"}}]}`,
			loadedPage:     `{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","size":14000000000,"digest":"17052f91a42e","details":{"parent_model":"","format":"gguf","family":"gptoss","families":["gptoss"],"parameter_size":"20.9B","quantization_level":"MXFP4"},"expires_at":"2026-11-01T12:05:00Z","size_vram":14000000000,"context_length":131072}]}`,
		}}
}

// loadedPage is where Ollama lists the models that it has loaded; before its first reply, none.
const loadedPage = "/api/ps"

// LlamaCPP is llama-server 0.5.0.
func LlamaCPP() Dialect {
	const id = "gpt-oss-20b-mxfp4.gguf"
	return Dialect{ID: "llamacpp", Model: id, Reasoning: "reasoning_content",
		First: `{"role":"assistant","content":null}`, Sparse: true, OwnModel: true, Fingerprint: "b1-de3ff81",
		Code: true, Broken: Bare,
		Details: `,"prompt_tokens_details":{"cached_tokens":0}`,
		Timings: `,"timings":{"cache_n":0,"prompt_n":1,"prompt_ms":1.5,"prompt_per_token_ms":1.5,"prompt_per_second":666.6,"predicted_n":1,"predicted_ms":1.5,"predicted_per_token_ms":1.5,"predicted_per_second":666.6}`,
		errorTypes: map[int]string{http.StatusBadRequest: "invalid_request_error",
			http.StatusUnauthorized: "authentication_error",
			http.StatusNotFound:     "not_found_error", http.StatusServiceUnavailable: "unavailable_error",
			0: "server_error"},
		parse:   llamaParse,
		Missing: `{"error":{"message":"File Not Found","type":"not_found_error","code":404}}`,
		Header:  map[string]string{"Server": "llama.cpp", "Access-Control-Allow-Origin": ""},
		Stream:  map[string]string{"X-Accel-Buffering": "no", "Content-Type": "text/event-stream"},
		Pages: map[string]string{
			"/v1/models": `{"models":[{"name":"` + id + `","model":"` + id +
				`","modified_at":"","size":"","digest":"","type":"model","description":"","tags":[""],"capabilities":["completion"],"parameters":"","details":{"parent_model":"","format":"gguf","family":"","families":[""],"parameter_size":"","quantization_level":""}}],` +
				models(id, "llamacpp", `,"aliases":["`+id+
					`"],"tags":[],"meta":{"vocab_type":2,"n_vocab":201088,"n_ctx":131072,"n_ctx_train":131072,"n_embd":2880,"n_params":20914757184,"size":12102000000,"ftype":"MXFP4 MoE"}`)[1:],
			"/props": `{"default_generation_settings":{"n_ctx":131072},"total_slots":1,"model_alias":"` +
				id + `","model_path":"` + id +
				`","modalities":{"vision":false,"video":false,"audio":false},"build_info":"b1-de3ff81"}`,
			"/health": `{"status":"ok"}`,
		}}
}

// SGLang tells errors flat.
func SGLang() Dialect {
	d := openAI("sglang", "reasoning_content")
	d.Missing, d.FlatErrors, d.Header = `{"detail":"Not Found"}`, true, map[string]string{"Server": "uvicorn"}
	d.Pages = map[string]string{
		"/v1/models":       models(d.Model, "sglang", `,"root":"openai/gpt-oss-20b","max_model_len":131072`),
		"/get_model_info":  `{"model_path":"openai/gpt-oss-20b","tokenizer_path":"openai/gpt-oss-20b","is_generation":true}`,
		"/get_server_info": `{"model_path":"openai/gpt-oss-20b","tool_call_parser":"gpt-oss","version":"0.6.1"}`,
		"/health":          "",
	}
	return d
}

// LMStudio answers unknown paths with an error and status 200.
func LMStudio() Dialect {
	d := openAI("lmstudio", "reasoning")
	d.Missing, d.MissingOK = `{"error":"Unexpected endpoint or method. Returning 200 anyway"}`, true
	d.Pages = map[string]string{
		"/v1/models":     models(d.Model, "organization_owner", ""),
		"/api/v0/models": `{"object":"list","data":[{"id":"openai/gpt-oss-20b","object":"model","type":"llm","publisher":"openai","arch":"gpt-oss","compatibility_type":"gguf","state":"loaded","max_context_length":131072}]}`,
	}
	return d
}

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
	if kind, ok := d.errorTypes[e.Status]; ok {
		fields["type"] = kind
	} else if d.errorTypes != nil {
		fields["type"] = d.errorTypes[0]
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
