package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// Wherever a segment ends, what is whole before stays, the half line is skipped, and the next
// start goes on in a new segment, with all files good JSON lines again.
func TestEndsAnywhere(t *testing.T) {
	c := newClock()
	base := t.TempDir()
	s := opened(t, base, c.now)
	for i := range 20 {
		s.Put(captureRule{}, sample(fmt.Sprint("r", i), c.now()))
	}
	ruletest.Must(t, s.Close())
	list, err := segments(base)
	ruletest.Must(t, err)
	text, err := os.ReadFile(list[0].path)
	ruletest.Must(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		at := random.IntN(len(text) + 1)
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.Base(list[0].path))
		ruletest.Must(t, os.WriteFile(path, text[:at], fileMode))
		whole := bytes.Count(text[:at], []byte("\n"))
		if got := all(t, dir); len(got) != whole {
			t.Fatalf("cut at %d: %d records of %d", at, len(got), whole)
		}
		s := opened(t, dir, c.now)
		s.Put(captureRule{}, sample("after", c.now()))
		ruletest.Must(t, s.Close())
		got := all(t, dir)
		if len(got) != whole+1 || got[whole].ID != "after" {
			t.Fatalf("cut at %d: %s", at, ids(got))
		}
		if n, _ := size(t, dir); n != s.Stats().Bytes {
			t.Fatalf("cut at %d: %d bytes, told %d", at, n, s.Stats().Bytes)
		}
		if after, err := os.ReadFile(path); err != nil || len(after) > 0 && after[len(after)-1] != '\n' {
			t.Fatalf("cut at %d: half a line stays", at)
		}
	}
}

// A disk may leave zeros, or what it likes, in the middle. The records around it are read.
func TestDamage(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	good, err := new(intake).own(captureRule{}.filled(), sample("good", c.now())).line(newOffered())
	ruletest.Must(t, err)
	long := append(bytes.Repeat([]byte("x"), maxLine+10), '\n')
	text := bytes.Join([][]byte{good, make([]byte, 5000), []byte("\n{\"id\":\"r\"}\n[]\n\n"), good, long,
		good, good[:40]}, nil)
	ruletest.Must(t, os.WriteFile(segmentPath(dir, 1, c.now()), text, fileMode))
	ruletest.Must(t, os.WriteFile(filepath.Join(dir, "replies-x.jsonl"), good, fileMode))
	n := 0
	damaged, err := ReadCaptures(dir, time.Time{}, func(*CaptureRecord) bool { n++; return true })
	if err != nil || n != 3 || damaged != 5 {
		t.Errorf("%d records, %d damaged, %v", n, damaged, err)
	}
}

// untilKilled records until somebody kills this process.
func untilKilled(dir string) {
	s, err := OpenCaptures(dir, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		s.Put(captureRule{Bytes: 1 << 20, Mask: true}, sample(fmt.Sprint(i), time.Now()))
		time.Sleep(50 * time.Microsecond) // others need the processor, too
	}
}

// A process that is killed while it writes leaves lines that can be read.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CAPTURE_UNTIL_KILLED="+dir)
		began := time.Now()
		ruletest.Must(t, cmd.Start())
		ruletest.Soon(t, "it writes", func() bool {
			n := 0
			_, err := ReadCaptures(dir, began, func(*CaptureRecord) bool { n++; return true })
			return err == nil && n > 20
		})
		ruletest.Must(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		if n, _ := size(t, dir); n > 1<<20 {
			t.Errorf("%d bytes", n)
		}
	}
	s := opened(t, dir, time.Now)
	s.Put(captureRule{}, sample("last", time.Now()))
	ruletest.Must(t, s.Close())
	if list := all(t, dir); len(list) < 20 || list[len(list)-1].ID != "last" {
		t.Errorf("%d records", len(list))
	}
}

// FuzzRead: whatever stands in a segment, the reader ends, and finds a good line behind it.
func FuzzRead(f *testing.F) {
	good, err := new(intake).own(captureRule{}.filled(), sample("good", newClock().now())).line(newOffered())
	ruletest.Must(f, err)
	f.Add([]byte(""))
	f.Add(good[:100])
	f.Add([]byte("{\"at\":\"2026-01-01T00:00:00Z\",\"cut\":{\"content\":-1}}\n\x00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var last *CaptureRecord
		n := 0
		damaged, err := read(bytes.NewReader(bytes.Join([][]byte{text, good}, []byte("\n"))),
			func(r *CaptureRecord) bool {
				last, n = r, n+1
				if line := r.Line(); strings.ContainsAny(line, "\n\x1b\x00") {
					t.Errorf("%q", line)
				}
				r.Fields()
				for _, m := range marks {
					m.is(r)
				}
				return true
			})
		if err != nil || last == nil || last.ID != "good" || n+damaged != bytes.Count(text, []byte("\n"))+2 {
			t.Errorf("%d records, %d damaged, %v", n, damaged, err)
		}
	})
}

// FuzzRecord: whatever a reply holds, it becomes one line that is read back.
func FuzzRecord(f *testing.F) {
	f.Add("plain", "thought", `{"command":"ls"}`, true)
	f.Add("\xff\x00\u2028 password=hunter22", "{\"key\":\"", `{"a":`, true)
	f.Fuzz(func(t *testing.T, content, thought, args string, on bool) {
		r := sample("r", newClock().now())
		r.Content, r.Reasoning, r.Messages = content, thought, json.RawMessage(args)
		r.Calls, r.Reading.Calls = []ServerCall{{"c", content, args}}, []Call{{Name: thought,
			Arguments: json.RawMessage(args)}}
		r.Tools[0].Parameters, r.Reading.Refused = json.RawMessage(args), []refusal{{"denied", args, content}}
		_, rec := lineOf(t, captureRule{Mask: on, Messages: true}, r)
		if !on && utf8.ValidString(content) && len(content) <= maxText && rec.Message.Content != content {
			t.Errorf("%q became %q", content, rec.Message.Content)
		}
		if _, err := rec.Replay(); err != nil {
			t.Error(err)
		}
	})
}
