package rulefile

import "strings"

// Entry is an entry of the mapping at the end of a file, as text.
type Entry struct{ Key, Text string }

// Entries splits a file without parsing it: its last key holds a mapping, whose keys are indented by two
// blanks. It is for the many files of the program, of which few entries are ever used.
func Entries(doc string) (out []Entry) {
	start, key := 0, ""
	for at := 0; at < len(doc); {
		end := len(doc)
		if n := strings.IndexByte(doc[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := doc[at:end]
		if len(line) > 3 && line[:2] == "  " && line[2] != ' ' && line[2] != '#' {
			if key != "" {
				out = append(out, Entry{key, doc[start:at]})
			}
			name, _, _ := strings.Cut(strings.TrimRight(line[2:], "\n"), " #") // a comment
			name = strings.TrimSuffix(strings.TrimSuffix(name, " {}"), ":")
			start, key = at, strings.Trim(name, `'"`)
		}
		at = end
	}
	if key != "" {
		out = append(out, Entry{key, doc[start:]})
	}
	return out
}

// Value returns the text of a plain, unquoted key of the entry; empty if it is missing.
func (e Entry) Value(key string) string {
	_, text, _ := strings.Cut(e.Text, "\n    "+key+":")
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && !strings.HasPrefix(line, "     ") {
			break
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}
