package program

import (
	"slices"
	"strings"
)

// packageScripts: all of them run the project's code. Settings may stand among the options.
func packageScripts(c *call) {
	for _, flag := range c.Flags {
		if strings.HasPrefix(flag, "--config.") {
			c.execFlag(flag)
		}
	}
	c.tag("workspace-code")
}

// nodeInstall: packages may be files or URLs.
func nodeInstall(c *call) {
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "http://") || strings.HasPrefix(w.Text, "https://") || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../") || strings.HasPrefix(w.Text, "file:") {
			c.place(from, w, "argument")
		}
	}
}

func auditFix(c *call) {
	if len(c.Operands) > 0 && c.Operands[0].Text == "fix" {
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

// yarnInner runs another program, or another subcommand after some words: yarn node x.js,
// yarn npm publish, yarn workspace web add x.
func yarnInner(c *call) {
	name, words := c.name, c.Operands
	switch {
	case c.Sub == "node":
		name = "node"
	case c.Sub == "workspace" && len(words) > 0:
		words = words[1:]
	}
	if len(words) > 0 || c.Sub == "node" {
		c.run(c.name, append([]Word{{Text: name}}, words...), c.name)
	}
}

// npx runs a package, which it fetches unless it is one of the workspace's tools.
func npx(c *call) {
	if len(c.Operands) == 0 || c.has("-c") {
		return
	}
	name := c.Operands[0].Text
	if !slices.Contains(strings.Fields(nodeTools+" concurrently cross-env rimraf tsc tsx ts-node prisma nx turbo lerna"), name) {
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

// rpm: -q and -V only look, whatever follows.
func rpm(c *call) {
	if c.has("-q", "--query", "-V", "--verify") {
		c.untag("config-or-install")
	}
}

// runsURL: uv run fetches a script by its URL.
func runsURL(c *call) {
	if len(c.Operands) > 0 && strings.Contains(c.Operands[0].Text, "://") {
		c.tag("opaque-exec")
		c.fetch(c.Operands[0], "GET")
	}
}
