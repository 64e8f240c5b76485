package notation

import "strings"

// around takes off tokens of a tokenizer, byte order marks, a code fence and a pair of tags that stand
// around an object, and are no part of it.
func around(s string) []string {
	inner := s
	for {
		next := unfenced(Bare(inner))
		if name, rest, ok := openTag(next); ok && frames(name) {
			if body, closed := strings.CutSuffix(rest, "</"+name+">"); closed {
				next = body
			}
		}
		if next == inner {
			break
		}
		inner = next
	}
	return only(inner, strings.TrimSpace(s), true)
}

// unfenced is what stands in the code fence that s is, or s.
func unfenced(s string) string {
	const fence = "```"
	rest, opens := strings.CutPrefix(s, fence)
	inner, closes := strings.CutSuffix(rest, fence)
	info, body, lined := strings.Cut(inner, "\n")
	if info = strings.TrimSpace(info); !opens || !closes || !lined || info != "" && !isWord(info) ||
		strings.Contains(body, fence) {
		return s
	}
	return body
}

// Bare is s without the blanks, invisible characters and tokens of a tokenizer around it.
func Bare(s string) string {
	for {
		next := strings.TrimFunc(s, isBlank)
		for from := 0; from < len(next); {
			n := tokenLen(next[from:])
			if n == 0 {
				next = next[from:]
				break
			}
			from += n
			if from == len(next) {
				next = ""
			}
		}
		for strings.HasSuffix(next, ">") {
			at := strings.LastIndexByte(next, '<')
			if at < 0 || tokenLen(next[at:]) != len(next)-at {
				break
			}
			next = next[:at]
		}
		if next == s {
			return s
		}
		s = next
	}
}

// tokenLen is the length of the token of a tokenizer that s begins with: <|word|>, <unk>, </s>.
func tokenLen(s string) int {
	const longest = 40
	if !strings.HasPrefix(s, "<") {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), longest)], '>')
	if end < 0 {
		return 0
	}
	switch word := s[1:end]; {
	case len(word) > 2 && word[0] == '|' && word[len(word)-1] == '|' && isWord(word[1:len(word)-1]):
		return end + 1
	case len(word) > 2*len("｜") && strings.HasPrefix(word, "｜") && strings.HasSuffix(word, "｜") &&
		isWord(strings.ReplaceAll(strings.Trim(word, "｜"), "▁", "_")):
		return end + 1 // of DeepSeek
	case isToken(strings.TrimPrefix(word, "/")):
		return end + 1
	}
	return 0
}

func isToken(word string) bool {
	switch strings.TrimRight(strings.ToLower(word), "0123456789") {
	case "unk", "s", "pad", "bos", "eos", "eot", "eod", "mask", "sep", "cls", "unused", "extra_id_",
		"reserved_":
		return true
	}
	return false
}

// frames reports whether a pair of tags of this name says of what is in it that it is arguments.
func frames(name string) bool {
	switch strings.ToLower(name) {
	case "json", "arguments", "args", "parameters", "params", "input", "tool_input", "action_input":
		return true
	}
	return false
}

// openTag is the name of the tag that s begins with, and what follows it.
func openTag(s string) (name, rest string, ok bool) {
	inner, found := strings.CutPrefix(s, "<")
	name, rest, closed := strings.Cut(inner, ">")
	return name, rest, found && closed && isWord(name)
}

// isWord reports whether s is a name as parameters and tokens have it.
func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) < 0
}
