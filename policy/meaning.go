package policy

import (
	_ "embed" // of the lists
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/wordlist"
)

// kind is what an argument is.
type kind uint8

const (
	unknown     kind = iota
	plainText        // for people or for a file; not examined
	shellText        // a line of shell
	codeText         // code in some language
	environment      // variables for what runs
	folder           // where something runs
)

// lists are the words that this package knows. Those for paths and URLs are in paths.yaml and urls.yaml.
var lists = wordlist.Of(listText)

//go:embed lists.txt
var listText string

// kindsByWord says what the last word of an argument's name means, or the last two: newText is a text.
var kindsByWord = sync.OnceValue(func() map[string]kind {
	out := map[string]kind{}
	for i, list := range []string{"text", "shell", "code", "environment", "folder"} {
		for _, w := range lists.List(list) {
			out[w] = plainText + kind(i)
		}
	}
	return out
})

// kindOf returns what the name of an argument means. Only the whole name code means code: country_code does
// not.
func kindOf(name string) kind {
	if name == "code" {
		return codeText
	}
	known := kindsByWord()
	for end := range nameEndings(name) {
		if k := known[end]; k != unknown {
			return k
		}
	}
	return unknown
}

// worksIn reports whether an argument is the folder in which something runs: by its name, or because it
// stands beside a command.
func worksIn(name string, kind kind, in map[string]any) bool {
	return kind == folder || slices.Contains([]string{"directory", "dir", "folder"}, fold(name)) &&
		hasProgram(in)
}

// fold maps all spellings of a name to one: filePath and file_path.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// nameEndings yields the last two words of a name as one, and the last word, each also without a plural s:
// file_paths gives filepaths, paths, filepath and path.
func nameEndings(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var before, last string
		for word := range nameWords(name) {
			before, last = last, word
		}
		switch {
		case last == "", before != "" && !yield(before+last), !yield(last):
			return
		}
		if one := strings.TrimSuffix(last, "s"); one != last && (before == "" || yield(before+one)) {
			yield(one)
		}
	}
}

// nameWords splits a name at non-letters and at camelCase: imageURLPath gives image, url and path.
func nameWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, before := -1, rune(0) // of the word, in name; -1: between words
		flush := func(end int) bool { return begin < 0 || yield(strings.ToLower(name[begin:end])) }
		for i, r := range name {
			_, size := utf8.DecodeRuneInString(name[i:])
			behind := name[i+size:]
			next, _ := utf8.DecodeRuneInString(behind)
			switch {
			case !unicode.IsLetter(r):
				if !flush(i) {
					return
				}
				begin = -1
			case begin < 0:
				begin = i
			case unicode.IsUpper(r) && (!unicode.IsUpper(before) ||
				unicode.IsLower(next) && behind != "s"): // URLs
				if !flush(i) {
					return
				}
				begin = i
			}
			before = r
		}
		flush(len(name))
	}
}

// pathLike reports whether the name of an argument may itself be a file or a URL, as in {"src/a.go": "package
// a"}.
func pathLike(name string) bool { return strings.ContainsAny(name, "/\\~") }

// isFile reports whether a name is that of a file, so that its value is the file's text.
func isFile(name string) bool {
	return pathLike(name) || fileName.MatchString(name)
}

var fileName = regexp.MustCompile(`^[\w.-]*\.[A-Za-z]\w{0,4}$`)

// Texts that look like a path outside, a file inside, a line of shell, a host.
var (
	looksOutside = regexp.MustCompile(`^@?(/[^/\s][^/]*/[^/]|~/|~$|\.\./|\.\.$|file:)`)
	looksFile    = regexp.MustCompile(`^@?(\./|\.[A-Za-z]|[\w.-]+/)`)
	looksShell   = regexp.MustCompile(`\s-{1,2}[A-Za-z]|\s[/~]|\s\.\.|\||;|&&|\$\(|\x60|://`)
	looksHost    = regexp.MustCompile(`(?i)^(//|\[|localhost\b|[\w-]+(\.[\w-]+)+(:\d+)?([/?#]|$))`)
)

// looksGlob reports whether text is a pattern of files outside rather than a regular expression.
func looksGlob(text string) bool {
	return looksLike(looksOutside, text) && strings.Contains(text, "*") &&
		!strings.ContainsAny(text, `\^$|(+`) && !strings.Contains(text, ".*")
}

const maxPath = 1024

// looksLike matches text of one line and at most maxPath bytes.
func looksLike(pattern *regexp.Regexp, text string) bool {
	return len(text) <= maxPath && !strings.ContainsAny(text, "\n\r") && pattern.MatchString(text)
}
