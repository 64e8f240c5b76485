package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

func TestApply(t *testing.T) {
	at := func(from, to int, with string) Edit { return Edit{Span{From: from, To: to}, []byte(with)} }
	for _, row := range []struct {
		edits []Edit
		want  string
	}{
		{nil, "0123456789"},
		{[]Edit{at(2, 4, "xyz")}, "01xyz456789"},
		{[]Edit{at(8, 9, ""), at(0, 1, "a")}, "a12345679"},
		{[]Edit{at(5, 5, "a"), at(5, 5, "b"), at(5, 7, "c")}, "01234abc789"},
		{[]Edit{at(5, 7, "c"), at(5, 5, "a")}, "01234ac789"},
		{[]Edit{at(0, 0, "<"), at(10, 10, ">")}, "<0123456789>"},
		{[]Edit{at(0, 10, "")}, ""},
	} {
		doc := []byte("0123456789")
		if got := string(Apply(doc, row.edits)); got != row.want || string(doc) != "0123456789" {
			t.Errorf("%v: %s, want %s", row.edits, got, row.want)
		}
	}
}

// Edits in any order do what they do one by one from the back.
func TestApplyProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "doc")
		var edits []Edit
		want := bytes.Clone(doc)
		for end := len(doc); end > 0; {
			to := rapid.IntRange(0, end).Draw(t, "to")
			from := rapid.IntRange(0, to).Draw(t, "from")
			with := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "with")
			edits = append(edits, Edit{Span{From: from, To: to}, with})
			want = append(append(bytes.Clone(want[:from]), with...), want[to:]...)
			end = from - 1
		}
		if got := Apply(doc, rapid.Permutation(edits).Draw(t, "order")); !bytes.Equal(got, want) {
			t.Fatalf("%q with %v: %q, want %q", doc, edits, got, want)
		}
	})
}

// FuzzApply: replacing every value by itself changes nothing, and replacing one
// member's value changes that member only.
func FuzzApply(f *testing.F) {
	f.Add([]byte(vllmChunk))
	f.Add([]byte(` { "a" : [ 1 , {"b":null} ], "\u0061": "x" } `))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !bytes.Equal(Apply(doc, nil), doc) {
			t.Fatal("no edits, and yet a change")
		}
		var same, other []Edit
		err := Members(doc, Span{From: 0, To: len(doc)}, func(_ []byte, key, val Span) {
			same = append(same, Edit{key, key.Of(doc)}, Edit{val, val.Of(doc)})
			other = append(other, Edit{val, []byte("7")})
		})
		if (err == nil) != json.Valid(doc) && !strings.Contains(err.Error(), jsontext.TooDeep) {
			t.Fatalf("%q: %v", doc, err)
		}
		if err != nil {
			return
		}
		if got := Apply(doc, same); !bytes.Equal(got, doc) {
			t.Fatalf("%q became %q", doc, got)
		}
		var sevens map[string]int
		if got := Apply(doc, other); len(other) > 0 && json.Unmarshal(got, &sevens) != nil {
			t.Fatalf("%q became %q", doc, got)
		}
		checkRemove(t, doc)
	})
}

// checkRemove drops every subset of the first members.
func checkRemove(t *testing.T, doc []byte) {
	s := scanner{Scanner: jsontext.Scanner{Doc: doc}}
	if s.Peek() != '{' {
		return
	}
	root := s.Skip()
	for set := range 8 {
		i, kept := 0, 0
		edits := Remove(doc, root, func([]byte) bool {
			drop := i < 3 && set>>i&1 == 1
			if i++; !drop {
				kept++
			}
			return drop
		})
		got, left := Apply(doc, edits), 0
		if err := Members(got, Span{From: 0, To: len(got)},
			func([]byte, Span, Span) { left++ }); err != nil || left != kept {
			t.Fatalf("%q without members %b: %q, %d members, %v", doc, set, got, left, err)
		}
	}
}

func TestRemoveAndInsert(t *testing.T) {
	for _, row := range []struct{ doc, drop, want string }{
		{`{"a":1,"b":2,"c":3}`, "a", `{"b":2,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, "b", `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, "c", `{"a":1,"b":2}`},
		{`{"a":1,"b":2,"c":3}`, "ab", `{"c":3}`},
		{`{"a":1,"b":2,"c":3}`, "bc", `{"a":1}`},
		{`{"a":1,"b":2,"c":3}`, "ac", `{"b":2}`},
		{`{ "a" : 1 , "b" : 2 }`, "ab", `{  }`},
		{`{ "a" : 1 , "b" : 2 }`, "", `{ "a" : 1 , "b" : 2 }`},
	} {
		doc := []byte(row.doc)
		edits := Remove(doc, Span{From: 0, To: len(doc)},
			func(key []byte) bool { return bytes.Contains([]byte(row.drop), key) })
		if got := string(Apply(doc, edits)); got != row.want {
			t.Errorf("%s without %s: %s", row.doc, row.drop, got)
		}
	}
	for doc, want := range map[string]string{`{}`: `{"k":[]}`, `{ }`: `{"k":[] }`,
		`{"a":1}`: `{"k":[],"a":1}`} {
		edit := Insert([]byte(doc), Span{From: 0, To: len(doc)}, "k", []byte("[]"))
		if got := string(Apply([]byte(doc), []Edit{edit})); got != want {
			t.Errorf("%s: %s", doc, got)
		}
	}
}

func TestWalks(t *testing.T) {
	doc := []byte(`{"x":0, "a\u0062":[ 1, "two" ,{"b":null}], "x":{}}`)
	all := Span{From: 0, To: len(doc)}
	var got []string
	var list Span
	if err := Members(doc, all, func(key []byte, at, val Span) {
		got = append(got, string(key)+"|"+string(at.Of(doc))+"|"+string(val.Of(doc)))
		if string(key) == "ab" {
			list = val
		}
	}); err != nil {
		t.Fatal(err)
	}
	if want := `x|"x"|0;ab|"a\u0062"|[ 1, "two" ,{"b":null}];x|"x"|{}`; strings.Join(got, ";") != want {
		t.Errorf("%s", strings.Join(got, ";"))
	}
	got = nil
	if err := Elements(doc, list, func(val Span) { got = append(got, string(val.Of(doc))) }); err != nil {
		t.Fatal(err)
	}
	if want := `1;"two";{"b":null}`; strings.Join(got, ";") != want {
		t.Errorf("%s", strings.Join(got, ";"))
	}
	if err := Members(doc, list, func([]byte, Span, Span) { t.Error("an array has members") }); err != nil {
		t.Error(err)
	}
}

func TestWalksDoNotAllocate(t *testing.T) {
	doc := []byte(vllmChunk)
	all := Span{From: 0, To: len(doc)}
	n := testing.AllocsPerRun(100, func() {
		var choices Span
		if err := Members(doc, all, func(key []byte, _, val Span) {
			if string(key) == "choices" {
				choices = val
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := Elements(doc, choices, func(Span) {}); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
