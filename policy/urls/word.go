package urls

import "strings"

// Word classifies a URL as a shell hands it to a program. One without a scheme is taken as the program takes
// it: as http:// or, with the method GIT, as host:path of an ssh server. dynamic means that a part is only
// known at run time, and missing in text.
func Word(text string, dynamic bool, method string) Use {
	u := parse(withScheme(text, dynamic, method), method, ports(method))
	u.URL, u.Dynamic = text, dynamic
	if !dynamic {
		return u
	}
	// What is missing may be anywhere, so that a harmless host proves nothing.
	unsure := u.Class == Public || u.Class == Malformed || u.Class == Private && !strings.ContainsAny(u.Host,
		".:")
	if unsure {
		u.Class, u.Marks = Dynamic, nil
	}
	return u
}

// IsRemote reports whether git, scp and their like take a word as HOST:PATH or a URL, rather than as a file
// or the name of a remote.
func IsRemote(word string) bool {
	colon := strings.IndexByte(word, ':')
	slash := strings.IndexByte(word, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

func ports(method string) map[string]int {
	if method == "GIT" {
		return gitPorts
	}
	return webPorts
}

// withScheme adds the scheme that the program supplies.
func withScheme(text string, dynamic bool, method string) string {
	before, after, found := strings.Cut(text, ":")
	switch {
	case strings.HasPrefix(text, "//"):
		return "http:" + text
	case found && strings.HasPrefix(after, ":"): // ext::command
		return text
	case method == "GIT":
		return gitURL(text)
	case found && strings.HasPrefix(after, "//") && isScheme(before):
		return text
	case dynamic, after == "", digitFirst(after): // host:port, or no colon at all
	case isScheme(before) && (after[0] == '/' || !strings.Contains(before, ".")):
		return text // data:, mailto: and what else needs no //
	}
	return "http://" + text
}

// gitURL returns what git means: pip writes git+https://, and host:path is short for ssh://host/path.
func gitURL(text string) string {
	before, after, _ := strings.Cut(text, ":")
	switch {
	case !IsRemote(text):
		return "file:" + text
	case strings.HasPrefix(after, "//"):
		return strings.TrimPrefix(text, "git+")
	}
	return "ssh://" + before + "/" + strings.TrimPrefix(after, "/")
}

func digitFirst(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
