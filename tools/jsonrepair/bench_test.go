package jsonrepair

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// arguments returns the arguments of a write call, about n bytes long.
func arguments(n int) string {
	var lines strings.Builder
	for i := 0; lines.Len() < n; i++ {
		fmt.Fprintf(&lines, "func handler%d(w http.ResponseWriter, r *http.Request) {\n\tlog(\"request %d\")\n}\n", i, i)
	}
	doc, err := json.Marshal(map[string]any{"path": "internal/handler.go", "content": lines.String(),
		"mode": 420, "tags": []string{"a", "b"}})
	if err != nil {
		panic(err)
	}
	return string(doc)
}

// members returns an object with many short members, about n bytes long.
func members(n int) string {
	var doc strings.Builder
	doc.WriteString(`{"items": [`)
	for i := 0; doc.Len() < n; i++ {
		fmt.Fprintf(&doc, `{"id": %d, "name": "item %d", "tags": ["x", "y"], "ok": true}, `, i, i)
	}
	return strings.TrimSuffix(doc.String(), ", ") + "]}"
}

func BenchmarkRepair(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1KB", 900}, {"58KB", 57000}} {
		for _, kind := range []struct {
			name string
			make func(int) string
		}{{"call", arguments}, {"members", members}} {
			valid := kind.make(size.n)
			for _, damage := range []struct {
				name string
				text string
			}{
				{"valid", valid},
				{"truncated", valid[:len(valid)*9/10]},
				{"trailing comma", valid[:len(valid)-1] + ",}"},
				{"single quotes", strings.ReplaceAll(valid, `"`, `'`)},
				{"raw newlines", strings.ReplaceAll(valid, `\n`, "\n") + "]"},
				{"inner quotes", strings.ReplaceAll(valid, `\"`, `"`) + "]"},
				{"no commas", strings.ReplaceAll(valid, ", ", " ") + "]"},
			} {
				b.Run(size.name+"/"+kind.name+"/"+damage.name, func(b *testing.B) {
					b.SetBytes(int64(len(damage.text)))
					b.ReportAllocs()
					for b.Loop() {
						if _, err := Repair(damage.text, 0); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
