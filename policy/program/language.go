package program

import (
	"regexp"
	"strings"
)

// language adds a word that is more than a name.
func (c *call) language(kind string, w Word, via string) {
	switch kind {
	case "code":
		c.Inline = c.Inline || !c.isUsual(w)
	case "sed":
		c.sed(w)
	case "awk":
		c.awk(w)
	case "jq":
		c.jq(w)
	case "sql":
		c.sql(w)
	case "package":
		c.install(w)
	case "mode":
		c.mode(w)
	case "revision":
		c.revision(w)
	case "goal":
		c.goal(w)
	case "refspec":
		c.refspec(w, via)
	case "pathspec":
		c.pathspec(w)
	case "named": // a=x,b=y
		for _, part := range strings.Split(w.Text, ",") {
			_, file, named := strings.Cut(part, "=")
			if !named {
				file = part
			}
			c.touch("read", withText(w, file), via)
		}
	case "setting":
		c.gitSetting(w, via)
	case "ssh":
		c.sshSetting(w)
	case "mount":
		c.mount(w)
	case "resource":
		if secretNames.MatchString(w.Text) {
			c.tag("dump-env")
		}
	case "definition":
		c.definition(w)
	case "compiling":
		if w.Dynamic || !compilerFlags.MatchString(w.Text) {
			c.tag("opaque-exec")
		}
	case "assignment":
		c.assignment(w)
	case "picture":
		c.picture(w, "from")
	case "drawn":
		c.picture(w, "to")
	case "libraries":
		c.libraries(w)
	case "location":
		c.location(w, via)
	case "arguments":
		c.arguments(w, via)
	case "url", "proxy", "address", "repository", "transfer":
		c.connects(kind, w)
	case "method":
		c.uploads = c.uploads || w.Dynamic || w.Text != "GET" && w.Text != "HEAD"
		// left out, as http allows
		if via == "argument" && strings.Trim(w.Text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			c.connects("url", w)
		}
	case "upload", "sent", "form", "header", "cookie":
		c.sentParts(kind, w, via)
	}
}

var secretNames = regexp.MustCompile(`(?i)secret|token|password|_auth|extraheader`)
