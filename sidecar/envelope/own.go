package envelope

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/alphabet"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/jsonend"
	"github.com/jgavinray/gpt-oss-executor/sidecar/sentence"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Own is one of the server's own calls, put together from its pieces.
type Own struct {
	Index    int
	ID, Name string
	Args     []byte // a single piece is not copied
	Taken    bool
	again    bool // another call has its index
	broken   int  // so many bytes of Args were no JSON
}

// Owns are a server's own calls in their order.
type Owns []*Own

// Add adds a piece, and says to which call. Index ties pieces together. Some servers give
// each call the same one: another id and a name behind arguments that are whole begin the next.
func (all Owns) Add(piece Own) (Owns, int) {
	i, known := slices.BinarySearchFunc(all, piece.Index, func(c *Own, index int) int { return c.Index - index })
	for known && i+1 < len(all) && all[i+1].Index == piece.Index {
		i++
	}
	again := known && all[i].endsAt(piece)
	if again {
		i++
	}
	if again || !known {
		all = slices.Insert(all, i, &Own{Index: piece.Index, again: again})
	}
	c := all[i]
	if c.ID == "" {
		c.ID = piece.ID
	}
	c.Name += piece.Name
	c.add(piece.Args)
	return all, i
}

// endsAt says that a piece of the same index is another call.
func (c *Own) endsAt(piece Own) bool {
	return piece.Name != "" && c.ID != "" && piece.ID != "" && c.ID != piece.ID && startsObject(c.Args) && json.Valid(c.Args)
}

// idle says that a call is none: a server that changes ids says its name once more.
func (c *Own) idle() bool { return c.again && len(bytes.TrimSpace(c.Args)) == 0 }

func startsObject(args []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) }

// add adds to the arguments. Room is doubled, so that little is copied often.
func (c *Own) add(args []byte) {
	if len(c.Args) == 0 {
		c.Args = args[:len(args):len(args)]
		return
	}
	if cap(c.Args)-len(c.Args) < len(args) {
		c.Args = slices.Grow(c.Args, max(len(c.Args), len(args), 1<<10))
	}
	c.Args = append(c.Args, args...)
}

// Thought takes off the words in front of the arguments that say that the call is made: the model
// thought on where it should have called. "" where there are none.
func (c *Own) Thought(talk *sentence.Talk) (said string) {
	if talk == nil || startsObject(c.Args) {
		return ""
	}
	i := Last(string(c.Args))
	if i <= 0 {
		return ""
	}
	front := sentence.Front{}
	if front.Add(string(c.Args[:i])); !talk.Makes(&front) {
		return ""
	}
	said, c.Args = string(c.Args[:i]), c.Args[i:]
	return said
}

// Begins says that call i is known to be one of its own, and not the rest of the one before.
func (all Owns) Begins(i int) bool {
	return i > 0 && strings.TrimSpace(all[i].Name) != "" && !all[i].goesOn(all[i-1])
}

// goesOn says that c may be the rest of a call that a server gave as two: it has no name, or
// the id and the name of the other one.
func (c *Own) goesOn(before *Own) bool {
	return strings.TrimSpace(c.Name) == "" || c.ID != "" && c.ID == before.ID && c.Name == before.Name
}

// join puts the rest of call i, which stands in those behind it, into its arguments, if that makes
// them whole JSON, and says whether other calls follow. An entry that says nothing is taken, too.
func (all Owns) join(i int) (followed bool) {
	const most = 8 // pieces that are tried, or many would take long
	c := all[i]
	args, to := slices.Clip(c.Args), i
	for j := i + 1; j < min(len(all), i+most) && !all[j].Taken && all[j].goesOn(c); j++ {
		if args = append(args, all[j].Args...); json.Valid(args) || len(bytes.TrimSpace(all[j].Args)) == 0 {
			to = j
		}
	}
	for _, rest := range all[i+1 : to+1] {
		c.add(rest.Args)
		rest.Taken = true
	}
	return to+1 < len(all)
}

// Whole is how many calls in front of call n are whole. Pieces of others may still come, where a
// server gives several calls at once.
func (all Owns) Whole(n int) int {
	open := slices.IndexFunc(all[:n], func(c *Own) bool { return !c.Taken && !c.idle() && !c.whole() })
	if open < 0 {
		return n
	}
	return open
}

// whole says that the arguments are JSON. It looks at them once for each piece that comes.
func (c *Own) whole() bool {
	if c.broken != len(c.Args) && json.Valid(c.Args) {
		return true
	}
	c.broken = len(c.Args)
	return false
}

// Take yields the calls in front of call n that were not taken, and how each ended; the last one of
// all did as last says. Where one ends inside of a text and another follows, its rest was lost.
func (all Owns) Take(n int, last tools.End) iter.Seq2[*Own, tools.End] {
	return func(yield func(*Own, tools.End) bool) {
		for i, c := range all[:n] {
			if c.Taken || c.idle() {
				continue
			}
			how := tools.Ended
			if followed := all.join(i); !followed {
				how = last
			} else if inText(c.Args) {
				how = tools.Cut
			}
			if c.Taken = true; !yield(c, how) {
				return
			}
		}
	}
}

// inText says that arguments end inside of a text. A stream that was taken up again ends as its object
// does, whatever the quotes in front of that say.
func inText(args []byte) bool {
	if json.Valid(args) {
		return false
	}
	text := string(args)
	if _, resumed := jsonrepair.Resumed(text, 0); resumed {
		return false
	}
	value := jsonend.Scan{At: scan.SkipSpace(text, 0)}
	return !value.Run(text, true) && value.InString
}

// Unfilled is the only call, if it has no arguments.
func (all Owns) Unfilled() *Own {
	if len(all) != 1 || all[0].Taken || len(bytes.TrimSpace(all[0].Args)) > 0 {
		return nil
	}
	return all[0]
}

// Have says that doc is the arguments of a call.
func (all Owns) Have(doc string) bool {
	return slices.ContainsFunc(all, func(c *Own) bool { return string(bytes.TrimSpace(c.Args)) == doc })
}

// Apart takes arguments out of a name, where they arrived in it: read{"path":"a"}, read({"path":"a"}),
// read(path="a"). They must be whole, and what stands in their own place must say nothing.
func (c *Own) Apart() {
	own := string(bytes.TrimSpace(c.Args))
	at := strings.IndexAny(c.Name, "{(")
	if at < 1 || own != "" && own != "{}" && own != "null" {
		return
	}
	name, args := c.Name[:at], strings.TrimSpace(c.Name[at:])
	if args[0] == '(' {
		called, ok := callcode.Calls("f" + args)
		if !ok || len(called) != 1 || called[0].Name != "f" {
			return
		}
		args = called[0].Args
	}
	value := jsonend.Scan{}
	value.Run(args, true)
	if rest := strings.TrimSpace(args[value.End:]); args[0] == '{' && json.Valid([]byte(args[:value.End])) && (rest == "" || strings.HasPrefix(rest, "<|")) {
		c.Name, c.Args = name, []byte(args[:value.End])
	}
}

// Left is what a server left of the model's text in a call of its own.
type Left struct {
	Behind string // what stands behind its end
	Closed bool   // a control token ends it
	All    bool   // Behind is a message with a header of its own, and there is nothing else
}

// Clean takes from the arguments what is left of a header in front of them, and the control token
// that ends them. nobody says that the name names no tool: then a header may stand there.
func (c *Own) Clean(tokens *alphabet.Alphabet, nobody bool) (l Left) {
	if json.Valid(c.Args) {
		return l
	}
	text := string(c.Args)
	if l.Behind = headed(text); l.Behind != "" && nobody {
		l.All = true
		return l
	}
	at := headerEnd(tokens, text)
	value := jsonend.Scan{At: at, Tokens: tokens}
	value.Run(text, true)
	end := scan.SkipBytes(text, value.Cut(text), " \n\r\t}]`") // closers too many, or a fence
	token, is := tokens.At(text[end:], true)
	if is != scan.Yes {
		token.N = 0
	}
	switch behind := strings.TrimSpace(text[end+token.N:]); {
	case value.End > 0 && glued(text[end:]) && json.Valid(c.Args[at:value.End]):
		l = Left{Behind: text[end:], Closed: true}
	case is != scan.Yes, value.Depth > 0 && value.End == 0 && behind != "" && !strings.HasPrefix(behind, "<|"):
		c.Args = c.Args[at:] // a token in quotes that lack their backslash
		return Left{}
	case token.Token.Opens():
		l = Left{Behind: text[end:], Closed: true}
	case token.Token.Closes():
		l = Left{Behind: text[end+token.N:], Closed: true}
	default:
		l = Left{Closed: true}
	}
	c.Args = bytes.TrimRight(c.Args[at:end], " \n\r\t")
	return l
}

// glued says that a header without its tokens begins.
func glued(s string) bool {
	behind, speaks := strings.CutPrefix(s, "assistant")
	begins := func(word string) bool { return strings.HasPrefix(behind, word) }
	return speaks && slices.ContainsFunc([]string{"analysis", "commentary", "final", " to=", "<|"}, begins) || begins("commentary to=")
}

// headerEnd is where arguments begin behind what a server left of their header, such as
// <|constrain|>json<|message|>, or behind blanks.
func headerEnd(tokens *alphabet.Alphabet, text string) int {
	const most = 64
	blanks := len(text) - len(strings.TrimLeft(text, " \n\r\t\ufeff"))
	for at := blanks; at < min(len(text), blanks+most) && strings.IndexByte("{[\"", text[at]) < 0; {
		token, is := tokens.At(text[at:], true)
		switch {
		case is != scan.Yes:
			at++
		case token.Token != alphabet.Message:
			at += token.N
		default:
			if at = scan.SkipSpace(text, at+token.N); at < len(text) && (text[at] == '{' || text[at] == '[') {
				return at
			}
			return blanks
		}
	}
	return blanks
}

// headed is a message whose header a server read half: the name is missing, and the arguments
// begin with what is left of the header. It is empty where they begin with something else.
func headed(args string) string {
	args = strings.TrimSpace(args)
	head, _, whole := strings.Cut(args, "{")
	switch {
	case !whole || head == "":
		return ""
	case strings.HasPrefix(head, "<"), strings.Contains(head, "to="):
		return args
	}
	return "<|start|>assistant<|channel|>commentary to=" + args
}
