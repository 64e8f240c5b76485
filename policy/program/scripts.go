package program

import (
	"regexp"
	"strings"
)

// unknownCode adds code that is not understood, and the files elsewhere that it names.
func (c *call) unknownCode(texts []string) {
	c.Inline = true
	for _, t := range texts {
		c.plain(Word{Text: strings.Trim(t, `"`)}, "script")
	}
}

// sed adds a script. A script that only changes text is understood; others may run commands and write files.
func (c *call) sed(w Word) {
	text := w.Text
	for piece := "x"; piece != ""; text = text[len(piece):] {
		piece = sedPiece.FindString(text)
	}
	if w.Dynamic || text != "" {
		c.unknownCode(strings.Fields(text))
	}
}

// sedPiece matches the start of a script: blanks and addresses, plain commands, texts, labels and comments,
// patterns, and s and y with each of the usual delimiters. A label ends at a blank, and the next command
// follows.
var sedPiece = regexp.MustCompile(`^(?:[\s;{}!,$~+0-9]+|[=dDgGhHlnNpPqQxzF]|[aic](?:[^\\\n]|\\[\s\S])*|:[ \t]*[\w.-]+(?:$|[\s;])|[btT][ \t]*[\w.-]*(?:$|[\s;}])|#.*|/` + sedPattern("/") + `[IM]*` + substitutions() + `)`)

// sedPattern is a regular expression with its end, in which each byte can be read in only one way. Programs
// disagree about backslashes in brackets, so these are left out.
func sedPattern(end string) string {
	in := `(?:\[[:.=][^\]\n]*\]|[^][\\\n]|\\[^]\\\n` + end + `])`
	bracket := `\[(?:\^(?:\]|` + in + `)|\]|` + strings.Replace(in, `[^][`, `[^]^[`, 1) + `)` + in + `*\]`
	return `(?:[^[\\\n` + end + `]|\\[^\n]|` + bracket + `)*` + end
}

func substitutions() (out string) {
	for _, end := range `/|,#:@%_!~` {
		end := regexp.QuoteMeta(string(end))
		text := `(?:[^\\` + end + `]|\\[\s\S])*` + end
		out += `|s` + end + sedPattern(end) + text + `[gpIiMm0-9]*(?:$|[\s;}])|y` + end + text + text +
			`(?:$|[\s;}])`
	}
	return out
}

// awk adds a program. It is understood if it surely starts nothing, and prints into no file or program. If
// patterns or comments may hold quotes, texts count as code.
func (c *call) awk(w Word) {
	if strings.Contains(w.Text, "ENVIRON") {
		c.tag("dump-env")
	}
	prints := awkPrints.MatchString(w.Text)
	if !strings.ContainsAny(w.Text, "/#") {
		prints = awkStatement.MatchString(awkText.ReplaceAllString(w.Text, ""))
	}
	if w.Dynamic || prints || awkReach.MatchString(w.Text) {
		c.unknownCode(awkText.FindAllString(w.Text, -1))
	}
}

var (
	awkReach     = regexp.MustCompile(`system|getline|ARGV|ARGC|@|\|&`)
	awkText      = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	awkStatement = regexp.MustCompile(`print[^;{}]*[|>]|"`)
	awkPrints    = regexp.MustCompile(`(?s)print.*[|>]`)
)

var (
	jqWord   = regexp.MustCompile(`[.$@]?[A-Za-z_][A-Za-z_0-9]*`)
	jqSecret = regexp.MustCompile(`(?i)^\$?(env|strenv|envsubst)$`)
	jqReach  = regexp.MustCompile(`^(\$__prog.*|import|include|load.*|system|eval)$`)
)

// jq looks for words that reach out of a filter. Those in texts are harmless except in \( ), but count as
// well.
func (c *call) jq(w Word) {
	if w.Dynamic {
		c.unsure("dynamic filter")
	}
	for _, name := range jqWord.FindAllString(w.Text, -1) {
		switch {
		case jqSecret.MatchString(name):
			c.tag("dump-env")
		case jqReach.MatchString(name):
			c.tag("opaque-exec")
		}
	}
}

var (
	sqlLooks   = regexp.MustCompile(`(?i)^\s*(insert|update|delete|replace|select|explain|with|values|describe|show|summarize|\.tables|\.schema|\.indexes|\.databases|pragma\s+\w+\s*(\(\w*\))?;?\s*$)`)
	sqlActs    = regexp.MustCompile(`(?i)\b(drop|alter|create|attach|vacuum|copy|export|import|install|load|set|call|load_extension|readfile|writefile|edit|fsdir|zipfile|fts3_tokenizer|getenv|shellfs|httpfs|getvariable)\b|\b(read|scan|parquet|sniff|glob)[a-z_]*\s*\(|\n\s*\.|://`)
	sqlChanges = regexp.MustCompile(`(?i)\b(insert|update|delete|replace|into)\b|/\*|--`)
	sqlFile    = regexp.MustCompile(`['"]([^'"]*)['"]`)
)

// sql distinguishes statements that only use the one database from code. Of a server, only questions that the
// row has as usual are none. DuckDB reads files in the place of tables.
func (c *call) sql(w Word) {
	server := c.usual != nil
	switch {
	case w.Dynamic, sqlActs.MatchString(w.Text), !server && !sqlLooks.MatchString(w.Text),
		server && (!c.isUsual(w) || sqlChanges.MatchString(w.Text)):
		c.Inline = true
		return
	case server:
		c.mark([]string{"queries"})
		return
	}
	for _, m := range sqlFile.FindAllStringSubmatch(w.Text, -1) {
		if _, out := firstOutside(m[1]); out || strings.Contains(m[1], ".") {
			c.guess(func() {
				c.touch("read", Word{Text: m[1], Glob: strings.ContainsAny(m[1], "*?[")}, "table")
			})
		}
	}
}
