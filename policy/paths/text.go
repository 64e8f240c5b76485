package paths

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of Linux: PATH_MAX without its NUL, and NAME_MAX.
const (
	maxPath = 4095
	maxName = 255
)

// toolPath returns the path that a file tool would use for a name; false where tools and systems disagree
// about its meaning.
func (g Guard) toolPath(name string, u *Use) (string, bool) {
	if !validPath(name, u) {
		return "", false
	}
	if len(name) > 4 && strings.EqualFold(name[:5], "file:") {
		p, ok := fileURL(name)
		return p, ok && validPath(p, u)
	}
	switch c := name[0]; {
	case c == '~':
		if name != "~" && !strings.HasPrefix(name, "~/") {
			return "", false
		}
		return g.tilde(name), true
	case c == '\\', len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') && isLetter(c):
		return "", false // Windows
	case c == '$' && len(name) > 1 && (name[1] == '_' || name[1] >= 'A' && name[1] <= 'Z'), c == '%' &&
		strings.Count(name, "%") > 1 && !isEscape(name):
		return "", false // a variable, for those who fill it in
	case strings.Contains(name, "${") || strings.Contains(name, "$("):
		return "", false
	}
	if i := strings.IndexByte(name, '{'); i >= 0 && strings.Contains(name[i:], "}") &&
		(strings.Contains(name[i:], ",") || strings.Contains(name[i:], "..")) {
		u.mark(MarkBraces)
	}
	if strings.Contains(name, "**") {
		u.mark(MarkPattern)
	}
	return name, true
}

// fileURL returns the path of a file: URL of this host, decoded once.
func fileURL(text string) (string, bool) {
	l, err := url.Parse(text)
	if err != nil || l.Opaque != "" || l.Host != "" && !strings.EqualFold(l.Host, "localhost") ||
		l.User != nil || l.RawQuery != "" || l.Fragment != "" {
		return "", false
	}
	return l.Path, strings.HasPrefix(l.Path, "/")
}

// tilde expands a leading ~ or ~user.
func (g Guard) tilde(p string) string {
	if !strings.HasPrefix(p, "~") {
		return p
	}
	user, rest := p[1:], ""
	if i := strings.IndexByte(user, '/'); i >= 0 {
		user, rest = user[:i], user[i:]
	}
	switch {
	case user == "" && g.Roots.Home != "":
		return g.Roots.Home + rest
	case user == "root":
		return "/root" + rest
	}
	return "/home/" + user + rest
}

// validPath reports whether a text can be a path, and marks what is odd in it.
func validPath(p string, u *Use) bool {
	if p == "" || len(p) > maxPath {
		return false
	}
	name := 0
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '/':
			name = 0
			continue
		case c == 0:
			return false
		case c < 0x20 || c == 0x7f:
			u.mark(MarkControl)
		case c == '\\':
			u.mark(MarkBackslash)
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(p[i:])
			u.mark(characterMark(r, size))
			i += size - 1
			name += size - 1
		}
		if name++; name > maxName {
			return false
		}
	}
	return true
}

// characterMark returns the mark of a character beyond ASCII; empty for ordinary ones.
func characterMark(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1, unicode.Is(unicode.Cc, r):
		return MarkControl
	case strings.ContainsRune("\uff0e\uff0f\u2215\u2044\u2024\u2025\ufe52\uff3c\u29f8\u29f5\ufe68", r):
		return MarkConfused
	case invisible(r) && !unicode.Is(unicode.Zs, r) &&
		!(r >= 0xfe00 && r <= 0xfe0f): // spaces, and what makes a sign an emoji, are ordinary
		return MarkInvisible
	}
	return ""
}

// invisible reports whether a character is invisible, or a space.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector) &&
		r != ' ' ||
		strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", r)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isEscape reports whether a text starts with a percent escape.
func isEscape(s string) bool {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	return len(s) > 2 && hex(s[1]) && hex(s[2])
}

// mark adds a mark once, unless it is empty.
func (u *Use) mark(m string) {
	if m != "" && !slices.Contains(u.Marks, m) {
		u.Marks = append(u.Marks, m)
	}
}
