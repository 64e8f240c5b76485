package program

import (
	"slices"
	"strings"
)

// packageScripts: a package manager without a subcommand, or with the name of a script
// as yarn has it.
func packageScripts(c *call) {
	for _, flag := range c.Flags {
		if strings.HasPrefix(flag, "--config.") {
			c.ExecFlags = append(c.ExecFlags, flag)
		}
	}
	if c.name != "npm" && c.Sub != "" {
		c.untag("unlisted-sub")
	}
	c.tag("workspace-code")
}

// nodeInstall: with names it adds packages; without, it installs what is listed.
func nodeInstall(c *call) {
	if len(c.Operands) > 0 || c.Sub != "install" {
		c.tag("config-or-install")
	}
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "http://") || strings.HasPrefix(w.Text, "https://") {
			c.fetch(w, "GET")
		} else if strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../") || strings.HasPrefix(w.Text, "file:") {
			c.touch("read", rest(w, strings.TrimPrefix(w.Text, "file:")), "argument")
		}
	}
}

func nodeChanges(c *call) {
	if c.Sub == "audit" && (c.flag(0, "--fix") || len(c.Operands) > 0 && c.Operands[0].Text == "fix") {
		c.tag("config-or-install")
	}
}

func nodeConfig(c *call) {
	looks := c.Sub == "get" || len(c.Operands) > 0 && slices.Contains([]string{"get", "list", "ls", "verify", "dir"}, c.Operands[0].Text)
	if !looks {
		c.tag("config-or-install")
	}
	for _, w := range c.Operands {
		if strings.Contains(strings.ToLower(w.Text), "auth") || strings.Contains(strings.ToLower(w.Text), "password") {
			c.tag("dump-env")
		}
	}
}

// yarnNode runs node with the rest of its line.
func yarnNode(c *call) {
	c.run("yarn node", append([]Word{{Text: "node"}}, c.Operands...), c.name)
}

// inner has another subcommand after some words: yarn npm publish, yarn workspace web add x.
func inner(skip int) func(*call) {
	return func(c *call) {
		if len(c.Operands) > skip {
			c.run(c.name, append([]Word{{Text: c.name}}, c.Operands[skip:]...), c.name)
		}
	}
}

// npx runs a package, which it fetches unless it is one of the workspace's tools.
func npx(c *call) {
	if len(c.Operands) == 0 || c.has("-c") {
		return
	}
	name := c.Operands[0].Text
	if !slices.Contains(strings.Fields(nodeTools+" tsc tsx ts-node prisma nx turbo lerna"), name) {
		return
	}
	if !c.has("-p", "-y") {
		c.untag("config-or-install")
	}
	c.Runs = append(c.Runs, Run{Via: c.name, Argv: c.Operands, Wrapper: c.name, KeepStdin: true})
}

// nodeRuns is npm exec and its like. That of pnpm and yarn runs what is installed.
func nodeRuns(c *call) {
	switch {
	case c.Sub == "exec" && c.name != "npm" && len(c.Operands) > 0:
		c.untag("config-or-install")
		c.run(c.name+" exec", c.Operands, c.name)
	case c.Sub == "exec":
		npx(c)
	case c.Sub == "create" && c.name == "npm" && len(c.Operands) == 0:
		c.untag("config-or-install")
	}
}

// bundleExec: tasks can be anything; these only test and check.
func bundleExec(c *call) {
	if len(c.Operands) > 0 && slices.Contains([]string{"cucumber", "rspec", "rubocop"}, c.Operands[0].Text) {
		c.untag("opaque-exec")
	}
}

func versionManager(c *call) {
	if len(c.Operands) == 0 {
		c.untag("config-or-install")
		return
	}
	c.Sub = c.Operands[0].Text
	if c.name == "rustup" && len(c.Operands) > 1 && c.Operands[1].Text == "list" {
		c.untag("config-or-install")
	}
	if slices.Contains([]string{"list", "ls", "version", "versions", "current", "which", "show", "help", "list-remote", "ls-remote"}, c.Sub) {
		c.untag("config-or-install")
	}
	if len(c.Operands) > 1 && (c.Sub == "exec" || c.Sub == "run") {
		c.run(c.name, c.Operands[1:], c.name)
	}
}

// pipNames: names are new packages; files of requirements and folders are the workspace's.
func pipNames(c *call) {
	words := c.Operands
	for i := range c.found {
		if c.found[i].name == "-e" {
			words = append(slices.Clip(words), c.found[i].value)
		}
		if f := &c.found[i]; f.name == "-r" && strings.Contains(f.value.Text, "/") {
			c.codeFile(f.value, "-r") // its lines name what is installed
		}
	}
	for _, w := range words {
		switch {
		case strings.Contains(w.Text, "://"):
			u := w
			if _, after, ok := strings.Cut(w.Text, "@ "); ok {
				u.Text = after
			}
			u.Text = strings.TrimPrefix(u.Text, "git+")
			c.fetch(u, "GET")
			c.tag("config-or-install")
		case strings.HasPrefix(w.Text, ".") || strings.HasPrefix(w.Text, "/"):
			c.codeFile(w, "argument")
		default:
			c.tag("config-or-install")
		}
	}
}

func pipConfig(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	switch c.Operands[0].Text {
	case "list", "get", "debug":
	case "edit":
		c.tag("editor", "config-or-install")
	default:
		c.tag("config-or-install")
	}
}

func looksAtPackages(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	c.Sub = c.Operands[0].Text
	if slices.Contains([]string{"list", "search", "info", "show", "find", "version", "history", "showhold", "dump"}, c.Sub) {
		c.untag("config-or-install")
	}
}

// rpm: -q and -V only look, whatever follows.
func rpm(c *call) {
	if c.flag('q', "--query") || c.flag('V', "--verify") {
		c.untag("config-or-install")
	}
}

func pacman(c *call) {
	for _, w := range c.args {
		if strings.HasPrefix(w.Text, "-Q") || strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-Ss") || strings.HasPrefix(w.Text, "-Si") || w.Text == "--query" {
			return
		}
	}
	c.tag("config-or-install")
}

// runsURL: uv run fetches a script by its URL.
func runsURL(c *call) {
	if len(c.Operands) > 0 && strings.Contains(c.Operands[0].Text, "://") {
		c.tag("opaque-exec")
		c.fetch(c.Operands[0], "GET")
	}
}
