package parse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Apart takes arguments out of a name, where they arrived in it: read{"path":"a"}, read({"path":"a"}),
// read(path="a"), read"{\"path\":\"a\"}". They must be closed, and what stands in their own place must say
// nothing.
func (c *Own) Apart() {
	own := string(bytes.TrimSpace(c.Args))
	at := strings.IndexAny(c.Name, `{("`)
	if at < 1 || own != "" && own != "{}" && own != "null" {
		return
	}
	name, args := c.Name[:at], strings.TrimSpace(c.Name[at:])
	if args[0] == '(' {
		called, ok := CodeCalls("f" + args)
		if !ok || len(called) != 1 || called[0].Name != "f" {
			return
		}
		args = called[0].Args
	}
	if args[0] == '"' {
		if strings.Contains(args, "{") && json.Valid([]byte(args)) {
			c.Name, c.Args = strings.TrimSpace(name), []byte(args)
		}
		return
	}
	value := harmony.Scan{}
	value.Run(args, true)
	if rest := strings.TrimSpace(args[value.End:]); args[0] == '{' && value.End > 0 &&
		(rest == "" || strings.HasPrefix(rest, "<|")) {
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
// that ends them. If nobody is set, the name names no tool: then a header may stand there.
func (c *Own) Clean(tokens *harmony.Alphabet, nobody bool) (l Left) {
	if json.Valid(c.Args) {
		return l
	}
	text := string(c.Args)
	if l.Behind = headed(text); l.Behind != "" && nobody {
		l.All = true
		return l
	}
	at := headerEnd(tokens, text)
	value := harmony.Scan{At: at, Tokens: tokens}
	value.Run(text, true)
	end := scan.SkipBytes(text, value.Cut(text), " \n\r\t}]`") // closers too many, or a fence
	token, is := tokens.At(text[end:], true)
	if is != scan.Yes {
		token.N = 0
	}
	switch behind := strings.TrimSpace(text[end+token.N:]); {
	case value.End > 0 && glued(text[end:]) && json.Valid(c.Args[at:value.End]):
		l = Left{Behind: text[end:], Closed: true}
	case is != scan.Yes, value.Depth > 0 && value.End == 0 && behind != "" &&
		!strings.HasPrefix(behind, "<|"):
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
	behind, speaks := strings.CutPrefix(s, harmony.Assistant)
	begins := func(word string) bool { return strings.HasPrefix(behind, word) }
	words := []string{harmony.Analysis, harmony.Commentary, harmony.Final, " to=", "<|"}
	return speaks && slices.ContainsFunc(words, begins) ||
		begins(harmony.Commentary+" to=")
}

// headerEnd is where arguments begin behind what a server left of their header, such as
// <|constrain|>json<|message|>, or behind blanks.
func headerEnd(tokens *harmony.Alphabet, text string) int {
	const most = 64
	blanks := len(text) - len(strings.TrimLeft(text, " \n\r\t\ufeff"))
	for at := blanks; at < min(len(text), blanks+most) && strings.IndexByte("{[\"", text[at]) < 0; {
		token, is := tokens.At(text[at:], true)
		switch {
		case is != scan.Yes:
			at++
		case token.Token != harmony.Message:
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
	return harmony.Start.String() + harmony.Assistant + harmony.Channel.String() + harmony.Commentary +
		" to=" + args
}
