package turn

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

func TestPack(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat(`{"role":"user","content":"Hello"},`, 10000),
		"\x00\xff"} {
		p := Of([]byte(text))
		if p.None() || string(p.Open()) != text || string(p.Open()) != text {
			t.Errorf("%.20q comes back as %.20q", text, p.Open())
		}
		if len(text) > 1000 && p.Size() > len(text)/10 {
			t.Errorf("%d bytes of %d", p.Size(), len(text))
		}
	}
	if !(Bytes{}).None() {
		t.Error("the zero value is something")
	}
}

// What is packed does not change with the bytes it was made of, nor with others.
func TestAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := bytes.Repeat([]byte{byte('a' + i)}, 100000)
			p := Of(text)
			clear(text)
			if got := p.Open(); got[0] != byte('a'+i) || len(got) != len(text) {
				t.Errorf("%c: %.10q", 'a'+i, got)
			}
		})
	}
	all.Wait()
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := Of(b).Open(); !bytes.Equal(got, b) {
			t.Errorf("%q comes back as %q", b, got)
		}
	})
}
