package program

import (
	"path"
	"slices"
	"strings"
)

// connects adds what a program talks to.
func (c *call) connects(kind string, w Word) {
	switch kind {
	case "url":
		c.fetch(w, map[bool]string{true: "PING", false: "GET"}[strings.HasPrefix(c.name, "ping")])
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
			c.touch("read", w, "argument")
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
	text := w.Text
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

// left makes each request one that sends, if text of this machine leaves in it. It does
// not matter what its method is called.
func (c *call) left() {
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

// anyDynamic notes values that leave with a request though no kind says so: user agents,
// ranges, cookies.
func (c *call) anyDynamic() {
	for i := range c.found {
		if f := &c.found[i]; f.kind == "plain" {
			c.sends(f.value)
		}
	}
}

// curl sends what its options say, with the method that follows from them.
func (c *call) curl() {
	c.anyDynamic()
	method := "GET"
	switch w, given := c.value("-X"); {
	case given && w.Dynamic: // it may be any, and is data itself
		method = "POST"
	case given && w.Text != "GET" && w.Text != "HEAD":
		method = w.Text
	case c.has("-T"):
		method = "PUT"
	case c.has("-G"):
	case c.has("-d", "--data-raw", "--data-urlencode", "--json", "-F", "--form-string"):
		method = "POST"
	case c.has("-I"):
		method = "HEAD"
	}
	if w, ok := c.value("-b"); ok && !strings.Contains(w.Text, "=") && w.Text != "" {
		c.parts("upload", w, "-b")
	}
	if w, ok := c.value("-w"); ok && strings.Contains(w.Text, "%output{") {
		c.touch("write", Word{Dynamic: true}, "-w")
	} else if name, file := strings.CutPrefix(w.Text, "@"); file {
		c.touch("read", rest(w, name), "-w")
	}
	folder, _ := c.value("--output-dir")
	for _, w := range c.values("-o") {
		c.use("write", in(folder, w), "-o")
	}
	scheme, plain := c.value("--proto-default")
	for _, u := range slices.Concat(c.Operands, c.values("--url")) {
		if plain && !strings.Contains(u.Text, "://") {
			u = rest(u, scheme.Text+"://"+u.Text)
		}
		c.fetch(u, method)
		if c.has("-O", "--remote-name-all") {
			c.use("write", in(folder, saved(u)), "-O")
		}
	}
	if c.has("-J") {
		c.touch("write", Word{Dynamic: true}, "-J")
	}
}

// wget saves what it fetches.
func (c *call) wget() {
	c.anyDynamic()
	method := "GET"
	switch w, ok := c.value("--method"); {
	case ok && w.Dynamic:
		method = "POST"
	case ok:
		method = w.Text
	case c.has("--post-data", "--post-file", "--body-data", "--body-file"):
		method = "POST"
	}
	folder, _ := c.value("-P")
	name, named := c.value("-O")
	if named {
		c.use("write", name, "-O")
	}
	for _, u := range c.Operands {
		c.fetch(u, method)
		if !named && !c.has("--spider") {
			c.use("write", in(folder, saved(u)), "-P")
		}
	}
	tree := c.has("-x") || c.has("-r", "-m", "-p") && c.has("-nH", "--cut-dirs")
	if tree || c.has("--content-disposition", "--trust-server-names") {
		c.touch("write", Word{Dynamic: true}, "names of the server")
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

// httpie has the method and parts of the message among its operands.
func (c *call) httpie() {
	c.anyDynamic()
	c.ReadsIn, c.SendsIn = true, !c.has("--ignore-stdin")
	words, method := c.Operands, "GET"
	if len(words) > 0 && words[0].Text != "" && strings.Trim(words[0].Text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, words = words[0].Text, words[1:]
	}
	for i, w := range words {
		switch {
		case i > 0:
			c.parts("form", w, "item")
			query := strings.Contains(w.Text, "==") || strings.Contains(w.Text, ":") && !strings.Contains(w.Text, "=")
			c.leaves = c.leaves || method == "GET" && !query
		case strings.HasPrefix(w.Text, ":"):
			c.fetch(rest(w, "localhost"+w.Text), method)
		default:
			c.fetch(w, method)
		}
	}
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
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand":
		if !strings.EqualFold(v.Text, "none") {
			c.use("shell", v, "-o "+name)
		}
	case "userknownhostsfile", "globalknownhostsfile", "controlpath":
		c.use("write", v, "-o "+name)
	case "batchmode", "connecttimeout", "stricthostkeychecking", "loglevel", "serveraliveinterval", "serveralivecountmax", "port", "user",
		"compression", "identitiesonly", "passwordauthentication", "requesttty", "forwardagent", "controlmaster", "controlpersist":
	case "identityfile", "certificatefile":
		c.use("read", v, "-o "+name)
	default:
		c.use("load", v, "-o "+name)
	}
}

// rsync may delete at both ends.
func (c *call) rsync() {
	n := len(c.Operands)
	if n == 1 { // it lists
		c.Touches = slices.DeleteFunc(c.Touches, func(t Touch) bool { return t.Op == "write" })
		c.touch("read", c.Operands[0], "argument")
	}
	if n > 1 && c.has("--delete") {
		c.touch("delete", c.Operands[n-1], "argument")
		c.Recursive = true
	}
	if n > 1 && c.has("--remove-source-files") {
		for _, w := range c.Operands[:n-1] {
			c.touch("delete", w, "argument")
		}
	}
	if slices.ContainsFunc(c.Operands, func(w Word) bool { return remoteName(w.Text) }) {
		c.tag("remote")
		c.Touches = slices.DeleteFunc(c.Touches, func(t Touch) bool { return t.Via == "argument" && remoteName(t.Word.Text) })
	}
}
