package paths

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold returns a path as less strict systems see it: in lower case, wide letters narrow, without invisible
// characters, dots and spaces at the end of a name, and NTFS streams, and with short names such as git~1 as
// .git. It keeps the number of parts.
func fold(p string) string {
	if plainText(p) {
		return p
	}
	var b strings.Builder
	b.Grow(len(p))
	for i, name := range strings.Split(p, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(foldName(name))
	}
	return b.String()
}

// plainText reports whether there is nothing to fold.
func plainText(p string) bool {
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 'A' && c <= 'Z', c >= utf8.RuneSelf, c == '~', c == ':':
			return false
		case (c == '.' || c == ' ') && (i+1 == len(p) || p[i+1] == '/'):
			return false
		}
	}
	return true
}

func foldName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return unicode.ToLower(r)
		case r >= 0xff01 && r <= 0xff5e:
			r -= 0xfee0
		case r == 0x2024 || r == 0xfe52:
			return '.'
		case invisible(r):
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, name)
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	name = strings.TrimRight(name, ". ")
	if i := strings.LastIndexByte(name, '~'); i > 0 && i+1 < len(name) &&
		strings.Trim(name[i+1:], "0123456789") == "" {
		name = "." + name[:i]
	}
	return name
}
