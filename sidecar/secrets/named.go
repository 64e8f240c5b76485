package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// maxChecked is how long a value may be to be looked at. Longer ones behind a strong name
// are secrets, behind a weak one none.
const maxChecked = 1024

// What is in a name that stands before a secret. Behind the weak ones only what looks
// like one is taken for it.
var (
	strong = regexp.MustCompile(`passw(?:or)?d|passphrase|passcode|pwd|secret|token|(?:api|access|account|private|signing|encryption|client|master|auth|shared)[_-]?key|credential|authorization|cookie|session[_-]?id`)
	weak   = regexp.MustCompile(`key|auth|sig|cred|pass|session|salt|nonce`)
	stems  = []string{"passw", "passphrase", "passcode", "pwd", "secret", "token", "key", "credential",
		"auth", "cookie", "session", "sig", "cred", "pass", "salt", "nonce"}
	// a name, and what separates it from its value: = or :, or white space after a flag
	named = regexp.MustCompile(`(?i)([\w.-]*(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|key|credential|auth|cookie|session|sig|cred|pass|salt|nonce)[\w.-]*)(\\*["']?\s*(?::=|=>|[=:])[ \t]*|[ \t]+)`)
	// names of what belongs to a secret and is none
	about = regexp.MustCompile(`(?:file|path|dir|names?|url|uri|type|count|length|size|limit|ttl|policy|prompt|stdin|helper|field|header|expiry|expires|tokens|secrets|version|env)$`)
	// short numbers, which are counts under the name pass
	count = regexp.MustCompile(`^\d{1,3}$`)
	// values that are none: variables, placeholders, words of JSON
	noValue = regexp.MustCompile(`^(?:\$\w*|\$\{[^}]*\}|\$\(.*|<[^>]*>|\*+|true|false|null|none)$`)
	scheme  = regexp.MustCompile(`(?i)^(?:bearer|basic|token|digest|negotiate|apikey)$`)
)

func hasName(lower string) bool {
	return slices.ContainsFunc(stems, func(s string) bool { return strings.Contains(lower, s) })
}

// kindOfName is what stands under a name: password, cookie or secret; "" where the name
// says nothing for sure.
func kindOfName(name string) string {
	name = strings.ToLower(strings.TrimLeft(name, "-"))
	switch m := strong.FindString(name); {
	case m == "" || name == "pwd" || name == "oldpwd" || about.MatchString(name):
		return ""
	case strings.HasPrefix(m, "pass") || m == "pwd":
		return "password"
	case m == "cookie":
		return "cookie"
	}
	return "secret"
}

// kindOfValue is what a value under a name is; "": no secret.
func kindOfValue(name, v string) string {
	if v == "" || len(v) <= maxChecked && (done.MatchString(v) || noValue.MatchString(v)) {
		return ""
	}
	if kind := kindOfName(name); kind != "" {
		return kind
	}
	lower := strings.ToLower(strings.TrimLeft(name, "-"))
	before, pass := strings.CutSuffix(lower, "pass")
	prose := before == "" && strings.ContainsAny(v, " \t\n")
	if pass && !prose && (before == "" || strings.HasSuffix(before, "_") || strings.HasSuffix(before, ".")) &&
		!count.MatchString(v) {
		return "password"
	}
	if len(v) <= maxChecked && weak.MatchString(lower) && !about.MatchString(lower) &&
		random(doneAny.ReplaceAllString(v, "")) {
		return "secret"
	}
	return ""
}

// random says that a word looks like a key: long, mixed, and hardly a character twice.
func random(s string) bool {
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

// masking says that a name is the kind in a mask.
func masking(s string, at int) bool {
	from := at - len(opens)
	return from >= 0 && doneBegins.MatchString(s[from:])
}

// replaceNamed masks the values that stand behind telling names.
func replaceNamed(s string, put func(kind, secret string) string) string {
	var out strings.Builder
	var in quoting
	end := 0
	for at := 0; at < len(s); {
		m := named.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		for i := range m {
			m[i] += at
		}
		name, separator := s[m[2]:m[3]], s[m[4]:m[5]]
		at = m[3]
		if masking(s, m[2]) || strings.TrimSpace(separator) == "" && !strings.HasPrefix(name, "-") {
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
