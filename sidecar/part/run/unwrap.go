package run

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// content is the result of a tool, as tools of a gateway give it.
type content struct {
	Content []part          `json:"content"`
	Details json.RawMessage `json:"details"`
	IsError bool            `json:"isError"`
}

// part is a piece of a result.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

// softly are the words by which a tool says inside of a success that it failed.
var softly = []string{"error", "failed", "not_found", "forbidden", "denied", "blocked", "unavailable",
	"timeout", "invalid"}

// unwrap is the text of a result, and whether it says that the tool failed. What is no text is
// named, so that the model knows of it. A result in no known form is shown as it is.
func unwrap(result json.RawMessage) (text string, soft bool) {
	var doc content
	if json.Unmarshal(result, &doc) != nil || doc.Content == nil && doc.Details == nil {
		var plain string
		if json.Unmarshal(result, &plain) == nil {
			return plain, false
		}
		return compact(result), false
	}
	parts := make([]string, len(doc.Content))
	for i := range doc.Content {
		parts[i] = doc.Content[i].shown()
	}
	var details struct {
		Status  any `json:"status"`
		Error   any `json:"error"`
		Message any `json:"message"`
	}
	_ = json.Unmarshal(orNull(doc.Details), &details) // of another form: it says nothing of these
	status, _ := details.Status.(string)
	why, _ := details.Error.(string)
	soft = doc.IsError || slices.Contains(softly, strings.ToLower(status)) || why != ""
	if text = strings.Join(parts, "\n"); text == "" && doc.Details != nil {
		text = compact(doc.Details)
	}
	return text, soft
}

// shown is a part as the model reads it.
func (p *part) shown() string {
	switch {
	case p.Type == "text":
		return p.Text
	case p.Resource.Text != "":
		return p.Resource.Text
	case p.Data != "":
		return fmt.Sprintf("[%s %s of %d bytes, which is not shown]", p.Type, p.MimeType,
			base64.StdEncoding.DecodedLen(len(p.Data)))
	}
	return strings.TrimSpace(fmt.Sprintf("[%s, which is not shown] %s", cmp.Or(p.Type, "part"),
		cmp.Or(p.URI, p.Resource.URI)))
}

// compact is a JSON value on one line.
func compact(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil || b.String() == "null" {
		return ""
	}
	return b.String()
}
