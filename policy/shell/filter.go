package shell

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// filter is the output of a program that transforms its standard input.
func filter(name string, args []string, in string) (string, bool) {
	switch name {
	case "cat":
		return in, len(args) == 0 || len(args) == 1 && args[0] == "-"
	case "tee":
		return in, true
	case "tac":
		lines := strings.SplitAfter(in, "\n")
		slices.Reverse(lines)
		return strings.Join(lines, ""), len(args) == 0 && strings.HasSuffix(in, "\n")
	case "rev":
		lines := strings.Split(in, "\n")
		for i, l := range lines {
			r := []rune(l)
			slices.Reverse(r)
			lines[i] = string(r)
		}
		return strings.Join(lines, "\n"), len(args) == 0
	case "head", "tail", "sort", "uniq":
		line := strings.TrimSuffix(in, "\n")
		if in != "" && (name == "sort" || name == "uniq") {
			in = line + "\n"
		}
		return in, len(args) == 0 && !strings.Contains(line, "\n")
	case "base64", "base32", "openssl", "xxd":
		if decode := decoder(name, args); decode != nil {
			b, err := decode(strings.Join(strings.Fields(in), ""))
			return string(b), err == nil
		}
		if name == "base64" {
			var b strings.Builder
			for line := range slices.Chunk([]byte(in), 57) {
				b.WriteString(base64.StdEncoding.EncodeToString(line) + "\n")
			}
			return b.String(), len(args) == 0
		}
	case "tr":
		return translate(args, in)
	}
	return "", false
}

// decoder is what a program takes out of an encoding; nil: it does not, or nobody knows.
func decoder(name string, args []string) func(string) ([]byte, error) {
	decodes := len(args) == 1 && (slices.Contains([]string{"-d", "-D", "-di", "-id"}, args[0]) || len(args[0]) > 2 && strings.HasPrefix("--decode", args[0]))
	switch {
	case name == "base64" && decodes,
		name == "openssl" && slices.Contains(args, "-d") && (slices.Contains(args, "-base64") || slices.Contains(args, "base64")) && len(args) <= 4:
		return base64.StdEncoding.DecodeString
	case name == "base32" && decodes:
		return base32.StdEncoding.DecodeString
	case name == "xxd" && slices.Contains([]string{"-r -p", "-p -r", "-rp", "-pr", "-r -ps", "-ps -r"}, strings.Join(args, " ")):
		return hex.DecodeString
	}
	return nil
}

// translate is tr with plain sets.
func translate(args []string, in string) (string, bool) {
	if len(args) != 2 {
		return "", false
	}
	if args[0] == "-d" {
		drop, ok := set(args[1])
		return strings.Map(func(r rune) rune {
			if slices.Contains(drop, r) {
				return -1
			}
			return r
		}, in), ok
	}
	from, ok1 := set(args[0])
	to, ok2 := set(args[1])
	if !ok1 || !ok2 || len(to) == 0 || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		for i := len(from) - 1; i >= 0; i-- {
			if from[i] == r {
				return to[min(i, len(to)-1)]
			}
		}
		return r
	}, in), true
}

// set is a set of tr: characters and ranges of them. Classes are not followed.
func set(s string) (out []rune, ok bool) {
	if strings.ContainsAny(s, `\[`) {
		switch s {
		case `\n`:
			return []rune{'\n'}, true
		case "[:upper:]":
			s = "A-Z"
		case "[:lower:]":
			s = "a-z"
		default:
			return nil, false
		}
	}
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' {
			if r[i+2] < r[i] || r[i+2]-r[i] > 256 {
				return nil, false
			}
			for x := r[i]; x <= r[i+2]; x++ {
				out = append(out, x)
			}
			i += 2
			continue
		}
		out = append(out, r[i])
	}
	return out, true
}
