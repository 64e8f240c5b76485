package notation

import "strings"

// opened puts back what a server ate of the beginning of an object: its brace, or that and the quote.
func opened(s string) []string {
	begin, ok := eaten(s)
	return only(begin+s, s, ok && strings.HasSuffix(strings.TrimRight(s, " \n\t\r"), "}"))
}

// framed puts braces around members that have none.
func framed(s string) []string {
	begin, ok := eaten(s)
	return only(begin+s+"}", s, ok)
}

// eaten is what is missing before the first key of s.
func eaten(s string) (begin string, ok bool) {
	rest := strings.TrimLeft(s, " \n\t\r")
	begin = `{"`
	if strings.HasPrefix(rest, `"`) {
		begin, rest = "{", rest[1:]
	}
	key, rest, closed := strings.Cut(rest, `"`)
	return begin, closed && isWord(key) && strings.HasPrefix(strings.TrimLeft(rest, " \n\t\r"), ":")
}
