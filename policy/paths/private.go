package paths

import (
	"slices"
	"strings"
	"unicode"
)

// private reports whether the names of a path suggest a secret that no table lists: wifi-password.txt,
// backup/home/.config/x. Code and pictures are only about secrets. The path is absolute, or below a home
// folder.
func private(p string) bool {
	rest := strings.Trim(fold(p), "/")
	if e, _ := confidential().find(rest); e != nil {
		return true
	}
	names := strings.Split(strings.Trim(p, "/"), "/")
	last := ending(names[len(names)-1])
	copied := false // it is in a copy of a home folder, or of a system
	for i, name := range names {
		if i > 0 && relocated(rest) || (copied || strings.HasPrefix(rest, "dot_")) && withoutDot(rest) {
			return true
		}
		nameWords := words(name)
		if i == len(names)-1 {
			return namesSecret(nameWords, last, copied, strings.ToLower(p))
		}
		if n := len(nameWords); n > 0 && (folderWords()[nameWords[n-1]] || secretWords()[nameWords[n-1]]) &&
			!codeEnds()[last] {
			return true
		}
		copied = copied || slices.ContainsFunc(nameWords, func(w string) bool { return copyWords()[w] })
		_, rest, _ = strings.Cut(rest, "/")
	}
	return false
}

// relocated reports whether a path is one of a home folder's programs, or of a system's secrets, in another
// place.
func relocated(rest string) bool {
	first, more, _ := strings.Cut(rest, "/")
	switch first {
	case ".config", ".local", ".var", "appdata":
		return true
	case "library":
		return strings.HasPrefix(more, "application support")
	}
	for _, t := range []*tree{absolute(), confidential()} {
		if e, n := t.find(rest); n > 1 && e.read == Secret {
			return true
		}
	}
	return false
}

// withoutDot reports whether a name is a special one without its dot: dotfiles/ssh/config.
func withoutDot(rest string) bool {
	for _, head := range []string{"private_", "dot_", "dot-", "_"} {
		rest = strings.TrimPrefix(rest, head)
	}
	e, _ := anywhere().find("." + strings.TrimPrefix(rest, "."))
	system, _ := absolute().find("etc/" + rest)
	return e != nil && e.read == Secret || system != nil && system.read == Secret
}

// namesSecret reports whether the words of a file name mean a secret. The last word of prose is its topic:
// passwords.md, but not password-reset.md.
func namesSecret(words []string, end string, copied bool, p string) bool {
	if codeEnds()[end] || len(words) == 0 {
		return false
	}
	stem := words
	if end != "" && len(words) > 1 {
		stem = words[:len(words)-1]
	}
	switch {
	case end == "pem":
		return !strings.Contains(p, "cert") && !strings.Contains(p, "pub") &&
			!slices.ContainsFunc(stem,
				func(w string) bool { return w == "ca" || w == "chain" || w == "fullchain" })
	case archives()[end]:
		return copied || slices.ContainsFunc(words,
			func(w string) bool { return copyWords()[w] || secretWords()[w] })
	case proseEnds()[end]:
		stem = stem[max(0, len(stem)-2):]
		return secretWords()[stem[len(stem)-1]] || len(stem) == 2 && secretPair(stem[0], stem[1])
	}
	for i, w := range words {
		if secretWords()[w] || folderWords()[w] && len(stem) == 1 || i > 0 && secretPair(words[i-1], w) {
			return true
		}
	}
	return false
}

// secretPair reports whether two words together mean a secret.
func secretPair(a, b string) bool {
	return (b == "key" || b == "keys") && keyOf()[a] || secretPairs()[a+" "+b]
}

var (
	secretWords = lists.Set("secret-words")
	folderWords = lists.Set("folder-words")
	secretPairs = lists.Set("secret-pairs")
	keyOf       = lists.Set("key-of")
	copyWords   = lists.Set("copy-words")
	archives    = lists.Set("archives")
	proseEnds   = lists.Set("prose")
	codeEnds    = lists.Set("code")
)

// ending returns the lower-case text behind the last dot of a name.
func ending(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return ""
	}
	return strings.ToLower(name[dot+1:])
}

// words splits a name into lower-case words: dbPassword_2.txt has db, password and txt.
func words(name string) (out []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			out, word = append(out, strings.ToLower(string(word))), word[:0]
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			end()
		case unicode.IsUpper(r) && lower:
			end()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return out
}
