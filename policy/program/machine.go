package program

import (
	"slices"
	"strings"
)

// service NAME status only looks.
func service(c *call) {
	if c.flag(0, "--status-all") {
		return
	}
	if len(c.Operands) > 1 {
		c.Sub = c.Operands[1].Text
		if c.Sub == "status" {
			return
		}
	}
	c.tag("service")
}

// controls are the programs of systemd that mostly show something.
func controls(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	c.Sub = c.Operands[0].Text
	word, _, _ := strings.Cut(c.Sub, "-")
	switch {
	case slices.Contains([]string{"show", "list", "status", "info", "user", "session", "time", "blame", "critical", "plot", "dump", "cat", "help", "tree", "introspect", "get", "verify", "security", "calendar", "dot", "monitor"}, word):
	case slices.Contains([]string{"poweroff", "reboot", "suspend", "hibernate", "halt", "terminate", "kill"}, word):
		c.tag("power", "service")
	default:
		c.tag("admin")
	}
}

// disk tools only list with -l; what they are given may be overwritten.
func disk(c *call) {
	if c.name == "fdisk" || c.name == "sfdisk" || c.name == "parted" || c.name == "gdisk" || c.name == "sgdisk" {
		if c.flag('l', "--list") && len(c.Flags) == 1 || c.flag('p', "--print") && len(c.Flags) == 1 && c.name == "sgdisk" {
			c.untag("disk")
			return
		}
	}
	if c.name == "swapon" && (c.flag('s', "--show") || c.flag(0, "--summary")) {
		c.untag("disk")
		return
	}
	for _, w := range c.Operands {
		c.touch("write", w, "argument")
	}
}

// mount without operands lists.
func mount(c *call) {
	if len(c.Operands) == 0 && !c.flag('a', "") {
		return
	}
	c.tag("disk")
	for _, w := range c.Operands {
		c.touch("write", w, "argument")
	}
}

func sysctl(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "=") {
			c.tag("admin")
		}
	}
}

// kill ends processes; 1 is the first one, and -1 are all of them.
func kill(c *call) {
	if c.name == "kill" && (c.flag('l', "--list") || c.flag('L', "")) {
		return
	}
	c.tag("signal")
	for i, w := range c.args {
		if w.Text == "-1" && (i > 0 || len(c.args) == 1) || w.Text == "1" && c.name == "kill" {
			c.tag("signal-all")
		}
	}
}
