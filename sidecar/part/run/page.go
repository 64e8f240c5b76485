package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

const maxPage = 50000 // default limit of characters

func (w *toolCall) fetch() (string, error) {
	c := Client{Judge: w.call.MayConnect, Resolver: w.Resolver, Connect: w.Connect}
	header := http.Header{"User-Agent": {"gpt-oss-executor"},
		"Accept": {"text/html, text/*, application/json, */*;q=0.5"}}
	a, err := c.Do(w.ctx, Request{URL: w.in.URL, Header: header})
	if err != nil {
		return "", err
	}
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	text, err := documentText(a.Body, a.Header.Get("Content-Type"), kind)
	if err != nil {
		return "", err
	}
	text, cut := clip(text, byteLen(text, cmp.Or(max(w.in.MaxChars, 0), maxPage)))
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

// byteLen returns how many bytes the first characters of a text take.
func byteLen(text string, chars int) int {
	for i := range text {
		if chars--; chars < 0 {
			return i
		}
	}
	return len(text)
}

// documentText returns a document as text.
func documentText(doc []byte, contentType, kind string) (string, error) {
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
		return pageText(&all), nil
	case isBinary(doc) && isBinary(all.Bytes()):
		return "", fmt.Errorf("it is no text, but %s with %d bytes", cmp.Or(kind, "a document"), len(doc))
	}
	return strings.ToValidUTF8(all.String(), "\uFFFD"), nil
}

// Hidden elements do not contain head, whose end tag may be left out. Block elements stand on lines of
// their own.
var (
	hiddenElements = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Noscript: true,
		atom.Template: true, atom.Svg: true}
	blockElements = map[atom.Atom]bool{atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true,
		atom.Tr: true, atom.H1: true, atom.H2: true, atom.H3: true,
		atom.H4: true, atom.H5: true, atom.H6: true, atom.Ul: true, atom.Ol: true, atom.Table: true,
		atom.Section: true, atom.Article: true,
		atom.Header: true, atom.Footer: true, atom.Nav: true, atom.Main: true, atom.Blockquote: true,
		atom.Pre: true, atom.Title: true}
)

// pageText returns the text of a page: its title, blocks on lines of their own, and links with their
// absolute URLs.
func pageText(page *bytes.Buffer) string {
	var b strings.Builder
	z := html.NewTokenizer(page)
	skip := 0
	links := []string{}
	for {
		switch z.Next() {
		case html.ErrorToken:
			return collapseSpace(b.String())
		case html.TextToken:
			if skip == 0 {
				b.Write(z.Text())
			}
			continue
		}
		t := z.Token()
		end := t.Type == html.EndTagToken
		if blockElements[t.DataAtom] {
			b.WriteByte('\n')
		}
		switch n := len(links); {
		case hiddenElements[t.DataAtom] && t.Type == html.StartTagToken:
			skip++
		case hiddenElements[t.DataAtom] && end:
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

// collapseSpace removes the white space that a browser does not show.
func collapseSpace(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

type metadata struct {
	RunID      string   `json:"run_id"`
	Iterations int      `json:"iterations"`
	Tools      []string `json:"tools_called"` // in order
	Took       int64    `json:"total_tool_execution_time_ms"`
	Used       float64  `json:"context_usage_percent"`
}

func wantsMetadata(req *openai.Request) (bool, error) {
	at, ok := req.Field("executor_metadata")
	if !ok {
		return false, nil
	}
	switch string(at.Of(req.Body)) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	}
	return false, openai.InvalidRequest("executor_metadata", "executor_metadata must be true or false.")
}

// metadata returns a JSON object; nil if the request does not ask for it.
func (r *Run) metadata() []byte {
	if !r.describe {
		return nil
	}
	tokens := r.usage.context
	if tokens == 0 { // the server has not said
		tokens = r.tokens.tokens(r.talk.weight())
	}
	doc, err := json.Marshal(metadata{r.ID, r.history.turns, append([]string{}, r.history.tools...),
		r.history.toolTime.Milliseconds(), percent(r.share(tokens))})
	if err != nil { // it holds nothing that cannot be written
		return nil
	}
	return doc
}
