package parse

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Own is one of the server's own calls, put together from its pieces.
type Own struct {
	Index    int
	ID, Name string
	Args     []byte // a single piece is not copied
	Taken    bool
	again    bool // another call has its index

	value harmony.Scan // of Args, as far as seen
	seen  int
	end   int  // behind the value and blanks; 0: it goes on
	valid bool // it is JSON, and nothing else follows
}

// Owns are a server's own calls in their order.
type Owns []*Own

// Add adds a piece, and says to which call. Index ties pieces together. Some servers give
// each call the same one: another id and a name behind arguments that are whole begin the next.
func (all Owns) Add(piece Own) (Owns, int) {
	i, known := slices.BinarySearchFunc(all, piece.Index,
		func(c *Own, index int) int { return c.Index - index })
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
	return piece.Name != "" && c.ID != "" && piece.ID != "" && c.ID != piece.ID &&
		(c.Taken || startsObject(c.Args) && c.whole())
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

// whole says that the arguments are an object or a list, and nothing more. However many pieces they come
// in, each byte is looked at once.
func (c *Own) whole() bool {
	if c.end == 0 {
		piece := string(c.Args[c.seen:])
		c.value.At = 0
		if c.value.Run(piece, false) {
			c.end = c.seen + c.value.End
			c.valid = json.Valid(c.Args[:c.end])
		}
		c.seen += c.value.At
	}
	if c.valid {
		c.valid = len(bytes.TrimSpace(c.Args[c.end:])) == 0
		c.end = len(c.Args)
	}
	return c.valid
}

// Take yields the calls in front of call n that were not taken, and how each ended; the last one of
// all did as last says. Where one ends inside of a text and another follows, or where its rest fits nowhere,
// it is cut.
func (all Owns) Take(n int, last tools.End) iter.Seq2[*Own, tools.End] {
	return func(yield func(*Own, tools.End) bool) {
		for i, c := range all[:n] {
			if c.Taken || c.idle() {
				continue
			}
			how := tools.Ended
			if followed := all.join(i); !followed {
				how = last
			} else if inText(c.Args) || !c.whole() && all[i+1].rest() {
				how = tools.Cut
			}
			if c.Taken = true; !yield(c, how) {
				return
			}
		}
	}
}

// rest says that c is the rest of another call: it has no name, and more than its end, but no beginning.
func (c *Own) rest() bool {
	args := bytes.TrimLeft(c.Args, " \t\r\n]}")
	return !c.Taken && strings.TrimSpace(c.Name) == "" && len(args) > 0 && args[0] != '{'
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
	value := harmony.Scan{At: scan.SkipSpace(text, 0)}
	return !value.Run(text, true) && value.InString
}

// Unfilled is the only call, if it has no arguments.
func (all Owns) Unfilled() *Own {
	if len(all) != 1 || all[0].Taken || len(bytes.TrimSpace(all[0].Args)) > 0 {
		return nil
	}
	return all[0]
}

// Named says that one of them is a call of a tool.
func (all Owns) Named(tool string) bool {
	return slices.ContainsFunc(all,
		func(c *Own) bool { return strings.TrimPrefix(c.Name, harmony.Namespace) == tool })
}

// Have says that doc is the arguments of a call.
func (all Owns) Have(doc string) bool {
	return slices.ContainsFunc(all, func(c *Own) bool { return string(bytes.TrimSpace(c.Args)) == doc })
}
