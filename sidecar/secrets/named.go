package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// maxChecked is the longest value that is examined. A longer one is a secret under a strong name, and
// none under a weak one.
const maxChecked = 1024

// Names of secrets. Under a weak name only a value that looks like a secret is one.
var (
	strongNames = regexp.MustCompile(`passw(?:or)?d|passphrase|passcode|pwd|secret|token|(?:api|access|account|private|signing|encryption|client|master|auth|shared)[_-]?key|credential|authorization|cookie|session[_-]?id`)
	weakNames   = regexp.MustCompile(`key|auth|sig|cred|pass|session|salt|nonce`)
	stems       = []string{"passw", "passphrase", "passcode", "pwd", "secret", "token", "key", "credential",
		"auth", "cookie", "session", "sig", "cred", "pass", "salt", "nonce"}
	// a name, and what separates it from its value: = or :, or white space after a flag
	nameAndSeparator = regexp.MustCompile(`(?i)([\w.-]*(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|key|credential|auth|cookie|session|sig|cred|pass|salt|nonce)[\w.-]*)(\\*["']?\s*(?::=|=>|[=:])[ \t]*|[ \t]+)`)
	// names of what belongs to a secret and is none
	notSecretNames = regexp.MustCompile(`(?:file|path|dir|names?|url|uri|type|count|length|size|limit|ttl|policy|prompt|stdin|helper|field|header|expiry|expires|tokens|secrets|version|env)$`)
	// short numbers, which are counts under the name pass
	shortNumber = regexp.MustCompile(`^\d{1,3}$`)
	// values that are none: variables, placeholders, words of JSON
	noValue = regexp.MustCompile(`^(?:\$\w*|\$\{[^}]*\}|\$\(.*|<[^>]*>|\*+|true|false|null|none)$`)
	scheme  = regexp.MustCompile(`(?i)^(?:bearer|basic|token|digest|negotiate|apikey)$`)
)

func hasName(lower string) bool {
	return slices.ContainsFunc(stems, func(s string) bool { return strings.Contains(lower, s) })
}

// kindOfName returns the kind of secret that a name says for sure: password, cookie or secret; or "".
func kindOfName(name string) string {
	name = strings.ToLower(strings.TrimLeft(name, "-"))
	switch m := strongNames.FindString(name); {
	case m == "" || name == "pwd" || name == "oldpwd" || notSecretNames.MatchString(name):
		return ""
	case strings.HasPrefix(m, "pass") || m == "pwd":
		return "password"
	case m == "cookie":
		return "cookie"
	}
	return "secret"
}

// kindOfValue returns the kind of secret that a value under a name is; "": none.
func kindOfValue(name, v string) string {
	if v == "" || len(v) <= maxChecked && (maskOnly.MatchString(v) || noValue.MatchString(v)) {
		return ""
	}
	if kind := kindOfName(name); kind != "" {
		return kind
	}
	lower := strings.ToLower(strings.TrimLeft(name, "-"))
	before, pass := strings.CutSuffix(lower, "pass")
	prose := before == "" && strings.ContainsAny(v, " \t\n")
	if pass && !prose && (before == "" || strings.HasSuffix(before, "_") || strings.HasSuffix(before, ".")) &&
		!shortNumber.MatchString(v) {
		return "password"
	}
	if len(v) <= maxChecked && weakNames.MatchString(lower) && !notSecretNames.MatchString(lower) &&
		isRandom(maskAnywhere.ReplaceAllString(v, "")) {
		return "secret"
	}
	return ""
}

// isRandom reports whether a word looks like a key: long, mixed, and with few repeated characters.
func isRandom(s string) bool {
	if len(s) < 16 || strings.ContainsAny(s, " \t\n") || !strings.ContainsAny(s, "0123456789") ||
		!strings.ContainsAny(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") {
		return false
	}
	var count [256]float64
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, c := range count {
		if c > 0 {
			bits -= c / float64(len(s)) * math.Log2(c/float64(len(s)))
		}
	}
	return bits > 3.2
}

// isMaskKind reports whether a name is the kind in a mask.
func isMaskKind(s string, at int) bool {
	from := at - len(maskPrefix)
	return from >= 0 && maskAtStart.MatchString(s[from:])
}

// replaceNamed replaces values after names of secrets.
func replaceNamed(s string, put func(kind, secret string) string) string {
	var out strings.Builder
	var in quoting
	end := 0
	for at := 0; at < len(s); {
		m := nameAndSeparator.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		for i := range m {
			m[i] += at
		}
		name, separator := s[m[2]:m[3]], s[m[4]:m[5]]
		at = m[3]
		if isMaskKind(s, m[2]) || strings.TrimSpace(separator) == "" && !strings.HasPrefix(name, "-") {
			continue
		}
		in.to(s, m[1])
		for _, v := range in.values(s, m[1], strings.Contains(strings.ToLower(name), "cookie")) {
			secret := s[v.from:v.to]
			kind := kindOfValue(name, secret)
			prose := name == "pass" && separator == ": " // the test pass: 3 of 4
			if kind == "" || prose || strings.TrimSpace(separator) == "" && secret[0] == '-' {
				continue
			}
			out.WriteString(s[end:v.from])
			out.WriteString(put(kind, secret))
			end, at = v.to, v.to
		}
	}
	if end == 0 {
		return s
	}
	out.WriteString(s[end:])
	return out.String()
}

// quoting scans a shell line and tracks its quotes.
type quoting struct {
	at    int
	quote byte // ' or ", or 0
	last  span // last word that was found, cached: hostile text is one long word
	lastQ byte
}

// to scans up to at.
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

// values returns the words of the value at a place: one, after the name of an authorization scheme if
// there is one, or all words of a line.
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

// value returns the next word: what is in its own quotes, or up to white space, the end of the
// surrounding quotes, or an operator of the shell.
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

// word returns the end of a word that continues outside of its own quotes.
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
