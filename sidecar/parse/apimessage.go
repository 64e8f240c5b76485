package parse

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// addressed is the tool to which a message is sent, and its arguments. They are an object, or the
// text of one.
func (w *walker) addressed(v gjson.Result) (tool, body string) {
	to := firstOf(v, w.k.To).Str
	if _, refusal := w.offered.Name(strings.Clone(to)); to == "" || refusal != nil {
		return "", ""
	}
	content := firstOf(v, w.k.Body)
	if body = content.Raw; !content.IsObject() {
		body = texts(w.k, content)
	}
	if !strings.HasPrefix(strings.TrimSpace(body), "{") && !strings.HasPrefix(to, harmony.Namespace) {
		return "", "" // the recipient is a person with the name of a tool
	}
	return to, body
}

// texts are the texts in a value, but for those that only say what it is.
func texts(k *Keys, v gjson.Result) string {
	var all []string
	collect(k, v, maxWalk, &all)
	return strings.Join(all, "\n")
}

func collect(k *Keys, v gjson.Result, depth int, all *[]string) {
	switch {
	case v.Type == gjson.String && v.Str != "":
		*all = append(*all, v.Str)
	case v.Type == gjson.JSON && depth > 0:
		v.ForEach(func(key, value gjson.Result) bool {
			if key.Type == gjson.Null || !strings.HasPrefix(key.Str, "@") && !scan.Among(key.Str, besides) &&
				!k.beside(key.Str, value) {
				collect(k, value, depth-1, all)
			}
			return true
		})
	}
}

// say adds text that stands beside the calls.
func (w *walker) say(text string) { w.said = w.more(w.said, text) }

// think adds what the model thought.
func (w *walker) think(text string) { w.thought = w.more(w.thought, text) }

// more is all with a text behind it: in a line of its own, unless it goes on.
func (w *walker) more(all []byte, text string) []byte {
	if len(all) > 0 && text != "" && !w.stream {
		all = append(all, '\n')
	}
	return append(all, text...)
}

// tokens joins the tokens of a reply that is told token by token: texts, or objects with one each. The
// first is a control token.
func (w *walker) tokens(v gjson.Result) bool {
	var b strings.Builder
	ok := true
	v.ForEach(func(_, item gjson.Result) bool {
		token := item
		if item.IsObject() {
			token = item.Get("token")
			ok = w.only(item, []string{"token"})
		}
		if ok = ok && token.Type == gjson.String; ok && b.Len() == 0 {
			ok = strings.HasPrefix(token.Str, "<|") && strings.HasSuffix(token.Str, "|>")
		}
		b.WriteString(token.Str)
		return ok
	})
	_, body, whole := strings.Cut(b.String(), "<|message|>")
	if !ok || !whole || body == "" || strings.HasPrefix(body, "<|") {
		return false
	}
	w.f.Again += b.String()
	return true
}

// somebodyElse reports whether a name is that of another speaker's message, such as HumanMessage.
func somebodyElse(name string) bool {
	if !strings.Contains(name, "Message") {
		return false
	}
	for _, who := range []string{"Human", "User", "System", "Developer", "Tool", "Function"} {
		if strings.HasPrefix(name, who) {
			return true
		}
	}
	return false
}
