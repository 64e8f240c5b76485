package program

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// connects adds what a program talks to.
func (c *call) connects(kind string, w Word) {
	switch kind {
	case "url":
		c.fetch(w, map[bool]string{true: "PING",
			false: "GET"}[strings.HasPrefix(c.name, "ping") || c.name == "getent"])
		if c.saves {
			folder, _ := c.value("-P")
			c.use("write", inFolder(folder, downloadName(w)), "download")
		}
	case "proxy":
		c.fetch(w, "PROXY")
		c.tag("net-override")
	case "address": // host:port:address,address
		c.tag("net-override")
		parts := strings.SplitN(w.Text, ":", 3)
		for _, address := range strings.Split(parts[len(parts)-1], ",") {
			c.fetch(withText(w, "http://"+address), "GET")
		}
	case "repository":
		c.repository(w)
	case "transfer":
		if urls.IsRemote(w.Text) {
			c.tag("remote", "send")
		} else {
			c.use("read", w, "argument")
		}
	}
}

// repository adds what git fetches from or pushes to.
func (c *call) repository(w Word) {
	c.noteUnknown(w)
	switch _, line, helper := strings.Cut(w.Text, "::"); {
	case helper:
		c.tag("opaque-exec")
		c.code(withText(w, line), "git transport")
	case strings.HasPrefix(w.Text, "ssh://") || strings.HasPrefix(w.Text, "git+ssh://"):
		c.tag("remote")
	case strings.Contains(w.Text, "://"):
		c.fetch(w, "GIT")
	case urls.IsRemote(w.Text):
		c.tag("remote")
	default:
		if _, out := firstOutside(w.Text); out {
			c.touch("read", w, "repository")
		}
	}
}

// sentParts adds what leaves in a request: files, and text that is only known at run time, which may come
// from any file.
func (c *call) sentParts(kind string, w Word, via string) {
	c.noteUnknown(w)
	if kind == "upload" {
		c.uploads = true
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
		c.uploads = true
		files, _, _ = strings.Cut(files, ";")
		for _, name := range strings.Split(files, ",") {
			c.touch("read", withText(w, strings.Trim(name, `"`)), via)
		}
	}
}

// noteUnknown records that text known only at run time leaves.
func (c *call) noteUnknown(w Word) { c.uploads = c.uploads || w.Dynamic }

// markUploads turns requests into sending ones if the call does more than ask, or if text of this machine
// leaves in it, even in an option of which no row says so.
func (c *call) markUploads() {
	for i := range c.found {
		if f := &c.found[i]; len(c.Fetches) > 0 && f.kind == "plain" {
			c.noteUnknown(f.value)
		}
	}
	if !c.uploads {
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

// downloadName returns the file named after a URL.
func downloadName(u Word) Word {
	name, _, _ := strings.Cut(u.Text, "?")
	if _, after, ok := strings.Cut(name, "://"); ok {
		name = after
	}
	_, name, _ = strings.Cut(name, "/")
	base := path.Base(name)
	if name == "" || base == "/" || base == "." || base == ".." {
		base = "index.html"
	}
	return withText(u, base)
}

// maxPatterned is how many URLs a pattern of curl may expand to.
const maxPatterned = 64

var (
	urlPattern       = regexp.MustCompile(`\{([^{}]*)\}|\[[^][]*\]`)
	numberRange      = regexp.MustCompile(`^\[\d+-\d+(:\d+)?\]$`)
	patternReference = regexp.MustCompile(`#\d+`)
)

// curl adds the files named after the patterns of its URLs: -o '#1' and -O.
func (c *call) curl() {
	if c.has("-g") {
		return
	}
	for _, u := range append(c.values("--url"), c.Operands...) {
		for _, stood := range c.expandURL(u) {
			if c.saves {
				c.use("write", downloadName(stood.url), "download")
			}
			for _, out := range c.values("-o") {
				name := patternReference.ReplaceAllStringFunc(out.Text, func(ref string) string {
					if i, _ := strconv.Atoi(ref[1:]); i > 0 && i <= len(stood.parts) {
						return stood.parts[i-1]
					}
					return ref
				})
				if name != out.Text {
					out = withText(out, name)
					out.Dynamic = out.Dynamic || stood.url.Dynamic
					c.touch("write", out, "-o")
				}
			}
		}
	}
}

// expandedURL is a URL of a pattern, and the text of each of its parts.
type expandedURL struct {
	url   Word
	parts []string
}

// expandURL returns the URLs of a pattern with braces and brackets; nil for a plain URL. One number stands
// for a range of them; other brackets are unknown.
func (c *call) expandURL(u Word) []expandedURL {
	at := urlPattern.FindAllStringSubmatchIndex(u.Text, -1)
	if at == nil {
		return nil
	}
	out, from := []expandedURL{{url: withText(u, "")}}, 0
	for _, m := range at {
		fixed, set := u.Text[from:m[0]], []string{"0"}
		from = m[1]
		if m[2] >= 0 {
			set = strings.Split(u.Text[m[2]:m[3]], ",")
		} else if !numberRange.MatchString(u.Text[m[0]:m[1]]) {
			set = []string{""}
			for i := range out {
				out[i].url.Dynamic = true
			}
		}
		if len(out)*len(set) > maxPatterned {
			c.unsure("a pattern that stands for too much")
			return nil
		}
		next := make([]expandedURL, 0, len(out)*len(set))
		for _, s := range out {
			for _, part := range set {
				more := expandedURL{s.url, append(slices.Clip(s.parts), part)}
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

// ssh opens a shell if it has no command.
func (c *call) ssh() {
	if len(c.Operands) == 1 && !c.has("-N") {
		c.startShell()
	}
}

// sshSetting adds NAME=VALUE of ssh -o.
func (c *call) sshSetting(w Word) {
	text := w.Text
	if i := strings.IndexAny(text, "= "); i >= 0 {
		text = text[:i] + "=" + text[i+1:]
	}
	name, value, _ := strings.Cut(text, "=")
	if w.Dynamic && value == "" {
		c.unsure("dynamic option -o")
	}
	switch v := withText(w, strings.Trim(value, `" =`)); strings.ToLower(name) {
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
