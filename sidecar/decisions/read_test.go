package decisions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// grown is a closed log of several files, with a person's answer to the decision before the last.
func grown(t testing.TB) (dir string, last uint64) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	var seconds atomic.Int64
	l := open(t, Config{Dir: dir, SegmentBytes: 300 << 10,
		Now: func() time.Time { return time.Date(2026, 11, 1, 8, 0, int(seconds.Add(1)), 0, time.UTC) }})
	for i := range 60 {
		args := fmt.Appendf(nil, `{"command":"echo %s"}`, strings.Repeat("x", i*400))
		_ = l.Add(Decision{Tool: "exec", Session: fmt.Sprint("s", i%3), Agent: fmt.Sprint("a", i%2),
			Arguments: args, Effect: policy.Allow, Rule: fmt.Sprint("rule", i)})
	}
	_ = l.Add(Decision{Tool: "write", Approval: "abcd-efgh", Effect: policy.Ask, Request: "Req7"})
	_ = l.Add(Decision{Tool: "read"})
	_ = l.AddAnswer(Answer{ID: "abcd-efgh", State: "allowed", By: "Sam"})
	shut(t, l)
	at, err := Last(dir)
	if err != nil || at.Seq < 64 {
		t.Fatalf("%+v %v", at, err)
	}
	return dir, at.Seq
}

// Back gives what Read gives, the other way round, from any record on.
func TestBack(t *testing.T) {
	dir, last := grown(t)
	var all []uint64
	if err := Read(dir, func(r *Record,
		err error) bool {
		all = append(all, r.Seq)
		return err == nil
	}); err != nil {
		t.Fatal(err)
	}
	if list, err := segments(dir); err != nil || len(list) < 2 {
		t.Fatalf("%d files: %v", len(list), err)
	}
	slices.Reverse(all)
	for _, before := range []uint64{0, 1, 2, 30, last - 1, last, last + 1, last + 100} {
		want := all
		if before > 0 {
			want = all[min(len(all), max(0, int(last)-int(before)+1)):]
		}
		var got []uint64
		if err := Back(dir, before, &Times{},
			func(r *Record, err error) bool { got = append(got, r.Seq); return err == nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("before %d: %v", before, got)
		}
	}
}

// said is what a line is.
func said(l line) string {
	if l.long {
		return fmt.Sprint(l.at, " is too long")
	}
	return fmt.Sprint(l.at, " ", string(l.text))
}

// Any text read from its end is the lines that it has from its beginning.
func FuzzBack(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), uint16(0))
	f.Add([]byte("\n"), uint16(3))
	f.Add([]byte("{\"seq\":12,\n"), uint16(900))
	f.Add(bytes.Repeat([]byte("x"), maxLine), uint16(0))
	f.Add(bytes.Repeat([]byte("x"), maxLine+1), uint16(0))
	f.Add([]byte("a\n"), uint16(20000))
	f.Fuzz(func(t *testing.T, text []byte, more uint16) {
		text = append(text, bytes.Repeat([]byte("long "), int(more)*40)...) // over the edges of chunks
		text = append(text, "\nend\nunfinished"...)
		s := segment{path: filepath.Join(t.TempDir(), "x"), bytes: int64(len(text))}
		write(t, s.path, text)
		var want, got []string
		_ = s.lines(func(l line) bool {
			if seqOf(l.text); l.whole {
				want = append(want, said(l))
			}
			return true
		})
		if err := s.back(func(l line) bool { got = append(got, said(l)); return true }); err != nil {
			t.Fatal(err)
		}
		if slices.Reverse(got); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A line that is damaged comes with its place, and hides no other; what is just being written is
// left out.
func TestBackOverDamage(t *testing.T) {
	dir, file, text := small(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[2] = []byte("no record\n")
	write(t, file, append(lines, []byte(`{"seq":7,`))...)
	var got []string
	err := Back(dir, 0, &Times{}, func(r *Record, err error) bool {
		got = append(got, fmt.Sprint(r.Seq, " ", err != nil && strings.Contains(err.Error(), "byte ")))
		return true
	})
	if want := []string{"6 false", "5 false", "4 false", "0 true", "2 false", "1 false"}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("%q %v", got, err)
	}
	got = nil
	if err := Back(dir, 3, &Times{},
		func(r *Record, _ error) bool { got = append(got, fmt.Sprint(r.Seq)); return true }); err != nil ||
		strings.Join(got, " ") != "2 1" {
		t.Errorf("before a damaged record: %q %v", got, err)
	}
}

// A line that is longer than any record is one that is damaged, wherever it stands. At the end it is what a
// crash left.
func TestLongLine(t *testing.T) {
	for what, at := range map[string]int{"in the middle": 3, "at the end": 6} {
		dir, file, text := small(t)
		lines := bytes.SplitAfter(text, []byte("\n"))
		long := bytes.Repeat([]byte{0}, 2*maxLine)
		if at < 6 {
			long = append(long, '\n')
		}
		write(t, file, slices.Insert(lines, at, long)...)
		var got []uint64
		broken := 0
		if err := Back(dir, 0, &Times{}, func(r *Record, err error) bool {
			if err != nil {
				broken++
			} else {
				got = append(got, r.Seq)
			}
			return true
		}); err != nil || broken != min(1, 6-at) || !slices.Equal(got, []uint64{6, 5, 4, 3, 2, 1}) {
			t.Errorf("%s: %v, %d broken, %v", what, got, broken, err)
		}
		if r := verified(t, dir); len(r.Problems) == 0 || r.Last.Seq != 6 {
			t.Errorf("%s: %v", what, r.Problems)
		}
		if l, err := Open(Config{Dir: dir}); (err == nil) != (at == 6) || err != nil &&
			!strings.Contains(err.Error(), ":4: record 4 was changed or cut") {
			t.Errorf("%s: %v", what, err)
		} else if err == nil {
			shut(t, l)
			mustBeGood(t, dir)
		}
	}
}

// A record of another time hides none behind it, and files of other times are not read.
func TestTimes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	// of its own process each, which begins with a record
	for _, hours := range []int{1, 2, 30, 31, 55, -7000, 56, -7000} {
		l := open(t, Config{Dir: dir,
			Now: func() time.Time { return day.Add(time.Duration(hours) * time.Hour) }})
		_ = l.Add(decision(hours))
		shut(t, l)
	}
	from := day.Add(50 * time.Hour)
	var got []uint64
	err := Back(dir, 0, &Times{from, from.Add(24 * time.Hour)},
		func(r *Record, err error) bool { got = append(got, r.Seq); return err == nil })
	if want := []uint64{14, 13, 10, 9}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v; %v", got, want, err)
	}
	n, err := FindNewest(context.Background(), dir, Filter{Since: from}, 100)
	if err != nil || n.Cut || n.Short {
		t.Fatalf("%+v %v", n, err)
	}
	tally, err := ReplayNewest(context.Background(), dir, Filter{Since: from}, n,
		func(*Record) policy.Decision { return policy.Decision{} }, func(*Change) {})
	if err != nil || tally.Records != 2 {
		t.Errorf("%+v %v", tally, err)
	}
	list, err := segments(dir)
	if err != nil || len(list) < 3 {
		t.Fatalf("%d files: %v", len(list), err)
	}
	text, err := os.ReadFile(list[0].path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, list[0].path, bytes.Replace(text, []byte("\n"), []byte("\nno record\n"), 1))
	if err := Back(dir, 0, &Times{Since: from}, func(_ *Record, err error) bool {
		if err != nil {
			t.Errorf("a file of another time is read: %v", err)
		}
		return true
	}); err != nil {
		t.Error(err)
	}
}

// A record is found with what is wrong with it and with its place.
func TestFind(t *testing.T) {
	dir, file, text := small(t)
	for seq := uint64(1); seq <= 6; seq++ {
		found, err := Find(dir, seq)
		if err != nil || found.Seq != seq || found.Broken != nil || found.Place != "" ||
			found.First != (seq == 1) {
			t.Errorf("%d: %+v %v", seq, found, err)
		}
	}
	if _, err := Find(dir, 7); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, row := range []struct {
		what          string
		change        func([][]byte) [][]byte
		seq           uint64
		broken, place string
	}{
		{"changed", func(l [][]byte) [][]byte { l[2] = bytes.Replace(l[2], []byte(`"x"`), []byte(`"y"`), 1); return l }, 3, "it was changed", ""},
		{"removed", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }, 4, "", "record 3 is missing"},
		{"before it changed and hashed anew", func(l [][]byte) [][]byte {
			var r Record
			_ = json.Unmarshal(l[2], &r)
			r.Decision.Tool = "y"
			var b bytes.Buffer
			_ = r.append(&b)
			l[2] = b.Bytes()
			return l
		}, 4, "", "does not follow on record 3"},
	} {
		write(t, file, row.change(slices.Clone(lines))...)
		found, err := Find(dir, row.seq)
		if err != nil || row.broken != "" && (found.Broken == nil ||
			!strings.Contains(found.Broken.Error(), row.broken)) ||
			!strings.Contains(found.Place, row.place) || row.place == "" && found.Place != "" {
			t.Errorf("%s: %+v %v", row.what, found, err)
		}
	}
}

// What a person answered is found behind the decision, and only that.
func TestAnswerTo(t *testing.T) {
	dir, last := grown(t)
	asked, err := Find(dir, last-2)
	if err != nil || asked.Decision == nil || asked.Decision.Approval == "" {
		t.Fatalf("%+v %v", asked, err)
	}
	if a, err := AnswerTo(context.Background(), dir, &asked.Record); err != nil || a == nil ||
		a.Seq != last || a.Answer.By != "Sam" {
		t.Errorf("%+v %v", a, err)
	}
	l := open(t, Config{Dir: dir})
	_ = l.AddAnswer(Answer{ID: "abcd-efgh", State: "denied", By: "Kim"})
	shut(t, l)
	if a, err := AnswerTo(context.Background(), dir, &asked.Record); err != nil || a == nil ||
		a.Answer.State != "denied" {
		t.Errorf("a yes that was taken back: %+v %v", a, err)
	}
	for _, other := range []string{"", "none", `abcd"efgh`, "abcd"} {
		asked.Decision.Approval = other
		if a, err := AnswerTo(context.Background(), dir, &asked.Record); err != nil || a != nil {
			t.Errorf("%q: %+v %v", other, a, err)
		}
	}
}

// A filter takes what fits in all that it says.
func TestFilterWords(t *testing.T) {
	dir, _ := grown(t)
	day := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name string
		f    Filter
		want int
	}{
		{"all", Filter{}, 62}, {"agent", Filter{Agent: "a1"}, 30}, {"words", Filter{Words: []string{"RULE7", "Exec"}}, 1}, {"a request", Filter{Words: []string{"req7"}}, 1},
		{"no such words", Filter{Words: []string{"rule7", "rule8"}}, 0}, {"until", Filter{Until: day}, 0}, {"since and until", Filter{Since: day, Until: day.Add(time.Hour)}, 62},
	} {
		n := 0
		if err := Read(dir, func(r *Record, err error) bool {
			if err == nil && row.f.Takes(r) {
				n++
			}
			return true
		}); err != nil || n != row.want {
			t.Errorf("%s: %d, want %d; %v", row.name, n, row.want, err)
		}
	}
}

// A replay and a check that are broken off say so, and what they had looked at; the newest decisions
// are found.
func TestWithin(t *testing.T) {
	dir, last := grown(t)
	ended, end := context.WithCancel(context.Background())
	deny := func(*Record) policy.Decision { return policy.Decision{Effect: policy.Deny} }
	for _, row := range []struct {
		f       Filter
		most    int
		records int
		cut     bool
		asked   int // at most, with those that count for the rates alone
	}{{Filter{}, 2, 2, true, 4}, {Filter{}, 1000, 62, false, 62}, {Filter{Session: "s1"}, 5, 5, true, 11},
		{Filter{Session: "s1"}, 20, 20, false, 20}, {Filter{Session: "none"}, 5, 0, false, 0}, {Filter{Rule: "rule7"}, 5, 1, false, 3}} {
		n, err := FindNewest(context.Background(), dir, row.f, row.most)
		if err != nil || n.Cut != row.cut {
			t.Fatalf("%+v: %+v %v", row, n, err)
		}
		var asked []uint64
		tally, err := ReplayNewest(context.Background(), dir, row.f, n, func(r *Record) policy.Decision {
			asked = append(asked, r.Seq)
			return policy.Decision{Effect: policy.Deny}
		}, func(*Change) {})
		if err != nil || tally.Records != row.records || tally.Cut != nil || len(asked) > row.asked ||
			!slices.IsSorted(asked) {
			t.Errorf("%+v: %+v, %d were asked, %v", row, tally, len(asked), err)
		}
	}
	all, err := FindNewest(context.Background(), dir, Filter{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	tally, err := ReplayNewest(ended, dir, Filter{}, all, func(r *Record) policy.Decision {
		if r.Seq == 10 {
			end()
		}
		return deny(r)
	}, func(*Change) {})
	if err != nil || tally.Cut == nil || tally.Records >= 60 || tally.Denied != tally.Records {
		t.Errorf("%+v %v", tally, err)
	}
	r, err := VerifyWithin(ended, dir)
	if err != nil || !r.Cut || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = VerifyWithin(context.Background(), dir); err != nil || r.Cut || r.Last.Seq != last ||
		len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
}
