package secrets

import "strings"

// quoting walks through a shell line and knows inside of which quotes it is.
type quoting struct {
	at    int
	quote byte // ' or ", or 0
	last  span // the last word that was found, and its quotes: hostile text is one long word
	lastQ byte
}

// to walks on.
func (q *quoting) to(s string, at int) {
	for ; q.at < at; q.at++ {
		switch c := s[q.at]; {
		case c == '\\' && q.quote != '\'':
			q.at++
		case c == q.quote:
			q.quote = 0
		case q.quote == 0 && (c == '\'' || c == '"'):
			q.quote = c
		}
	}
}

// span is a part of a text.
type span struct{ from, to int }

// values are the words of the value that begins at a place: one, behind the name of an
// authorization scheme if there is one, or all words of a line.
func (q *quoting) values(s string, at int, all bool) (list []span) {
	for at < len(s) {
		v := q.value(s, at)
		if v.to == v.from {
			break
		}
		isScheme := scheme.MatchString(s[v.from:v.to])
		if !isScheme {
			list = append(list, v)
		}
		if !isScheme && !all {
			break
		}
		at = v.to
		for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
			at++
		}
		if at == v.to {
			break
		}
	}
	return list
}

// value is the next word: what stands in quotes of its own, or up to white space, the
// end of the quotes around it, or an operator of the shell.
func (q *quoting) value(s string, at int) span {
	open := at
	for open < len(s) && s[open] == '\\' {
		open++
	}
	if open == len(s) || s[open] != '"' && s[open] != '\'' || open == at && s[open] == q.quote {
		return span{at, q.word(s, at)}
	}
	inner := open + 1
	n := strings.Index(s[inner:], s[at:inner])
	if n < 0 {
		return span{inner, len(s)}
	}
	behind := inner + n + inner - at
	if end := q.word(s, behind); q.quote == 0 && end > behind {
		return span{at, end} // the word goes on behind its quotes
	}
	return span{inner, inner + n}
}

// word is where a word ends that goes on from a place outside of quotes of its own.
func (q *quoting) word(s string, at int) int {
	if at < q.last.from || at >= q.last.to || q.quote != q.lastQ {
		q.last, q.lastQ = span{at, q.scan(s, at)}, q.quote
	}
	return q.last.to
}

func (q *quoting) scan(s string, at int) int {
	in := quoting{at: at, quote: q.quote}
	for in.at < len(s) {
		blank := strings.IndexByte(" \t\r\n", s[in.at]) >= 0
		if q.quote != 0 {
			if blank || strings.IndexByte("&\"'", s[in.at]) >= 0 {
				return in.at
			}
			in.at++
			continue
		}
		if in.quote == 0 && (blank || strings.IndexByte(";|&<>()", s[in.at]) >= 0) {
			return in.at
		}
		in.to(s, in.at+1)
	}
	return len(s)
}
