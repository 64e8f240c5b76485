package jsontext

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

func TestNumeral(t *testing.T) {
	for _, row := range []struct{ word, want string }{
		{"0", "0"}, {"-1.5e3", "-1.5e3"}, {"0xB4", "180"}, {"-0x10", "-16"}, {"0b101", "5"}, {"0o17", "15"}, {"0xFF_FF", "65535"},
		{"1_000", "1000"}, {"1_000.5", "1000.5"}, {".5", "0.5"}, {"-.5", "-0.5"}, {"12.", "12.0"}, {"+3", "3"}, {"٣٠", "30"}, {"-۴.५", "-4.5"}, {"１２", "12"},
		{"", ""}, {"-", ""}, {"+", ""}, {".", ""}, {"+-3", ""}, {"--3", ""}, {"-+3", ""}, {"007", ""}, {"0x", ""}, {"0xG", ""}, {"0x10000000000000000", ""},
		{"_1", ""}, {"1_", ""}, {"1__0", ""}, {"1,5", ""}, {"1 000", ""}, {"1e", ""}, {"five", ""}, {"-0x0", ""}, {"٣a", ""}, {"1.2.3", ""},
	} {
		if got, ok := Numeral(row.word); ok != (row.want != "") || ok && got != row.want {
			t.Errorf("%s: got %s, %v, want %s", row.word, got, ok, row.want)
		}
	}
}

// Every decimal digit that Unicode knows has its value, and nothing else has one.
func TestDigit(t *testing.T) {
	want := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		got, ok := Digit(r)
		if ok != unicode.Is(unicode.Nd, r) {
			t.Fatalf("%U: %v", r, ok)
		}
		if !ok {
			continue
		}
		if got != want {
			t.Errorf("%U: got %d, want %d", r, got, want)
		}
		want = (want + 1) % 10
	}
}

// What is a number in JSON stays as it is, and what comes out is one, and stays.
func FuzzNumeral(f *testing.F) {
	for _, s := range []string{"0xB4", "1_000", ".5", "-12.", "+3", "1e3", "٣", "007", "-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		got, ok := Numeral(word)
		if isNumber(word) && got != word {
			t.Errorf("%s became %s", word, got)
		}
		if !ok {
			return
		}
		if again, ok := Numeral(got); !ok || again != got {
			t.Errorf("%s became %s, then %s", word, got, again)
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(word, "+"), 0, 64); err == nil &&
			got != fmt.Sprint(n) && got != word {
			t.Errorf("Go reads %s as %d, not %s", word, n, got)
		}
	})
}
