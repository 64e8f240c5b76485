package experiment

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// BenchmarkPut is what the serving path pays, while the writer writes as it can.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{0, 32 << 10} {
		b.Run(fmt.Sprintf("reply=2KB,tools=%dKB", size>>10), func(b *testing.B) {
			s, err := OpenCaptures(b.TempDir(), slog.New(slog.DiscardHandler), time.Now)
			ruletest.Must(b, err)
			r := sample("r", time.Now())
			r.Content, r.Tools = strings.Repeat("The file says so. ", 2048/18), nil
			for range size >> 10 {
				r.Tools = append(r.Tools,
					tools.Tool{Name: "tool",
						Parameters: json.RawMessage(`{"description":"` + strings.Repeat("x", 1000) + `"}`)})
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Put(captureRule{Mask: true}, r)
			}
			b.StopTimer()
			ruletest.Must(b, s.Close())
		})
	}
}

// BenchmarkLine is what the writer pays for one record.
func BenchmarkLine(b *testing.B) {
	r := sample("r", time.Now())
	r.Content = strings.Repeat("The file says so. ", 2048/18)
	known := newOffered()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := new(intake).own(captureRule{Mask: true}.filled(), r).line(known); err != nil {
			b.Fatal(err)
		}
	}
}
