package program

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	gitExecKey  = regexp.MustCompile(`(?i)^(alias\.|core\.(pager|sshcommand|alternaterefscommand|fsmonitor|hookspath|editor|askpass|gitproxy|attributesfile|worktree)|pager\.|diff\..*(external|textconv|command)|diff\.external|difftool\.|mergetool\.|merge\..*driver|filter\..*\.(clean|smudge|process)|credential|gpg\.|sequence\.editor|protocol\.|remote\..*\.(uploadpack|receivepack|vcs|url|pushurl)|branch\..*\.remote|safe\.|ssh\.|browser\.|web\.|man\.|help\.|interactive\.difffilter|url\.|include|init\.templatedir|uploadpack\.|submodule\..*\.update|trailer\..*\.(command|cmd)|tar\.|sendemail\.|instaweb\.|guitool\.)`)
	gitFileKey  = regexp.MustCompile(`(?i)^(core\.excludesfile|commit\.template|blame\.ignorerevsfile|log\.mailmap|mailmap\.file|gc\.logexpiry|core\.attributesfile)`)
	gitProxyKey = regexp.MustCompile(`(?i)^(http\..*(proxy|sslverify)|remote\..*\.proxy|http\.(proxy|sslverify))`)
	gitCode     = []string{"alias.", "core.pager", "core.sshcommand", "core.editor", "core.fsmonitor", "core.askpass", "pager.", "diff.", "difftool.", "mergetool.", "merge.", "filter.", "credential", "gpg.", "sequence.editor", "interactive."}
	harmless    = []string{"", "cat", "true", "false", ":", "less", "more"}
)

// gitConfig looks at -c name=value of git itself, and at the URLs.
func gitConfig(c *call) {
	if c.has("-P") {
		c.untag("pager")
	}
	for i := range c.found {
		if f := &c.found[i]; f.name == "-c" && f.given && f.as != "--reedit-message" && (strings.Contains(f.value.Text, "=") || f.value.Dynamic) {
			c.gitSets(f.value)
		}
	}
}

// gitSets is a setting that holds for one run.
func (c *call) gitSets(w Word) {
	key, value, _ := strings.Cut(w.Text, "=")
	if gitProxyKey.MatchString(key) {
		c.tag("net-override")
	}
	if strings.HasPrefix(strings.ToLower(key), "http.") && strings.Contains(value, "/") || gitFileKey.MatchString(key) {
		c.touch("read", rest(w, value), "-c "+key)
	}
	program := strings.Contains(strings.ToLower(key), "pager") || strings.Contains(strings.ToLower(key), "editor")
	if program && slices.Contains(harmless, value) && !w.Dynamic || !gitExecKey.MatchString(key) && !(w.Dynamic && !w.Begins) {
		return
	}
	c.execFlag("-c " + key)
	c.tag("opaque-exec")
	c.gitValue(key, rest(w, value))
}

// gitValue is the value of a setting, which may be a shell line.
func (c *call) gitValue(key string, w Word) {
	key = strings.ToLower(key)
	if text, ok := strings.CutPrefix(w.Text, "!"); ok {
		c.code(rest(w, text), "git "+key)
		return
	}
	if strings.HasPrefix(key, "alias.") {
		return
	}
	if slices.ContainsFunc(gitCode, func(k string) bool { return strings.HasPrefix(key, k) }) {
		c.code(w, "git -c "+key)
	}
}

// gitHistory may compare files that are in no repository.
func gitHistory(c *call) {
	for _, w := range c.Operands {
		if _, file, ok := strings.Cut(w.Text, ":"); ok && file != "" {
			c.touch("read", rest(w, file), "revision")
		} else if strings.Contains(w.Text, ".") && !strings.Contains(w.Text, "..") {
			c.touch("read", w, "argument")
		}
		if c.flag(0, "--no-index") || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../") || strings.HasPrefix(w.Text, "~") {
			c.touch("read", w, "argument")
		}
	}
	if c.Sub == "reflog" && len(c.Operands) > 0 && (c.Operands[0].Text == "expire" || c.Operands[0].Text == "delete") {
		c.tag("discard")
	}
}

// gitURL adds a place to fetch from or push to.
func (c *call) gitURL(w Word) {
	for _, scheme := range []string{"ext::", "fd::"} {
		if line, ok := strings.CutPrefix(w.Text, scheme); ok {
			c.tag("opaque-exec")
			c.code(rest(w, line), "git "+scheme)
			return
		}
	}
	switch {
	case strings.HasPrefix(w.Text, "ssh://") || strings.HasPrefix(w.Text, "git+ssh://"):
		c.tag("remote")
	case strings.Contains(w.Text, "://"):
		c.fetch(w, "GIT")
	case strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../"):
		c.touch("read", w, "repository")
	case strings.Contains(w.Text, "@") && remoteName(w.Text):
		c.tag("remote")
	}
}

func gitClone(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	from := c.Operands[0]
	c.gitURL(from)
	if len(c.Operands) > 1 {
		c.touch("write", c.Operands[1], "argument")
		return
	}
	name := strings.TrimSuffix(strings.TrimRight(from.Text, "/"), ".git")
	if i := strings.LastIndexAny(name, "/:"); i >= 0 {
		name = name[i+1:]
	}
	if name != "" {
		c.touch("write", rest(from, path.Base(name)), "clone")
	}
}

func gitTransferURLs(c *call) {
	if len(c.Operands) > 0 {
		c.gitURL(c.Operands[0])
	}
	for i, w := range c.Operands {
		if c.Sub == "push" && i > 0 && (strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, ":")) {
			c.tag("discard")
		}
	}
}

func gitRemote(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	c.stepInto()
	switch c.Operands[0].Text {
	case "add", "set-url":
		for _, w := range c.Operands[1:] {
			c.gitURL(w)
		}
	case "remove", "rm", "rename", "prune":
		c.tag("config-or-install")
	}
}

// stepInto makes the first operand a part of the subcommand.
func (c *call) stepInto() { c.Sub += " " + c.Operands[0].Text }

// gitSetting is git config: with a value, it changes the settings.
func gitSetting(c *call) {
	words := c.Operands
	if len(words) > 0 {
		switch words[0].Text {
		case "get", "list":
			return
		case "edit":
			c.tag("editor", "config-or-install")
			return
		case "set", "unset", "rename-section", "remove-section":
			c.tag("config-or-install")
			words = words[1:]
		}
	}
	if c.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--get-color", "--get-colorbool") {
		return
	}
	changes := slices.ContainsFunc(c.Tags, func(t string) bool { return t == "config-or-install" })
	if len(words) < 2 && !changes {
		return
	}
	c.tag("config-or-install")
	if f, ok := c.value("-f"); ok {
		c.touch("write", f, "-f")
	}
	if len(words) > 1 && gitExecKey.MatchString(words[0].Text) {
		c.execFlag(words[0].Text)
		c.gitValue(words[0].Text, words[1])
	}
}

func gitBisect(c *call) {
	if len(c.Operands) > 1 && c.Operands[0].Text == "run" {
		c.stepInto()
		c.execFlag("bisect run")
		c.run("git bisect run", c.Operands[1:], "git")
	}
}

func gitSubmodule(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	c.stepInto()
	words := c.Operands[1:]
	switch c.Operands[0].Text {
	case "foreach":
		for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
			words = words[1:]
		}
		c.execFlag("submodule foreach")
		if len(words) > 0 {
			c.code(join(words), "git submodule foreach")
		}
	case "add", "set-url":
		for _, w := range words {
			c.gitURL(w)
		}
	case "deinit":
		c.tag("discard")
	}
}

// ghAPI sends something, if it has fields.
func ghAPI(c *call) {
	method := "GET"
	if c.has("-f", "-F", "--input") {
		method = "POST"
	}
	if w, ok := c.value("-X"); ok {
		method = w.Text
	}
	if method != "GET" && method != "HEAD" {
		c.tag("publish")
	}
	for i := range c.found {
		if _, name, ok := strings.Cut(c.found[i].value.Text, "=@"); ok && c.found[i].name == "-F" {
			c.touch("read", rest(c.found[i].value, name), "-F")
		}
	}
}
