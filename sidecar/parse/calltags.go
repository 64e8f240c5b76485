package parse

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

var (
	callTag = regexp.MustCompile(`(?i)<(?:[\w:]+:)?(?:function|invoke)(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?\s*>`)
	nameTag = regexp.MustCompile(`(?is)<(?:tool|tool_name)>\s*([^<]+?)\s*</(?:tool|tool_name)>`)
	anyTag  = regexp.MustCompile(`</?[\w:-]+>`)
	endTag  = regexp.MustCompile(`(?i)</(?:[\w:]+:)?(?:function|invoke|action|arguments|tool_input|action_input)>`)
)

// Calls reads the calls in doc, in front of the first that could not be read: broken says that there
// is one. Where doc may have been cut, a call counts only if something closes it. What an argument
// holds is no call, whatever it looks like.
func TagCalls(doc string, cut bool) (calls []Call, broken bool) {
	args := Arguments(doc)
	heads := callTag.FindAllStringSubmatchIndex(doc, -1)
	heads = slices.DeleteFunc(heads, func(h []int) bool { return within(args, h[0]) })
	if m := nameTag.FindStringSubmatchIndex(doc); len(heads) == 0 && m != nil && !within(args, m[0]) {
		heads = [][]int{m}
	}
	done := 0
	for i, h := range heads {
		to := len(doc)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		if h[0] < done {
			continue // it stands in the object of the one before
		}
		given, ok := "", false
		if at := scan.SkipSpace(doc, h[1]); at < len(doc) && doc[at] == '{' {
			if done < 0 { // to search for the end of each that has none takes long
				return calls, true
			}
			done = End(doc, at, true)
		}
		if ok = done > h[1]; ok {
			given, to = strings.TrimSpace(doc[h[1]:done]), max(to, done)
		} else {
			given, ok = arguments(doc[:to], h[1], args)
		}
		if !ok || cut && to == len(doc) && !endTag.MatchString(doc[h[1]:to]) {
			return calls, true
		}
		calls = append(calls, Call{Name: doc[h[2]:h[3]], Args: given})
	}
	return calls, false
}

// arguments makes one JSON object of what is inside of a call's tag, at doc[from:]. It is false where
// an argument cannot be read: a call without it would be another one.
func arguments(doc string, from int, all []Argument) (args string, ok bool) {
	var members []string
	behind := from
	for _, a := range since(all, from) {
		if a.End > len(doc) {
			break
		} else if a.At < behind { // its tag stands in another one
			continue
		}
		switch {
		case a.Open, a.Key != "" && !apart(doc[behind:a.At]):
			return "", false
		case a.Key == "" && len(members) == 0:
			inner := strings.TrimSpace(doc[a.From:a.To])
			if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
				return inner, true
			}
			return jsontext.Quote(inner), true
		case a.Key != "":
			members = append(members, a.Key, strings.Trim(doc[a.From:a.To], "\n"))
		}
		behind = a.End
	}
	s := doc[from:]
	if len(members) > 0 {
		rest := doc[behind:]
		if at := endTag.FindStringIndex(rest); at != nil {
			if args = rest[at[1]:]; strings.Contains(args, "</parameter") {
				return "", false // the tag that seemed to end an argument stood in it
			}
			rest = rest[:at[0]]
		}
		return jsontext.Object(members...), apart(rest)
	}
	i := strings.IndexByte(s, '{')
	if i >= 0 {
		if end := End(s, i, true); end > 0 {
			return s[i:end], true
		}
	}
	inner, _, _ := strings.Cut(s, "</")
	if i >= 0 && i < len(inner) { // the repair of the arguments says what is wrong
		return strings.TrimSpace(inner[i:]), true
	}
	return "{}", apart(inner) && !strings.Contains(s, "<parameter")
}

// apart reports whether nothing but blanks and tags stands between arguments. Else a tag that seemed
// to end one stands in its value.
func apart(between string) bool {
	return strings.TrimSpace(anyTag.ReplaceAllString(between, "")) == ""
}

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
