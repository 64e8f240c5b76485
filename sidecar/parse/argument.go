package parse

import (
	"regexp"
	"slices"
	"strings"
)

// Argument is what stands between the tags of an argument. All of it is theirs, up to the tag that
// balances the first: a text about calls may hold such tags itself.
type Argument struct {
	Key      string // empty: it is all arguments at once
	At       int    // where its tag begins
	From, To int    // what stands in it
	End      int    // behind the tag that closes it
	Open     bool   // nothing closes it: it goes on to the end
}

var (
	anyArg   = regexp.MustCompile(`(?i)<(/?)(?:[\w:]+:)?(parameter|arg|arguments|tool_input|action_input)\b(?:(?:=|\s+(?:name|key)\s*=\s*)["']?([^"'>\s]+)["']?)?[^<>]*>`)
	keyedArg = regexp.MustCompile(`(?i)^\s*<(?:[\w:]+:)?(?:parameter|arg)\b`)
)

// Arguments are those in doc, in their order.
func Arguments(doc string) (all []Argument) {
	name, depth := "", 0
	for _, m := range anyArg.FindAllStringSubmatchIndex(doc, -1) {
		closes, tag := m[2] < m[3], strings.ToLower(doc[m[4]:m[5]])
		switch a := (Argument{At: m[0], From: m[1], To: len(doc), End: len(doc), Open: true}); {
		case depth > 0 && tag != name:
		case depth > 0 && !closes:
			depth++
		case depth > 0:
			if depth--; depth == 0 {
				last := &all[len(all)-1]
				last.To, last.End, last.Open = m[0], m[1], false
			}
		case closes:
		default:
			keyed := tag == "parameter" || tag == "arg"
			if m[6] >= 0 {
				a.Key = doc[m[6]:m[7]]
			}
			if keyed == (a.Key != "") && (keyed || !keyedArg.MatchString(doc[m[1]:])) {
				name, depth = tag, 1
				all = append(all, a)
			}
		}
	}
	return all
}

// since are those whose text begins at doc[at:] or behind.
func since(all []Argument, at int) []Argument {
	i, _ := slices.BinarySearchFunc(all, at, func(a Argument, at int) int { return a.From - at })
	return all[i:]
}

// within says that an argument holds doc[at:].
func within(all []Argument, at int) bool {
	i := len(all) - len(since(all, at+1)) - 1
	return i >= 0 && at < all[i].To
}

// Begins says that a call begins in a text.
func BeginsTag(s string) bool { return callTag.MatchString(s) }
