package openai

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll is what a reader sees: data and raw bytes of each event, then the error. Data of an event that
// is an error ends with an exclamation mark.
func readAll(e *EventReader) (data, raw []string, err error) {
	defer e.Close()
	for {
		got, err := e.Next()
		if err != nil {
			return data, raw, err
		}
		text := string(got)
		if e.Fails() {
			text += "!"
		}
		data, raw = append(data, text), append(raw, string(e.Raw()))
	}
}

func TestEvents(t *testing.T) {
	for _, row := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"data: a\n\n", []string{"a"}},
		{"data:a\n\ndata:  b\n\n", []string{"a", " b"}},
		{"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"data: a\ndata: b\n\n", []string{"a b"}},
		{"data: a\r\ndata\r\ndata:b\r\n\r\n", []string{"a  b"}},
		{"data: a\n", []string{"a"}},
		{"data: a", []string{"a"}},
		{"data: a\r", []string{"a"}},
		{"data: a\ndata: b", []string{"a b"}},
		{": ping\n\ndata: a\n\n: ping\n\n", []string{"a"}},
		{":\n\n\n\n\r\n\r\nevent: x\nid: 7\nretry: 1\n\ndata: a\n\n", []string{"a"}},
		{"event: x\nid: 7\ndata: a\nretry: 1\n: c\n\n", []string{"a"}},
		{"data: \n\ndata\n\ndata: [DONE]\n\n", []string{"[DONE]"}},
		{"database: a\n\ndat: b\n\n", nil},
		{"error: a\n\ndata: b\n\n", []string{"a!", "b"}},
		{"event: error\ndata: a\n\nevent: x\ndata: error\n\n", []string{"a!", "error"}},
		{"errors: a\n\nevent: error\n\nerror\n\n", nil},
		{"\ufeffdata: a\n\n", []string{"a"}},
		{"\ufeff", nil},
		{"\n\ufeffdata: a\n\ndata: b\n\n", []string{"b"}},
		{"data: Größe \xff\xc3\n\n", []string{"Größe \xff\xc3"}},
		{"data: " + strings.Repeat("x", 9000) + "\n\ndata: b\n\n", []string{strings.Repeat("x", 9000), "b"}},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader,
			"halves": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
		} {
			got, _, err := readAll(NewEventReader(wrap(strings.NewReader(row.in)), 1<<20, 1<<20))
			if diff := cmp.Diff(row.want, got); diff != "" || err != io.EOF {
				t.Errorf("%s %.60q: %v %s", name, row.in, err, diff)
			}
		}
	}
}

func TestEventsRaw(t *testing.T) {
	const in = ": ping\n\nevent: x\ndata: a\r\n\r\ndata: b\ndata: c\n\n\n\ndata: d"
	// an event has its empty line, whatever the stream ends with
	for _, last := range []string{"", "\n", "\n\n"} {
		_, raw, _ := readAll(NewEventReader(iotest.HalfReader(strings.NewReader(in+last)), 100, 100))
		want := []string{"event: x\ndata: a\r\n\r\n", "data: b\ndata: c\n\n", "data: d\n\n"}
		if diff := cmp.Diff(want, raw); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEventsLimits(t *testing.T) {
	event := "data: 12345678\n\n" // 16 bytes
	for _, row := range []struct {
		in              string
		maxEvent, total int
		events          int
		want            error
	}{
		{event + event, 16, 32, 2, io.EOF},
		{event + event, 15, 32, 0, &LimitError{"event", 15}},
		{event + event, 16, 31, 1, &LimitError{"stream", 31}},
		{event + event, 16, 16, 1, &LimitError{"stream", 16}},
		{event + "data: " + strings.Repeat("x", 1<<20), 64, 1 << 30, 1, &LimitError{"event", 64}},
		{strings.Repeat(": no end", 100), 64, 1 << 30, 0, &LimitError{"event", 64}},
		{strings.Repeat("data: a\n", 100), 64, 1 << 30, 0, &LimitError{"event", 64}},
	} {
		for _, r := range []io.Reader{strings.NewReader(row.in),
			iotest.OneByteReader(strings.NewReader(row.in)),
			iotest.DataErrReader(strings.NewReader(row.in))} {
			got, _, err := readAll(NewEventReader(r, row.maxEvent, row.total))
			if diff := cmp.Diff(row.want, err,
				cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })); diff != "" ||
				len(got) != row.events {
				t.Errorf("%.40q: %d events, %s", row.in, len(got), diff)
			}
		}
	}
	if got := (&LimitError{"event", 15}).Error(); got != "the event is longer than 15 bytes" {
		t.Error(got)
	}
}

func TestEventsBroken(t *testing.T) {
	broken := errors.New("connection reset")
	e := NewEventReader(io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(broken)),
		100, 100)
	got, _, err := readAll(e)
	if len(got) != 1 || err != broken {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := e.Next(); err == nil {
		t.Error("a closed reader reads")
	}
	if _, err := NewEventReader(nothing{}, 100, 100).Next(); err != io.ErrNoProgress {
		t.Errorf("a reader without progress: %v", err)
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestEventsBuffered(t *testing.T) {
	r, w := io.Pipe()
	e := NewEventReader(r, 100, 1000)
	go func() {
		fmt.Fprint(w, "data: a\n\ndata: b\n\n: ping\n\ndata: half")
		fmt.Fprint(w, "\n\n")
		w.Close()
	}()
	for _, row := range []struct {
		data     string
		buffered bool
	}{{"a", true}, {"b", false}, {"half", false}} {
		got, err := e.Next()
		if err != nil || string(got) != row.data {
			t.Fatalf("%q, %v", got, err)
		}
		if e.Buffered() != row.buffered || string(got) != row.data ||
			string(e.Raw()) != "data: "+row.data+"\n\n" {
			t.Errorf("%s: buffered %v, then %q in %q", row.data, !row.buffered, got, e.Raw())
		}
	}
	if _, err := e.Next(); err != io.EOF {
		t.Error(err)
	}
}

// FuzzEventReader: however the bytes are cut, the events are the same, and asking
// what is buffered changes nothing.
func FuzzEventReader(f *testing.F) {
	for _, in := range []string{"data: a\n\n: c\r\ndata:b\r\ndata\n\n", "\ufeffdata: é\n\ndata: [DONE]",
		"event: x\n\n\n\ndata: \r\n\r\n"} {
		f.Add([]byte(in), uint8(3), uint8(20), uint8(200))
	}
	f.Fuzz(func(t *testing.T, in []byte, cut, maxEvent, maxTotal uint8) {
		whole := NewEventReader(strings.NewReader(string(in)), int(maxEvent), int(maxTotal))
		data, raw, err := readAll(whole)
		for _, r := range []io.Reader{
			iotest.OneByteReader(strings.NewReader(string(in))),
			iotest.DataErrReader(&chunks{slices.Collect(slices.Chunk(in, int(cut)%7+1))}),
		} {
			e := &asking{NewEventReader(r, int(maxEvent), int(maxTotal))}
			data2, raw2, err2 := e.readAll(t)
			if diff := cmp.Diff(data, data2) + cmp.Diff(raw, raw2); diff != "" ||
				err.Error() != err2.Error() {
				t.Fatalf("%q: %v, %v, %s", in, err, err2, diff)
			}
		}
	})
}

// asking reads as readAll does, and asks Buffered in between.
type asking struct{ *EventReader }

func (e *asking) readAll(t *testing.T) (data, raw []string, err error) {
	defer e.Close()
	for {
		ready := e.Buffered()
		got, err := e.Next()
		if err != nil {
			if ready {
				t.Fatalf("an event was announced, and then %v", err)
			}
			return data, raw, err
		}
		e.Buffered()
		data, raw = append(data, string(got)), append(raw, string(e.Raw()))
	}
}

// chunks is a reader that hands out what it holds piece by piece.
type chunks struct{ pieces [][]byte }

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	return n, nil
}
