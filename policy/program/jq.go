package program

import (
	"regexp"
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
	if c.has("-f") {
		c.tag("opaque-exec")
	}
	names := len(c.Operands)
	if !c.replaced {
		names--
	}
	c.ReadsIn = c.ReadsIn || names < 1 && !c.has("-n")
}

// yq has a filter, too; with -i it changes the files.
func yq(c *call) {
	words := c.Operands
	if len(words) > 0 {
		switch words[0].Text {
		case "e", "eval", "ea", "eval-all":
			c.Sub, words = words[0].Text, words[1:]
			for i := range c.Touches { // the filter was taken for a file
				if len(words) > 0 && c.Touches[i].Word == words[0] {
					c.Touches = append(c.Touches[:i], c.Touches[i+1:]...)
					break
				}
			}
		}
	}
	if len(words) > 0 && !c.replaced {
		c.filter(words[0], yqEnv, yqLoad)
		words = words[1:]
	}
	if w, ok := c.value("--split-exp"); ok && c.name == "yq" {
		w.Dynamic = true
		c.touch("write", w, "--split-exp")
	}
	if c.has("-i") {
		for _, w := range words {
			c.touch("write", w, "yq -i")
		}
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
