package program

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

var (
	jqWord   = lazyregexp.New(`[.$@]?[A-Za-z_][A-Za-z_0-9]*`)
	jqSecret = lazyregexp.New(`(?i)^\$?(env|strenv|envsubst)$`)
	jqReach  = lazyregexp.New(`^(\$__prog.*|import|include|load.*|system|eval)$`)
)

// jq looks for words that reach out of a filter. Those in texts do no harm, but for what
// is in \( ) there; they count as well.
func (c *call) jq(w Word) {
	if w.Dynamic {
		c.unsure("dynamic filter")
	}
	for _, name := range jqWord().FindAllString(w.Text, -1) {
		switch {
		case jqSecret().MatchString(name):
			c.tag("dump-env")
		case jqReach().MatchString(name):
			c.tag("opaque-exec")
		}
	}
}

var (
	sqlLooks = lazyregexp.New(`(?i)^\s*(select|explain|with|values|describe|show|summarize|\.tables|\.schema|\.indexes|\.databases|pragma\s+\w+\s*(\(\w*\))?;?\s*$)`)
	sqlActs  = lazyregexp.New(`(?i)\b(insert|update|delete|drop|alter|create|replace|attach|vacuum|copy|export|import|install|load|set|call|load_extension|readfile|writefile|edit|fsdir|zipfile|fts3_tokenizer|getenv|shellfs|httpfs|getvariable)\b|\b(read|scan|parquet|sniff|glob)[a-z_]*\s*\(|\n\s*\.|://`)
	sqlFile  = lazyregexp.New(`['"]([^'"]*)['"]`)
)

// sql tells statements that only look at the one database from code. DuckDB reads files
// that stand in the place of tables.
func (c *call) sql(w Word) {
	if w.Dynamic || !sqlLooks().MatchString(w.Text) || sqlActs().MatchString(w.Text) {
		c.Inline = true
		return
	}
	for _, m := range sqlFile().FindAllStringSubmatch(w.Text, -1) {
		if _, out := elsewhere(m[1]); out || strings.Contains(m[1], ".") {
			c.touch("read", Word{Text: m[1], Glob: strings.ContainsAny(m[1], "*?[")}, "table")
		}
	}
}
