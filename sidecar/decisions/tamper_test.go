package decisions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// small is a closed log of a few records in one file, and its text.
func small(t testing.TB) (dir, file string, text []byte) {
	dir = filepath.Join(t.TempDir(), "log")
	l := open(t, Config{Dir: dir, HeadRecords: 3})
	for range 5 {
		_ = l.Add(Decision{Tool: "x"})
	}
	shut(t, l)
	list, err := segments(dir)
	if err == nil {
		file = list[0].path
		text, err = os.ReadFile(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, file, text
}

// mustName checks that Verify finds something, and first at this record.
func mustName(t testing.TB, dir, what string, seq uint64) {
	t.Helper()
	r := verified(t, dir)
	if len(r.Problems) == 0 {
		t.Fatalf("%s: nothing is wrong", what)
	}
	if p := r.Problems[0]; p.Seq != seq {
		t.Errorf("%s: %s, want record %d", what, p, seq)
	}
}

func write(t testing.TB, file string, parts ...[]byte) {
	t.Helper()
	if err := os.WriteFile(file, bytes.Join(parts, nil), fileMode); err != nil {
		t.Fatal(err)
	}
}

// Whatever byte is changed, the record is named in which it stands.
func TestEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	dir, file, text := small(t)
	seq := uint64(1)
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= byte(1 + i%255)
		write(t, file, changed)
		mustName(t, dir, fmt.Sprintf("byte %d of record %d is %q", i, seq, changed[i]), seq)
		if text[i] == '\n' {
			seq++
		}
	}
	write(t, file, text)
	mustBeGood(t, dir)
	head, err := os.ReadFile(filepath.Join(dir, headFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(head) - 1 {
		changed := bytes.Clone(head)
		changed[i] ^= 1
		write(t, filepath.Join(dir, headFile), changed)
		if r := verified(t, dir); len(r.Problems) == 0 {
			t.Errorf("byte %d of the head", i)
		}
	}
}

// Records that are dropped, doubled, exchanged, cut off or put in are named.
func TestEveryRecord(t *testing.T) {
	dir, file, text := small(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	forged := Record{Decision: &Decision{Tool: "exec", Effect: "allow"}}
	for i := range lines {
		seq := uint64(i + 1)
		write(t, file, slices.Concat(lines[:i], lines[i+1:])...)
		after := seq + 1 // it is missed before the next one
		if i == len(lines)-1 {
			after = seq
		}
		mustName(t, dir, fmt.Sprintf("without %d", seq), after)
		if p := verified(t, dir).Problems[0]; i > 0 && i < len(lines)-1 &&
			!strings.Contains(p.Why, fmt.Sprintf("record %d is missing", seq)) {
			t.Errorf("without %d: %s", seq, p)
		}
		write(t, file, slices.Concat(lines[:i+1], lines[i:])...)
		mustName(t, dir, fmt.Sprintf("%d twice", seq), seq)
		if i == 0 {
			continue
		}
		write(t, file, lines[:i]...)
		mustName(t, dir, fmt.Sprintf("cut before %d", seq), seq)
		if i < len(lines)-1 {
			write(t, file, slices.Concat(lines[:i], [][]byte{lines[i+1], lines[i]}, lines[i+2:])...)
			mustName(t, dir, fmt.Sprintf("%d and %d exchanged", seq, seq+1), seq+1)
		}
		r, err := parse(bytes.TrimSuffix(lines[i-1], []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		var put bytes.Buffer
		forged.Seq, forged.Prev = seq, r.Hash
		if err := forged.append(&put); err != nil {
			t.Fatal(err)
		}
		write(t, file, slices.Concat(lines[:i], [][]byte{put.Bytes()}, lines[i:])...)
		mustName(t, dir, fmt.Sprintf("one put in before %d", seq), seq)
	}
	var put bytes.Buffer
	forged.Seq, forged.Prev = uint64(len(lines)+1), verified(t, dir).Last.Hash
	write(t, file, text)
	forged.Prev = mustBeGood(t, dir).Last.Hash
	if err := forged.append(&put); err != nil {
		t.Fatal(err)
	}
	write(t, file, text, put.Bytes())
	mustName(t, dir, "one put in at the end", forged.Seq)
}

// Somebody who changes a record and hashes all that follows anew is found by the head, and
// where that is made anew, too, by a hash that was noted elsewhere.
func TestHashedAnew(t *testing.T) {
	dir, file, text := small(t)
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	head, err := os.ReadFile(filepath.Join(dir, headFile))
	if err != nil {
		t.Fatal(err)
	}
	noted := mustBeGood(t, dir).Last
	for i := range lines {
		var out bytes.Buffer
		var last Checkpoint
		for k, l := range lines {
			r, err := parse(l)
			if err != nil {
				t.Fatal(err)
			}
			if k == i {
				r.Time = r.Time.Add(1)
			}
			r.Prev = last.Hash
			if err := r.append(&out); err != nil {
				t.Fatal(err)
			}
			last = Checkpoint{r.Seq, r.Hash}
		}
		write(t, file, out.Bytes())
		write(t, filepath.Join(dir, headFile), head)
		mustName(t, dir, fmt.Sprintf("%d changed, the rest hashed anew", i+1), noted.Seq)
		forged, err := json.Marshal(last)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, headFile), forged)
		mustBeGood(t, dir) // by itself it cannot know
		if r := verified(t, dir, noted); len(r.Problems) != 1 || r.Problems[0].Seq != noted.Seq {
			t.Errorf("%d changed: %v", i+1, r.Problems)
		}
	}
}

// A log that was cut at an older head, head and all, is found by what was noted
// elsewhere.
func TestCutWithItsHead(t *testing.T) {
	dir := filled(t, Config{}, 3)
	list, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list[0].path)
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "head")
	copyFile(t, filepath.Join(dir, headFile), old)
	l := open(t, Config{Dir: dir})
	_ = l.Add(decision(0))
	shut(t, l)
	noted, err := Last(dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, list[0].path, text)
	copyFile(t, old, filepath.Join(dir, headFile))
	mustBeGood(t, dir) // by itself it cannot know
	if r := verified(t, dir, noted); len(r.Problems) != 1 ||
		!strings.Contains(r.Problems[0].Why, fmt.Sprintf("there once was a record %d", noted.Seq)) {
		t.Errorf("%v", r.Problems)
	}
	noted = Checkpoint{2, Sum{1}}
	if r := verified(t, dir, noted); len(r.Problems) != 1 || r.Problems[0].Seq != 2 {
		t.Errorf("%v", r.Problems)
	}
}

// A large log of several files: any byte, any file.
func TestLargeLog(t *testing.T) {
	dir := filled(t, Config{SegmentBytes: 64 << 10, HeadRecords: 50}, 800)
	mustBeGood(t, dir)
	list, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(list).Draw(rt, "segment")
		text, err := os.ReadFile(s.path)
		if err != nil {
			rt.Fatal(err)
		}
		at := rapid.IntRange(0, len(text)-1).Draw(rt, "byte")
		changed := bytes.Clone(text)
		changed[at] ^= rapid.ByteRange(1, 255).Draw(rt, "with")
		write(t, s.path, changed)
		mustName(t, dir, fmt.Sprintf("byte %d of %s", at, s.path),
			s.first+uint64(bytes.Count(text[:at], []byte("\n"))))
		write(t, s.path, text)
	})
	for i, s := range list {
		away := s.path + ".away"
		if err := os.Rename(s.path, away); err != nil {
			t.Fatal(err)
		}
		if r := verified(t, dir); len(r.Problems) == 0 || i > 0 && r.Problems[0].Seq != s.first {
			t.Errorf("without %s: %v", s.path, r.Problems)
		}
		if err := os.Rename(away, s.path); err != nil {
			t.Fatal(err)
		}
	}
}
