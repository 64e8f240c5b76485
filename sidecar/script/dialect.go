package script

import (
	"fmt"
	"net/http"
)

// Dialect is what tells one kind of gpt-oss server from another on the wire.
type Dialect struct {
	ID         string
	Reasoning  string            // field of the chain of thought, in replies and in history
	Pages      map[string]string // GET path → body; how a caller finds out whom it talks to
	Missing    string            // body for every other path
	MissingOK  bool              // and its status is 200, not 404
	Header     map[string]string // on every reply
	Comments   bool              // streams carry ": ping" lines
	WholeCalls bool              // a streamed call is one delta, not many
	FlatErrors bool              // {"object":"error",…} instead of {"error":{…}}
}

// Dialects are all of them.
func Dialects() []Dialect {
	return []Dialect{VLLM(), OldVLLM(), Ollama(), LlamaCPP(), SGLang(), LMStudio()}
}

// models is the body of /v1/models; more are further members of the model.
func models(owner, more string) string {
	return fmt.Sprintf(`{"object":"list","data":[{"id":"openai/gpt-oss-20b","object":"model","created":%d,"owned_by":%q%s}]}`, created, owner, more)
}

// VLLM is vLLM since 2026, which says reasoning.
func VLLM() Dialect {
	return Dialect{ID: "vllm", Reasoning: "reasoning", Missing: `{"detail":"Not Found"}`,
		Header: map[string]string{"Server": "uvicorn"},
		Pages: map[string]string{
			"/v1/models": models("vllm", `,"root":"openai/gpt-oss-20b","parent":null,"max_model_len":131072`),
			"/version":   `{"version":"0.26.0"}`,
			"/health":    "",
		}}
}

// OldVLLM is vLLM until late 2025, which says reasoning_content and tells errors flat.
func OldVLLM() Dialect {
	d := VLLM()
	d.ID, d.Reasoning, d.FlatErrors = "vllm-old", "reasoning_content", true
	d.Pages["/version"] = `{"version":"0.11.0"}`
	return d
}

// Ollama sends calls whole.
func Ollama() Dialect {
	return Dialect{ID: "ollama", Reasoning: "reasoning", Missing: "404 page not found", WholeCalls: true,
		Pages: map[string]string{
			"/":            "Ollama is running",
			"/v1/models":   models("library", ""),
			"/api/version": `{"version":"0.21.0"}`,
			"/api/tags":    `{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","details":{"family":"gptoss"}}]}`,
		}}
}

// LlamaCPP is llama-server.
func LlamaCPP() Dialect {
	return Dialect{ID: "llamacpp", Reasoning: "reasoning_content", Comments: true,
		Missing: `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`,
		Header:  map[string]string{"Server": "llama.cpp"},
		Pages: map[string]string{
			"/v1/models": models("llamacpp", `,"meta":{"n_ctx_train":131072}`),
			"/props":     `{"default_generation_settings":{"n_ctx":131072},"total_slots":1,"model_path":"gpt-oss-20b-mxfp4.gguf","build_info":"b9120-3d1f2a0"}`,
			"/health":    `{"status":"ok"}`,
		}}
}

// SGLang tells errors flat.
func SGLang() Dialect {
	return Dialect{ID: "sglang", Reasoning: "reasoning_content", Missing: `{"detail":"Not Found"}`, FlatErrors: true,
		Header: map[string]string{"Server": "uvicorn"},
		Pages: map[string]string{
			"/v1/models":       models("sglang", `,"root":"openai/gpt-oss-20b","max_model_len":131072`),
			"/get_model_info":  `{"model_path":"openai/gpt-oss-20b","tokenizer_path":"openai/gpt-oss-20b","is_generation":true}`,
			"/get_server_info": `{"model_path":"openai/gpt-oss-20b","tool_call_parser":"gpt-oss","version":"0.6.1"}`,
			"/health":          "",
		}}
}

// LMStudio answers unknown paths with an error and status 200.
func LMStudio() Dialect {
	return Dialect{ID: "lmstudio", Reasoning: "reasoning", MissingOK: true,
		Missing: `{"error":"Unexpected endpoint or method. Returning 200 anyway"}`,
		Pages: map[string]string{
			"/v1/models":     models("organization_owner", ""),
			"/api/v0/models": `{"object":"list","data":[{"id":"openai/gpt-oss-20b","object":"model","type":"llm","publisher":"openai","arch":"gpt-oss","compatibility_type":"gguf","state":"loaded","max_context_length":131072}]}`,
		}}
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
	fields := map[string]any{"message": e.Message, "type": e.Type, "param": nil, "code": e.Status}
	if d.FlatErrors {
		fields["object"] = "error"
		return encode(fields)
	}
	return encode(map[string]any{"error": fields})
}
