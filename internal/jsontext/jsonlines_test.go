package jsontext

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Results come in the order of the jobs, though later jobs are done sooner.
func TestInOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	jobs := make([]int, 200)
	for i := range jobs {
		jobs[i] = i
	}
	var running, most atomic.Int32
	var got []int
	InOrder(slices.Values(jobs), func(i int) int {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		time.Sleep(time.Duration(3-i%4) * time.Millisecond) // they end in another order
		return i
	}, func(i int) { got = append(got, i) })
	if !slices.Equal(got, jobs) {
		t.Errorf("%v", got)
	}
	if n := int(most.Load()); n < 2 || n > 2*runtime.GOMAXPROCS(0)+2 {
		t.Errorf("%d at once", n)
	}
}

// A line that is too long ends the file, and says where; what came before counts.
func TestLongLine(t *testing.T) {
	in := io.MultiReader(strings.NewReader("{\"id\":1}\n\n  {}\n"), io.LimitReader(zeros{}, longest+10))
	lines := Reader{In: in}
	n := 0
	for range lines.All() {
		n++
	}
	if n != 2 || lines.Err == nil || !strings.HasPrefix(lines.Err.Error(), "line 4: ") {
		t.Errorf("%d lines, %v", n, lines.Err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A mark of UTF-8 stands before the first line, or is a part of what a line says.
func TestMarkOfUTF8(t *testing.T) {
	var got []string
	lines := Reader{In: strings.NewReader("\ufeff{}\n\ufeff{}\n")}
	for l := range lines.All() {
		got = append(got, string(l.Text))
	}
	if !slices.Equal(got, []string{"{}", "\ufeff{}"}) {
		t.Errorf("%q", got)
	}
}
