package servers

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Dialects are those of all kinds of servers.
func Dialects() []script.Dialect {
	return []script.Dialect{script.VLLM(), OldVLLM(), Ollama(), LlamaCPP(), SGLang(), LMStudio()}
}

// OldVLLM is vLLM until late 2025, which says reasoning_content and tells errors flat.
func OldVLLM() script.Dialect {
	d := script.VLLM()
	d.ID, d.Reasoning, d.FlatErrors = "vllm-old", "reasoning_content", true
	d.Pages["/version"] = `{"version":"0.11.0"}`
	return d
}

// ggufModel is the id of the model in Ollama.
const ggufModel = "gpt-oss:20b"

// Ollama is Ollama 0.17.4.
func Ollama() script.Dialect {
	return script.Dialect{ID: "ollama", Model: ggufModel, Reasoning: "reasoning",
		Missing: "404 page not found",
		Each:    `"role":"assistant","content":""`, WholeCalls: true, Sparse: true, Fingerprint: "fp_ollama",
		Broken: script.Blanked, Chat: true,
		ErrorTypes: map[int]string{http.StatusBadRequest: "invalid_request_error", 0: "api_error"},
		Parse:      ollamaParse,
		Pages: map[string]string{
			"/":               "Ollama is running",
			"/v1/models":      script.Models(ggufModel, "library", ""),
			"/api/version":    `{"version":"0.17.4"}`,
			"/api/tags":       `{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","modified_at":"2026-11-01T12:00:00Z","size":13793441244,"digest":"17052f91a42e","details":{"parent_model":"","format":"gguf","family":"gptoss","families":["gptoss"],"parameter_size":"20.9B","quantization_level":"MXFP4"}}]}`,
			script.LoadedPage: `{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","size":14000000000,"digest":"17052f91a42e","details":{"parent_model":"","format":"gguf","family":"gptoss","families":["gptoss"],"parameter_size":"20.9B","quantization_level":"MXFP4"},"expires_at":"2026-11-01T12:05:00Z","size_vram":14000000000,"context_length":131072}]}`,
		}}
}

// LlamaCPP is llama-server 0.5.0.
func LlamaCPP() script.Dialect {
	const id = "gpt-oss-20b-mxfp4.gguf"
	return script.Dialect{ID: "llamacpp", Model: id, Reasoning: "reasoning_content",
		First: `{"role":"assistant","content":null}`, Sparse: true, OwnModel: true, Fingerprint: "b1-de3ff81",
		Code: true, Broken: script.Bare,
		Details: `,"prompt_tokens_details":{"cached_tokens":0}`,
		Timings: `,"timings":{"cache_n":0,"prompt_n":1,"prompt_ms":1.5,"prompt_per_token_ms":1.5,"prompt_per_second":666.6,"predicted_n":1,"predicted_ms":1.5,"predicted_per_token_ms":1.5,"predicted_per_second":666.6}`,
		ErrorTypes: map[int]string{http.StatusBadRequest: "invalid_request_error",
			http.StatusUnauthorized: "authentication_error",
			http.StatusNotFound:     "not_found_error", http.StatusServiceUnavailable: "unavailable_error",
			0: "server_error"},
		Parse:   llamaParse,
		Missing: `{"error":{"message":"File Not Found","type":"not_found_error","code":404}}`,
		Header:  map[string]string{"Server": "llama.cpp", "Access-Control-Allow-Origin": ""},
		Stream:  map[string]string{"X-Accel-Buffering": "no", "Content-Type": "text/event-stream"},
		Pages: map[string]string{
			"/v1/models": `{"models":[{"name":"` + id + `","model":"` + id +
				`","modified_at":"","size":"","digest":"","type":"model","description":"","tags":[""],"capabilities":["completion"],"parameters":"","details":{"parent_model":"","format":"gguf","family":"","families":[""],"parameter_size":"","quantization_level":""}}],` +
				script.Models(id, "llamacpp", `,"aliases":["`+id+
					`"],"tags":[],"meta":{"vocab_type":2,"n_vocab":201088,"n_ctx":131072,"n_ctx_train":131072,"n_embd":2880,"n_params":20914757184,"size":12102000000,"ftype":"MXFP4 MoE"}`)[1:],
			"/props": `{"default_generation_settings":{"n_ctx":131072},"total_slots":1,"model_alias":"` +
				id + `","model_path":"` + id +
				`","modalities":{"vision":false,"video":false,"audio":false},"build_info":"b1-de3ff81"}`,
			"/health": `{"status":"ok"}`,
		}}
}

// SGLang tells errors flat.
func SGLang() script.Dialect {
	d := script.VLLM()
	d.ID, d.Reasoning, d.FlatErrors = "sglang", "reasoning_content", true
	d.Pages = map[string]string{
		"/v1/models":       script.Models(d.Model, "sglang", `,"root":"openai/gpt-oss-20b","max_model_len":131072`),
		"/get_model_info":  `{"model_path":"openai/gpt-oss-20b","tokenizer_path":"openai/gpt-oss-20b","is_generation":true}`,
		"/get_server_info": `{"model_path":"openai/gpt-oss-20b","tool_call_parser":"gpt-oss","version":"0.6.1"}`,
		"/health":          "",
	}
	return d
}

// LMStudio answers unknown paths with an error and status 200.
func LMStudio() script.Dialect {
	d := script.VLLM()
	d.ID, d.Header = "lmstudio", nil
	d.Missing, d.MissingOK = `{"error":"Unexpected endpoint or method. Returning 200 anyway"}`, true
	d.Pages = map[string]string{
		"/v1/models":     script.Models(d.Model, "organization_owner", ""),
		"/api/v0/models": `{"object":"list","data":[{"id":"openai/gpt-oss-20b","object":"model","type":"llm","publisher":"openai","arch":"gpt-oss","compatibility_type":"gguf","state":"loaded","max_context_length":131072}]}`,
	}
	return d
}
