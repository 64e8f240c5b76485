package upstream

import (
	"io"
	"testing"
	"testing/iotest"
)

// A letter can be sent again until an answer has begun. Then its bytes are gone, but not before they were
// sent.
func TestLetter(t *testing.T) {
	l := &sentBody{body: []byte("what the model reads")}
	for range 2 {
		p := sending(t, l)
		if err := iotest.TestReader(p, []byte("what the model reads")); err != nil {
			t.Error(err)
		}
		p.Close()
		p.Close()
	}
	p := sending(t, l)
	if p.Len() != 20 {
		t.Errorf("%d bytes", p.Len())
	}
	l.release()
	if got, err := io.ReadAll(p); string(got) != "what the model reads" || err != nil {
		t.Errorf("an answer has begun, and of the rest this is sent: %q, %v", got, err)
	}
	p.Close()
	if _, err := l.reader(); err == nil || l.body != nil {
		t.Errorf("it is kept: %q, %v", l.body, err)
	}
}

func sending(t *testing.T, l *sentBody) *bodyReader {
	t.Helper()
	r, err := l.reader()
	if err != nil {
		t.Fatal(err)
	}
	return r.(*bodyReader)
}
