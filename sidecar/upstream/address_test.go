package upstream

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	tests := []struct{ in, base, root string }{
		{"http://h:8000", "http://h:8000/v1", "http://h:8000"},
		{"http://h:8000/", "http://h:8000/v1", "http://h:8000"},
		{"http://h:8000/v1", "http://h:8000/v1", "http://h:8000"},
		{" http://h:8000/v1/ ", "http://h:8000/v1", "http://h:8000"},
		{"h:8000/v1/chat/completions", "http://h:8000/v1", "http://h:8000"},
		{"https://h/llm/gpt/v1//", "https://h/llm/gpt/v1", "https://h/llm/gpt"},
		{"https://h/llm", "https://h/llm/v1", "https://h/llm"},
		{"https://h/openai/v3", "https://h/openai/v3", "https://h/openai"},
		{"http://[::1]:11434", "http://[::1]:11434/v1", "http://[::1]:11434"},
	}
	for _, tt := range tests {
		base, root, err := parseBase(tt.in)
		if err != nil || base != tt.base || root != tt.root {
			t.Errorf("addresses(%q) = %q, %q, %v", tt.in, base, root, err)
		}
	}
	for _, bad := range []string{"", "ftp://h", "http://", "http://h/v1?x=1", "http://user:pass word@h:x"} {
		if _, _, err := parseBase(bad); err == nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("addresses(%q): %v", bad, err)
		}
	}
}
