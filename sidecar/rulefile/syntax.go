package rulefile

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// syntax returns the problem with a file that is not YAML. yaml.v3's line is often that of the list or
// mapping around the mistake, so the line is searched.
func (s *source) syntax(doc string, err error) Problem {
	if m := unknownAnchor.FindStringSubmatch(err.Error()); m != nil {
		for i, l := range s.lines {
			if before, _, found := strings.Cut(l, "*"+m[1]); found {
				return aliasProblem(Place{s, i + 1, 1 + len([]rune(before)), 2 + len([]rune(before+m[1]))},
					"*"+m[1])
			}
		}
	}
	return s.explain(s.syntaxLine(doc), err)
}

func aliasProblem(at Place, what string) Problem {
	return at.Problem(CodeYAML, what+" repeats another part of the file",
		"write it out; a text that begins with * needs quotes")
}

var (
	lineInError   = regexp.MustCompile(`line (\d+)`)
	unknownAnchor = regexp.MustCompile(`unknown anchor '(.+)' referenced`)
)

// syntaxLine returns the first line after which no longer prefix of the file parses. Binary search finds the
// line between a prefix that parses and one that does not. That line may be in a text or bracket whose end
// parses again, so longer prefixes are tried, up to the length of the longest text or bracket.
func (s *source) syntaxLine(doc string) int {
	const longest = 60
	lines := strings.SplitAfter(doc, "\n")
	parses := func(n int) bool {
		return yaml.Unmarshal([]byte(strings.Join(lines[:n], "")), new(yaml.Node)) == nil
	}
	good, next := 0, 0 // lines of beginnings that parse
	for next >= 0 {
		good = next + sort.Search(len(lines)-next, func(i int) bool { return !parses(next + i + 1) })
		next = -1
		for n := good + 2; n <= min(good+longest, len(lines)) && next < 0; n++ {
			if parses(n) {
				next = n
			}
		}
	}
	return min(good+1, s.last())
}

var (
	keyOfLine = regexp.MustCompile(`^\s*(?:- +)*([A-Za-z_]\w*): *(.*)$`)
	noBlank   = regexp.MustCompile(`^\s*(?:- +)*[A-Za-z_]\w*:[^\s/]`)
	ternary   = regexp.MustCompile(`\?.*: `)
)

// yamlWords rephrases messages of yaml.v3.
var yamlWords = []struct{ says, means string }{
	{"mapping values are not allowed", "no key can stand here"},
	{"did not find expected '-' indicator", "this is indented differently from the list above"},
	{"did not find expected key", "this is indented differently from the keys above"},
	{"did not find expected <document start>", "... ends the file above this line"},
	{"unexpected end of stream", "a quote or bracket is never closed"},
	{"could not find expected ':'", "this is neither a key with its value nor part of a text"},
}

// NotClosed is the message about a text that goes on to the end.
const NotClosed = "the quote that opens here is never closed"

// explain says in plain words what the line means to YAML. Typical causes are an expression, a question or a
// tab.
func (s *source) explain(line int, err error) Problem {
	raw := s.line(line)
	all, indent := s.lineAt(line), raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))]
	key, value, at := "", strings.TrimSpace(raw), all
	if m := keyOfLine.FindStringSubmatchIndex(raw); m != nil {
		key, value = raw[m[2]:m[3]], strings.TrimSpace(raw[m[4]:])
		at.col = 1 + len([]rune(raw[:m[4]]))
	}
	block := "put the text into a block: " + key + ": |"
	if key == "" {
		block = "put the text into quotes"
	}
	quote := openQuote(value)
	switch {
	case strings.Contains(indent, "\t"):
		return all.Problem(CodeYAML, "YAML allows no tabs at the start of a line", "indent with spaces")
	case line > 1 && noBlank.MatchString(s.line(line-1)):
		return s.lineAt(line-1).Problem(CodeYAML, "a key needs a blank after its colon", "write key: value")
	case strings.HasPrefix(value, "!"):
		return at.Problem(CodeYAML, "YAML takes the ! at the start for a tag", exclamationHint(key))
	case strings.HasPrefix(value, "`") || strings.HasPrefix(value, "@") || strings.HasPrefix(value, "%"):
		return at.Problem(CodeYAML, fmt.Sprintf("a YAML text cannot begin with %c", value[0]), block)
	case quote >= 0:
		from := at.col + len([]rune(value[:quote]))
		return Place{s, line, from, from + 1}.Problem(CodeYAML, NotClosed,
			"close it; a quote that belongs to the text is written "+map[byte]string{'\'': "''",
				'"': `\"`}[value[quote]])
	case (strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{")) && yaml.Unmarshal([]byte(value),
		new(yaml.Node)) != nil:
		return at.Problem(CodeYAML, "YAML cannot read what stands in these brackets",
			"close every bracket and quote, and put texts with ? : , [ ] { } into quotes")
	case ternary.MatchString(value):
		return at.Problem(CodeYAML, "YAML takes the colon for a key", block)
	case quoteEndsEarly(value):
		return at.Problem(CodeYAML, "YAML ends the text at its second quote", block)
	case strings.Contains(value, ": ") && !strings.HasPrefix(value, "{"):
		return at.Problem(CodeYAML, "YAML takes the second colon for a key", block)
	}
	msg := "not YAML: " + strings.TrimLeft(lineInError.ReplaceAllString(strings.TrimPrefix(err.Error(),
		"yaml: "), ""), ": ")
	for _, w := range yamlWords {
		if strings.Contains(msg, w.says) {
			msg = w.means
		}
	}
	return all.Problem(CodeYAML, msg,
		"is it indented like its neighbours, and is every quote and bracket closed?")
}

// openQuote returns the offset of a quote that is not closed on its line; -1: none. In plain texts quotes
// have no meaning.
func openQuote(value string) int {
	if value == "" || !strings.ContainsAny(value[:1], "'\"[{") {
		return -1
	}
	open := -1
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case open < 0 && (c == '\'' || c == '"') && (i == 0 || strings.IndexByte(" [{,:", value[i-1]) >= 0):
			open = i
		case open >= 0 && value[open] == '"' && c == '\\':
			i++
		case open >= 0 && c == value[open]:
			if c == '\'' && i+1 < len(value) && value[i+1] == c {
				i++
				continue
			}
			open = -1
		}
	}
	return open
}

// quoteEndsEarly reports whether text follows a quoted value.
func quoteEndsEarly(value string) bool {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return false
	}
	end := strings.IndexByte(value[1:], value[0])
	if end < 0 {
		return false
	}
	rest := strings.TrimSpace(value[end+2:])
	return rest != "" && rest[0] != '#' && rest[0] != ',' && rest[0] != value[0]
}

const maxFile = 1 << 20

// document parses the one document of a file, and reports duplicate keys; nil: none.
func document(src *source, doc string) (*yaml.Node, Problems) {
	if p, ok := src.checkText(doc); !ok {
		return nil, Problems{p}
	}
	dec := yaml.NewDecoder(strings.NewReader(doc))
	var root, second yaml.Node
	err := dec.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && (len(root.Content) == 0 ||
		root.Content[0].ShortTag() == "!!null") {
		return nil, Problems{src.whole(CodeFile, "this file is empty",
			"an empty file never takes effect")}
	}
	if err != nil {
		return nil, Problems{src.syntax(doc, err)}
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, Problems{src.lineAt(second.Line).Problem(CodeYAML, "a second document begins with ---",
			"a rule file holds one document")}
	case !errors.Is(err, io.EOF):
		return nil, Problems{src.syntax(doc, err)}
	}
	d := decoder{src: src}
	d.distinctKeys(root.Content[0])
	return root.Content[0], d.problems
}

// distinctKeys reports and removes duplicate keys, which the merge of layers would lose.
func (d *decoder) distinctKeys(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		first, kept := map[string]int{}, n.Content[:0]
		for k, v := range pairs(n) {
			if line, twice := first[k.Value]; twice {
				todo := "put both parts together there"
				if v.Kind == yaml.ScalarNode {
					todo = "leave one of them out"
				}
				d.report(k, CodeDup, fmt.Sprintf("%s stands here twice", display(k)),
					fmt.Sprintf("it stands in line %d, too; %s", line, todo))
				continue
			}
			if k.Kind == yaml.ScalarNode {
				first[k.Value] = k.Line
			}
			kept = append(kept, k, v)
		}
		n.Content = kept
	}
	for _, c := range n.Content {
		d.distinctKeys(c)
	}
}

// otherBreaks end a line for YAML, but in few editors.
const otherBreaks = "\r\u0085\u2028\u2029"

// checkText reports what no text file holds; ok is false if it finds any.
func (s *source) checkText(doc string) (Problem, bool) {
	if len(doc) > maxFile {
		return s.whole(CodeFile, "this file is longer than 1 MiB",
			"no rule file that people write is as long"), false
	}
	for i, l := range s.lines {
		col := -1
		for _, r := range l {
			col++
			if r == 0 || r == utf8.RuneError && !utf8.ValidString(l) {
				return Place{s, i + 1, col + 1, col + 2}.Problem(CodeFile, "this is not text in UTF-8",
					"save the file as UTF-8"), false
			}
			what := ""
			switch {
			case strings.ContainsRune(otherBreaks, r):
				what = "editors do not show this line break"
			case unicode.IsControl(r) && r != '\t':
				what = "this is a control character"
			default:
				continue
			}
			return Place{s, i + 1, col + 1, col + 2}.Problem(CodeFile, what,
				"delete it, or write it as "+strings.Trim(strconv.QuoteRuneToASCII(r), "'")+
					" in double quotes"), false
		}
	}
	return Problem{}, true
}
