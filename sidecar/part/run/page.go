package run

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

const maxPage = 50000 // characters of a page, unless the call says another number

func (w *toolWork) fetch() (string, error) {
	c := Client{Judge: w.call.Reaches, Resolver: w.Resolver, Connect: w.Connect}
	header := http.Header{"User-Agent": {"gpt-oss-executor"},
		"Accept": {"text/html, text/*, application/json, */*;q=0.5"}}
	a, err := c.Do(w.ctx, Request{URL: w.in.URL, Header: header})
	if err != nil {
		return "", err
	}
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	text, err := readable(a.Body, a.Header.Get("Content-Type"), kind)
	if err != nil {
		return "", err
	}
	text, cut := clip(text, bytesOf(text, cmp.Or(max(w.in.MaxChars, 0), maxPage)))
	if cut {
		text += "\n[the page goes on]"
	}
	if at := a.Uses[len(a.Uses)-1].URL; at != w.in.URL {
		text = "(from " + at + ")\n" + text
	}
	if a.Status >= http.StatusBadRequest {
		return "", fmt.Errorf("the server answers %d %s:\n%s", a.Status, http.StatusText(a.Status), text)
	}
	return text, nil
}

// bytesOf is how many bytes the first characters of a text take.
func bytesOf(text string, chars int) int {
	for i := range text {
		if chars--; chars < 0 {
			return i
		}
	}
	return len(text)
}

// readable is a document as text.
func readable(doc []byte, contentType, kind string) (string, error) {
	in, err := charset.NewReader(bytes.NewReader(doc), contentType)
	if err != nil {
		return "", err
	}
	var all bytes.Buffer
	if _, err := all.ReadFrom(in); err != nil {
		return "", err
	}
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return textOf(&all), nil
	case binary(doc) && binary(all.Bytes()):
		return "", fmt.Errorf("it is no text, but %s with %d bytes", cmp.Or(kind, "a document"), len(doc))
	}
	return strings.ToValidUTF8(all.String(), "\uFFFD"), nil
}

// unread are elements whose text a page does not show; the head is none, as its end may be left out. Blocks
// stand on lines of their own.
var (
	unread = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true,
		atom.Svg: true}
	blocks = map[atom.Atom]bool{atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Tr: true,
		atom.H1: true, atom.H2: true, atom.H3: true,
		atom.H4: true, atom.H5: true, atom.H6: true, atom.Ul: true, atom.Ol: true, atom.Table: true,
		atom.Section: true, atom.Article: true,
		atom.Header: true, atom.Footer: true, atom.Nav: true, atom.Main: true, atom.Blockquote: true,
		atom.Pre: true, atom.Title: true}
)

// textOf is the text of a page: its title, its blocks on lines of their own, its links with
// where they lead, if that is a whole URL.
func textOf(page *bytes.Buffer) string {
	var b strings.Builder
	z := html.NewTokenizer(page)
	skip := 0
	links := []string{}
	for {
		switch z.Next() {
		case html.ErrorToken:
			return folded(b.String())
		case html.TextToken:
			if skip == 0 {
				b.Write(z.Text())
			}
			continue
		}
		t := z.Token()
		end := t.Type == html.EndTagToken
		if blocks[t.DataAtom] {
			b.WriteByte('\n')
		}
		switch n := len(links); {
		case unread[t.DataAtom] && t.Type == html.StartTagToken:
			skip++
		case unread[t.DataAtom] && end:
			skip = max(skip-1, 0)
		case t.DataAtom == atom.A && !end:
			links = append(links, attribute(t, "href"))
		case t.DataAtom == atom.A && n > 0:
			if to := links[n-1]; strings.HasPrefix(to, "http") {
				b.WriteString(" (" + to + ")")
			}
			links = links[:n-1]
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// folded is a text without the white space that no reader of a page sees.
func folded(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
