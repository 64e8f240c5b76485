package setup

import (
	"slices"
	"strconv"
	"strings"
)

// fault is a known fault of a kind of server with calls of gpt-oss.
type fault struct {
	dialect string
	mended  string // first version without it
	what    string
	fix     string
	source  string // where that is documented
}

// faults lists the faults whose fixed version is known. The questions find others.
func faults() []fault {
	return []fault{
		{"vllm", "0.10.2", "it has no --tool-call-parser openai, so calls of gpt-oss come as text", "pip install --upgrade vllm",
			"https://github.com/vllm-project/recipes/pull/83"},
		{"ollama", "0.12.10", "a call of gpt-oss can end in error 500, unexpected error format", "update Ollama to 0.12.10 or newer",
			"https://github.com/ollama/ollama/issues/11800"},
	}
}

// faulty returns the first known fault of a version, or nil.
func faulty(dialect, version string) *fault {
	list := faults()
	i := slices.IndexFunc(list,
		func(f fault) bool { return f.dialect == dialect && older(version, f.mended) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// older reports whether a version precedes another, by the numbers at their beginning: 0.10.2rc1 precedes
// 0.10.2. It is false for other texts, such as a commit.
func older(version, than string) bool {
	have, rest := numbers(version)
	want, _ := numbers(than)
	if len(have) < 2 {
		return false
	}
	for len(have) < len(want) {
		have = append(have, 0)
	}
	if c := slices.Compare(have[:len(want)], want); c != 0 {
		return c < 0
	}
	rest = strings.TrimLeft(rest, ".-_")
	return strings.HasPrefix(rest, "rc") || strings.HasPrefix(rest, "dev") || strings.HasPrefix(rest, "a") ||
		strings.HasPrefix(rest, "b")
}

// numbers splits a version into its leading numbers and the rest.
func numbers(version string) (out []int, rest string) {
	rest = strings.TrimPrefix(version, "v")
	for {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			return out, rest
		}
		out, rest = append(out, n), rest[end:]
		if !strings.HasPrefix(rest, ".") || len(rest) < 2 || rest[1] < '0' || rest[1] > '9' {
			return out, rest
		}
		rest = rest[1:]
	}
}
