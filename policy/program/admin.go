package program

import (
	"slices"
	"strings"
)

// Programs of administrators that only look with some of their arguments, and change the
// machine with others.

// readOnly are the options with which a program only looks; without any of them it
// changes something, if it has arguments.
func readOnly(flags ...string) func(*call) {
	return func(c *call) {
		if len(c.args) > 0 && !c.has(flags...) {
			c.tag("admin")
		}
	}
}

// adminOperands: a program that only looks with so many operands or fewer.
func adminOperands(n int) func(*call) {
	return func(c *call) {
		if len(c.Operands) > n {
			c.tag("admin")
		}
	}
}

// ip shows things with show, list, get, or nothing after the object.
func ip(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	c.Sub = c.Operands[0].Text
	words := c.Operands[1:]
	if strings.HasPrefix("netns", c.Sub) && len(c.Sub) > 2 && len(words) > 2 && strings.HasPrefix("exec", words[0].Text) {
		c.tag("namespace")
		c.run("ip netns exec", words[2:], "ip")
		return
	}
	if len(words) == 0 {
		return
	}
	switch words[0].Text {
	case "show", "list", "ls", "l", "s", "sh", "lst", "get", "g", "help", "identify", "pids":
	default:
		c.tag("admin")
	}
}

func nft(c *call) {
	if len(c.Operands) > 0 && c.Operands[0].Text != "list" && c.Operands[0].Text != "describe" {
		c.tag("admin")
	}
}

// firewall is ufw and firewall-cmd.
func firewall(c *call) {
	if len(c.Operands) > 0 {
		c.Sub = c.Operands[0].Text
	}
	looks := c.Sub == "status" || c.Sub == "version" || c.Sub == "show" || c.Sub == "app"
	for _, f := range c.Flags {
		looks = looks || strings.HasPrefix(f, "--list") || strings.HasPrefix(f, "--get") || strings.HasPrefix(f, "--query") || f == "--state" || f == "--version"
	}
	changes := slices.ContainsFunc(c.Flags, func(f string) bool {
		return strings.HasPrefix(f, "--add") || strings.HasPrefix(f, "--remove") || strings.HasPrefix(f, "--set") || f == "--reload" || f == "--complete-reload"
	})
	if !looks || changes {
		c.tag("admin")
	}
}
