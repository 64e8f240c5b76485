package program

import (
	"regexp"
	"slices"
	"strings"
)

var (
	jqEnv  = regexp.MustCompile(`\benv\b|\$ENV\b`)
	jqLoad = regexp.MustCompile(`\b(import|include)\s*"|\$__prog`)
	yqEnv  = regexp.MustCompile(`\b(str)?env\s*\(|\benvsubst\b|\$ENV\b|\benv\b`)
	yqLoad = regexp.MustCompile(`\bload(_[a-z]+)?\s*\(|\bsystem\s*\(|\b(import|include)\s*"`)
)

// jq reads its filter.
func jq(c *call) {
	if !c.replaced && len(c.Operands) > 0 {
		c.filter(c.Operands[0], jqEnv, jqLoad)
	}
	names := len(c.Operands)
	if !c.replaced {
		names--
	}
	c.ReadsIn = c.ReadsIn || names < 1 && !c.has("-n")
}

// yq has a filter, too, perhaps after a word.
func yq(c *call) {
	words := c.Operands
	if len(words) > 0 && slices.Contains([]string{"e", "eval", "ea", "eval-all"}, words[0].Text) {
		c.Sub, words = words[0].Text, words[1:]
		c.Touches = slices.DeleteFunc(c.Touches, func(t Touch) bool { return len(words) > 0 && t.Word == words[0] }) // it was taken for a file
	}
	if len(words) > 0 && !c.replaced {
		c.filter(words[0], yqEnv, yqLoad)
		words = words[1:]
	}
	if w, ok := c.value("--split-exp"); ok {
		w.Dynamic = true
		c.touch("write", w, "--split-exp")
	}
	c.ReadsIn = c.ReadsIn || len(words) == 0
}

// filter looks for what reaches out of the filter.
func (c *call) filter(w Word, env, load *regexp.Regexp) {
	if strings.Contains(w.Text, "env") || strings.Contains(w.Text, "ENV") {
		if env.MatchString(w.Text) {
			c.tag("dump-env")
		}
	}
	if load.MatchString(w.Text) {
		c.tag("opaque-exec")
	}
	if w.Dynamic {
		c.unsure("dynamic filter")
	}
}
