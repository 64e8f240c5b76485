package sidecar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// A request like a gateway's: a long prompt, and twelve calls with their results.
func BenchmarkChat(b *testing.B) {
	input := []string{`{"type":"message","role":"developer","content":[{"type":"input_text","text":"` +
		strings.Repeat("Be <kind> and | brief.\\n", 1500) + `"}]}`, userGo}
	for i := range 12 {
		input = append(input, think, strings.Replace(callB, `"b"`, fmt.Sprintf(`"b%d"`, i), 1),
			strings.Replace(outB, `"b"`, fmt.Sprintf(`"b%d"`, i), 1))
	}
	body := []byte(strings.TrimSuffix(items(input...), "}") + `,"stream":true,"tools":[` + readTool +
		`,` + strings.Repeat(readTool+",", 11) + readTool + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := toChat(body)
		ruletest.Must(b, err)
	}
}
