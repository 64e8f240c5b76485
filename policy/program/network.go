package program

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// connects adds what a program talks to.
func (c *call) connects(kind string, w Word) {
	switch kind {
	case "url":
		c.fetch(w, map[bool]string{true: "PING",
			false: "GET"}[strings.HasPrefix(c.name, "ping") || c.name == "getent"])
		if c.saves {
			folder, _ := c.value("-P")
			c.use("write", in(folder, saved(w)), "download")
		}
	case "proxy":
		c.fetch(w, "PROXY")
		c.tag("net-override")
	case "address": // host:port:address,address
		c.tag("net-override")
		parts := strings.SplitN(w.Text, ":", 3)
		for _, address := range strings.Split(parts[len(parts)-1], ",") {
			c.fetch(rest(w, "http://"+address), "GET")
		}
	case "repository":
		c.repository(w)
	case "transfer":
		if remoteName(w.Text) {
			c.tag("remote", "send")
		} else {
			c.use("read", w, "argument")
		}
	}
}

// repository is a place to fetch from or push to.
func (c *call) repository(w Word) {
	c.sends(w)
	switch _, line, helper := strings.Cut(w.Text, "::"); {
	case helper:
		c.tag("opaque-exec")
		c.code(rest(w, line), "git transport")
	case strings.HasPrefix(w.Text, "ssh://") || strings.HasPrefix(w.Text, "git+ssh://"):
		c.tag("remote")
	case strings.Contains(w.Text, "://"):
		c.fetch(w, "GIT")
	case remoteName(w.Text):
		c.tag("remote")
	default:
		if _, out := elsewhere(w.Text); out {
			c.touch("read", w, "repository")
		}
	}
}

// remoteName says whether a name is host:path, or a URL.
func remoteName(s string) bool {
	colon := strings.IndexByte(s, ':')
	slash := strings.IndexByte(s, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// parts adds what leaves in a request: files, and what is only known at run time, which
// may hold the text of any file.
func (c *call) parts(kind string, w Word, via string) {
	c.sends(w)
	if kind == "upload" {
		c.leaves = true
		c.touch("read", w, via)
		return
	}
	if strings.Contains(w.Text, "%output{") { // of curl -w
		c.unsure("a file in a format")
	}
	text := w.Text
	if kind == "cookie" && text != "" && !strings.Contains(text, "=") {
		text = "@" + text
	}
	if name, value, named := strings.Cut(text, "="); kind == "form" && named && !strings.Contains(name, "@") {
		text = strings.Replace(strings.TrimPrefix(value, ":"), "<", "@", 1)
	} else if i := strings.IndexByte(text, '@'); kind == "form" && i > 0 {
		text = text[i:]
	}
	if files, ok := strings.CutPrefix(text, "@"); ok {
		c.leaves = true
		files, _, _ = strings.Cut(files, ";")
		for _, name := range strings.Split(files, ",") {
			c.touch("read", rest(w, strings.Trim(name, `"`)), via)
		}
	}
}

// sends notes text that is only known at run time.
func (c *call) sends(w Word) { c.leaves = c.leaves || w.Dynamic }

// markSends makes each request one that sends, if it does more than ask, or if text of this
// machine leaves in it, were it in an option of which no row says so.
func (c *call) markSends() {
	for i := range c.found {
		if f := &c.found[i]; len(c.Fetches) > 0 && f.kind == "plain" {
			c.sends(f.value)
		}
	}
	if !c.leaves {
		return
	}
	for i := range c.Fetches {
		if m := &c.Fetches[i].Method; slices.Contains([]string{"GET", "HEAD", "GIT", "PING"}, *m) {
			*m = "POST"
		}
	}
	if len(c.Fetches) == 0 {
		c.tag("send")
	}
}

// saved is a file that is named like the end of its URL.
func saved(u Word) Word {
	name, _, _ := strings.Cut(u.Text, "?")
	if _, after, ok := strings.Cut(name, "://"); ok {
		name = after
	}
	_, name, _ = strings.Cut(name, "/")
	base := path.Base(name)
	if name == "" || base == "/" || base == "." || base == ".." {
		base = "index.html"
	}
	return rest(u, base)
}

// maxPatterned is how many files a pattern of curl may stand for, to be looked at one by one.
const maxPatterned = 64

var (
	urlPattern = regexp.MustCompile(`\{([^{}]*)\}|\[[^][]*\]`)
	numbers    = regexp.MustCompile(`^\[\d+-\d+(:\d+)?\]$`)
	reference  = regexp.MustCompile(`#\d+`)
)

// curl names files after what the patterns of its URLs stand for: -o '#1' and -O.
func (c *call) curl() {
	if c.has("-g") {
		return
	}
	for _, u := range append(c.values("--url"), c.Operands...) {
		for _, stood := range c.patterned(u) {
			if c.saves {
				c.use("write", saved(stood.url), "download")
			}
			for _, out := range c.values("-o") {
				name := reference.ReplaceAllStringFunc(out.Text, func(ref string) string {
					if i, _ := strconv.Atoi(ref[1:]); i > 0 && i <= len(stood.parts) {
						return stood.parts[i-1]
					}
					return ref
				})
				if name != out.Text {
					out = rest(out, name)
					out.Dynamic = out.Dynamic || stood.url.Dynamic
					c.touch("write", out, "-o")
				}
			}
		}
	}
}

// standing is a URL that a pattern stands for, and what each of its parts stood for.
type standing struct {
	url   Word
	parts []string
}

// patterned are the URLs that one with braces and brackets stands for; none: it has none. Of a
// range of numbers any number does. What is left open is only known at run time.
func (c *call) patterned(u Word) []standing {
	at := urlPattern.FindAllStringSubmatchIndex(u.Text, -1)
	if at == nil {
		return nil
	}
	out, from := []standing{{url: rest(u, "")}}, 0
	for _, m := range at {
		fixed, set := u.Text[from:m[0]], []string{"0"}
		from = m[1]
		if m[2] >= 0 {
			set = strings.Split(u.Text[m[2]:m[3]], ",")
		} else if !numbers.MatchString(u.Text[m[0]:m[1]]) {
			set = []string{""}
			for i := range out {
				out[i].url.Dynamic = true
			}
		}
		if len(out)*len(set) > maxPatterned {
			c.unsure("a pattern that stands for too much")
			return nil
		}
		next := make([]standing, 0, len(out)*len(set))
		for _, s := range out {
			for _, part := range set {
				more := standing{s.url, append(slices.Clip(s.parts), part)}
				more.url.Text += fixed + part
				next = append(next, more)
			}
		}
		out = next
	}
	for i := range out {
		out[i].url.Text += u.Text[from:]
	}
	return out
}

// ssh without a line opens a shell.
func (c *call) ssh() {
	if len(c.Operands) == 1 && !c.has("-N") {
		c.startShell()
	}
}

// sshSetting is NAME=VALUE of ssh -o.
func (c *call) sshSetting(w Word) {
	text := w.Text
	if i := strings.IndexAny(text, "= "); i >= 0 {
		text = text[:i] + "=" + text[i+1:]
	}
	name, value, _ := strings.Cut(text, "=")
	if w.Dynamic && value == "" {
		c.unsure("dynamic option -o")
	}
	switch v := rest(w, strings.Trim(value, `" =`)); strings.ToLower(name) {
	case "batchmode", "connecttimeout", "stricthostkeychecking", "loglevel", "serveraliveinterval",
		"serveralivecountmax", "port", "user",
		"compression", "identitiesonly", "passwordauthentication", "requesttty", "forwardagent",
		"controlmaster", "controlpersist":
	case "userknownhostsfile", "globalknownhostsfile", "controlpath":
		c.use("write", v, "-o "+name)
	case "identityfile", "certificatefile":
		c.use("read", v, "-o "+name)
	default:
		c.use("shell", v, "-o "+name)
	}
}
