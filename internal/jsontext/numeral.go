package jsontext

import (
	"strconv"
	"strings"
	"unicode"
)

// Numeral returns word as a JSON number if it is one in common notations: 0xB4, 1_000, .5, 12., +3, ٣.
// One with a leading zero is a postal code, or octal.
func Numeral(word string) (number string, ok bool) {
	if isNumber(word) {
		return word, true
	}
	sign, digits := "", latin(word)
	if strings.HasPrefix(digits, "-") || strings.HasPrefix(digits, "+") {
		sign, digits = strings.TrimPrefix(digits[:1], "+"), digits[1:]
	}
	if digits == "" || digits[0] == '-' {
		return "", false
	}
	if len(digits) > 2 && digits[0] == '0' && strings.IndexByte("xXoObB", digits[1]) >= 0 {
		n, err := strconv.ParseUint(digits, 0, 64)
		number = sign + strconv.FormatUint(n, 10)
		return number, err == nil && number != "-0"
	}
	if digits, ok = ungrouped(digits); !ok {
		return "", false
	}
	switch {
	case strings.HasPrefix(digits, "."):
		digits = "0" + digits
	case strings.HasSuffix(digits, "."):
		digits += "0"
	}
	number = sign + digits
	return number, isNumber(number)
}

func isNumber(s string) bool {
	end, why := Number(s, 0)
	return why == "" && end == len(s)
}

// ungrouped returns a number without _ between its digits; false if one stands elsewhere.
func ungrouped(s string) (string, bool) {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || s[i-1]-'0' > 9 || s[i+1]-'0' > 9) {
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// latin returns s with the digits 0 to 9 for those of other scripts.
func latin(s string) string {
	return strings.Map(func(r rune) rune {
		if n, ok := Digit(r); ok {
			return '0' + rune(n)
		}
		return r
	}, s)
}

// Digit returns the value of a decimal digit of any script. Unicode has those of a script in a row.
func Digit(r rune) (value int, ok bool) {
	if r < 0x80 {
		return int(r - '0'), r >= '0' && r <= '9'
	}
	for _, row := range unicode.Nd.R16 {
		if r >= rune(row.Lo) && r <= rune(row.Hi) {
			return int(r-rune(row.Lo)) % 10, true
		}
	}
	for _, row := range unicode.Nd.R32 {
		if r >= rune(row.Lo) && r <= rune(row.Hi) {
			return int(r-rune(row.Lo)) % 10, true
		}
	}
	return 0, false
}
