package notation

import "strings"

// opened puts back what a server ate of the beginning of an object: its brace, or that and the quote.
func opened(s string) []string {
	rest := strings.TrimLeft(s, " \n\t\r")
	begin := `{"`
	if strings.HasPrefix(rest, `"`) {
		begin, rest = "{", rest[1:]
	}
	key, rest, closed := strings.Cut(rest, `"`)
	return only(begin+s, s, closed && isWord(key) && strings.HasPrefix(strings.TrimLeft(rest, " \n\t\r"),
		":"))
}

// shut ends members that have no brace behind them, either.
func shut(s string) []string { return []string{s + "}"} }
