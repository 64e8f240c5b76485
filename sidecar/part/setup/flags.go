package setup

import (
	"fmt"
	"strings"
)

// flaw is a mistake in the start of a model server.
type flaw int

const (
	toolsOff flaw = iota
	toolsRaw
	noReasoning
	noSchema
	smallWindow
	cutReplies
	noModel
)

// remedy returns the flag or command that mends a flaw of a server, by its dialect.
func remedy(f flaw, dialect, model string) string {
	size := "20b"
	if strings.Contains(strings.ToLower(model), "120b") {
		size = "120b"
	}
	pull, load := "gpt-oss:"+size, "openai/gpt-oss-"+size
	parsers := "start SGLang with --tool-call-parser gpt-oss --reasoning-parser gpt-oss"
	by := map[flaw]map[string]string{
		toolsOff: {
			"vllm": "start vLLM with --tool-call-parser openai --enable-auto-tool-choice",
			"ollama": "ollama pull " + pull +
				", in case the template of the model that is there has no tools",
			"llamacpp": "start llama-server with --jinja",
			"sglang":   parsers,
			"lmstudio": "lms get " + load + ", in case the template of the model that is there has no tools",
			"":         "turn tool calling on at the server, for the format of gpt-oss, Harmony",
		},
		noReasoning: {
			"vllm":     "start vLLM with --reasoning-parser openai_gptoss",
			"ollama":   "update Ollama, then ollama pull " + pull,
			"llamacpp": "start llama-server with --jinja --reasoning-format auto",
			"sglang":   parsers,
			"lmstudio": "update LM Studio to 0.3.23 or newer, and turn on Settings, Developer, separate reasoning_content",
			"":         "turn on at the server that reasoning is told apart from the answer",
		},
		noSchema: {
			"vllm":     "start vLLM with --structured-outputs-config.backend xgrammar; for gpt-oss this works from August 2026 on, so update vLLM first",
			"vllm_old": "pip install --upgrade vllm: guided_json of this version does nothing with gpt-oss",
			"ollama":   "update Ollama; it follows response_format of a model that it knows as gptoss: ollama pull " + pull,
			"llamacpp": "update llama.cpp, and start llama-server with --jinja; gpt-oss follows a schema from August 2025 on",
			"sglang":   "start SGLang with --grammar-backend xgrammar",
			"lmstudio": "nothing at the server: in LM Studio a schema breaks the format of gpt-oss. Leave tool calling on",
			"":         "leave tool calling on at the server",
		},
		smallWindow: {
			"vllm":     "start vLLM with --max-model-len 65536",
			"ollama":   "start Ollama with OLLAMA_CONTEXT_LENGTH=65536 ollama serve",
			"llamacpp": "start llama-server with -c 65536, for each of its slots (-np)",
			"sglang":   "start SGLang with --context-length 65536",
			"lmstudio": "lms load " + load + " --context-length 65536",
			"":         "start the server with a context window of 65536 tokens",
		},
		cutReplies: {
			"vllm":     `start vLLM with --override-generation-config '{"max_new_tokens":32768}', or mend generation_config.json of the model`,
			"ollama":   "set PARAMETER num_predict -1 in the Modelfile, then ollama create",
			"llamacpp": "start llama-server with -n -1",
			"sglang":   `start SGLang with --preferred-sampling-params '{"max_new_tokens":32768}'`,
			"lmstudio": "turn off Limit Response Length in the settings of the model",
			"":         "let the server make replies of 8192 tokens",
		},
		noModel: {
			"vllm": "start vLLM with vllm serve " + load +
				", or set name of the model in models.yaml to one that the server lists",
			"ollama": "ollama pull " + pull +
				", or set name of the model in models.yaml to one that the server lists",
			"llamacpp": "start llama-server with -hf ggml-org/gpt-oss-" + size +
				"-GGUF, or set name of the model in models.yaml to one that the server lists",
			"sglang": "start SGLang with --model-path " + load +
				", or set name of the model in models.yaml to one that the server lists",
			"lmstudio": "lms load " + load +
				", or set name of the model in models.yaml to one that the server lists",
			"": "set name of the model in models.yaml to one that the server lists",
		},
	}
	if f == toolsRaw {
		f = toolsOff
	}
	fixes := by[f]
	for _, id := range []string{dialect, strings.TrimSuffix(dialect, "_old"), ""} {
		if fix := fixes[id]; fix != "" {
			return fix
		}
	}
	return ""
}

// startHint describes how to start each kind of server at an address.
func startHint(url string) string {
	return fmt.Sprintf("start the model server, or name where it is: --upstream, which is %s now. Usual are http://127.0.0.1:8000/v1 (vLLM), "+
		":11434/v1 (Ollama), :8080/v1 (llama.cpp), :30000/v1 (SGLang), :1234/v1 (LM Studio)", url)
}
