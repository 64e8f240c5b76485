package harmony_test

import (
	"encoding/json"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

func TestScan(t *testing.T) {
	tokens := harmony.NewAlphabet(harmony.TokenSigns{})
	for _, row := range []struct {
		text      string
		end, stop int
	}{
		{`{"a":"}"} x`, 9, 0},
		{`[1,[2]]`, 7, 0},
		{`{"a":"\"}"}`, 11, 0},
		{`{"a":1`, 0, 0},
		{`{"a":1<|call|>`, 0, 7},
		{`{"a":"<|call|>"}`, 16, 0},
		{`{"a":1</X>`, 0, 7},
	} {
		s := harmony.Scan{Tokens: tokens, Stops: []string{"</x>"}}
		whole := s.Run(row.text, true)
		if s.End != row.end || s.Stop != row.stop || whole != (row.end+row.stop > 0) {
			t.Errorf("%q: end %d, stop %d, whole %v", row.text, s.End, s.Stop, whole)
		}
	}
}

// A value ends at the same byte, however its text comes in; a valid one behind its last byte.
func FuzzScan(f *testing.F) {
	f.Add(`{"a":"\\"}<|call|>`, uint8(1))
	f.Add(`[{"b":[]}]]`, uint8(3))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		whole := harmony.Scan{}
		whole.Run(text, true)
		pieces := harmony.Scan{}
		for n := 0; n < len(text); n += int(step)%7 + 1 {
			pieces.Run(text[:n], false)
		}
		pieces.Run(text, true)
		if whole.End != pieces.End || whole.Stop != pieces.Stop {
			t.Fatalf("%q: end %d, in pieces %d", text, whole.End, pieces.End)
		}
		if len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) && whole.End == 0 {
			t.Fatalf("%q has no end", text)
		}
	})
}
