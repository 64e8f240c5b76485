package program

import "strings"

// ssh runs a line on another machine, and by its options programs on this one.
func ssh(c *call) {
	c.sshOptions()
	if len(c.Operands) == 0 {
		return
	}
	rest := c.Operands[1:]
	for len(rest) > 0 && len(rest[0].Text) > 1 && rest[0].Text[0] == '-' { // options may follow the host
		inner := call{name: c.name, args: rest, program: c.program}
		inner.parse()
		inner.apply()
		inner.sshOptions()
		c.Flags, c.Touches, c.Unsure = append(c.Flags, inner.Flags...), append(c.Touches, inner.Touches...), append(c.Unsure, inner.Unsure...)
		c.ExecFlags, c.Runs = append(c.ExecFlags, inner.ExecFlags...), append(c.Runs, inner.Runs...)
		c.found = append(c.found, inner.found...)
		rest = inner.Operands
	}
	switch {
	case len(rest) > 0:
		c.Runs = append(c.Runs, Run{Via: "ssh", Code: join(rest), Wrapper: "ssh", KeepStdin: true, NewShell: true})
	case !c.flag('N', "") && !c.flag('V', ""):
		c.Runs = append(c.Runs, Run{Via: "ssh", Wrapper: "ssh", KeepStdin: true, NewShell: true, Shell: true})
	}
	c.ReadsIn = !c.flag('n', "")
}

// scp has the same options.
func scp(c *call) {
	c.sshOptions()
	c.transfers()
}

// sshOptions looks at -o Name=value.
func (c *call) sshOptions() {
	for i := range c.found {
		f := &c.found[i]
		if f.name != "-o" || !f.given {
			continue
		}
		end := strings.IndexAny(f.value.Text, "= \t")
		if end < 0 {
			if f.value.Dynamic {
				c.unsure("dynamic option -o")
			}
			continue
		}
		value := rest(f.value, strings.Trim(f.value.Text[end+1:], `" =`))
		switch strings.ToLower(f.value.Text[:end]) {
		case "proxycommand", "localcommand", "knownhostscommand", "remotecommand":
			if !strings.EqualFold(value.Text, "none") {
				c.execFlag("-o " + f.value.Text[:end])
				c.code(value, c.name+" "+f.value.Text[:end])
			}
		case "pkcs11provider", "securitykeyprovider", "include", "xauthlocation":
			c.execFlag("-o " + f.value.Text[:end])
			c.touch("read", value, "-o")
		case "userknownhostsfile", "globalknownhostsfile", "controlpath":
			c.touch("write", value, "-o")
		case "identityfile", "certificatefile":
			c.touch("read", value, "-o")
		}
	}
}

// transfers takes back the files that are on another machine: host:path.
func (c *call) transfers() {
	kept := c.Touches[:0]
	for _, t := range c.Touches {
		switch {
		case t.Via != "argument" || !remoteName(t.Word.Text):
			kept = append(kept, t)
		case t.Op == "write":
			c.tag("remote", "send")
		default:
			c.tag("remote")
		}
	}
	c.Touches = kept
}

// remoteName says whether a name is host:path, or a URL.
func remoteName(s string) bool {
	colon := strings.IndexByte(s, ':')
	slash := strings.IndexByte(s, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// rsync may delete at both ends.
func rsync(c *call) {
	if len(c.Operands) == 1 {
		for i := range c.Touches {
			if c.Touches[i].Via == "argument" {
				c.Touches[i].Op = "read"
			}
		}
	}
	n := len(c.Operands)
	for _, flag := range c.Flags {
		switch {
		case strings.HasPrefix(flag, "--del") && n > 1:
			c.touch("delete", c.Operands[n-1], "argument")
			c.Recursive = true
		case flag == "--remove-source-files" && n > 1:
			for _, w := range c.Operands[:n-1] {
				c.touch("delete", w, "argument")
			}
		case flag == "-a" || flag == "-r" || flag == "--archive":
			c.Recursive = true
		}
	}
	c.transfers()
}

// socat connects two addresses, of which one may be a program.
func socat(c *call) {
	for _, w := range c.Operands {
		kind, value, _ := strings.Cut(w.Text, ":")
		value, _, _ = strings.Cut(value, ",")
		switch strings.ToUpper(kind) {
		case "EXEC":
			c.tag("socket-exec")
			c.execFlag(kind)
			c.run("socat EXEC", split(rest(w, value)), "")
		case "SYSTEM", "SHELL":
			c.tag("socket-exec")
			c.execFlag(kind)
			c.code(rest(w, value), "socat SYSTEM")
		case "OPEN", "FILE", "GOPEN", "CREATE", "UNIX-CONNECT", "UNIX-LISTEN", "UNIX", "PIPE":
			c.touch("read", rest(w, value), kind)
			c.touch("write", rest(w, value), kind)
		}
	}
}

// pings asks a host, which is an address like any other.
func pings(c *call) {
	if len(c.Operands) > 0 && (c.name == "ping" || c.name == "ping6") {
		c.fetch(c.Operands[len(c.Operands)-1], "PING")
	}
}
