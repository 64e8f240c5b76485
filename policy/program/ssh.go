package program

import "strings"

// ssh without a line opens a shell.
func ssh(c *call) {
	if len(c.Operands) == 1 && !c.has("-N", "-V") {
		c.Runs = append(c.Runs, Run{Via: "ssh", Wrapper: "ssh", KeepStdin: true, NewShell: true, Shell: true})
	}
	c.ReadsIn = len(c.Operands) > 0 && !c.has("-n")
}

// sshOption is -o Name=value.
func (c *call) sshOption(w Word) {
	end := strings.IndexAny(w.Text, "= \t")
	if end < 0 {
		if w.Dynamic {
			c.unsure("dynamic option -o")
		}
		return
	}
	value := rest(w, strings.Trim(w.Text[end+1:], `" =`))
	if k := sshOptionKinds[strings.ToLower(w.Text[:end])]; k != sh || !strings.EqualFold(value.Text, "none") {
		c.use(k, value, "-o "+w.Text[:end])
	}
}

var sshOptionKinds = map[string]kind{
	"proxycommand": sh, "localcommand": sh, "knownhostscommand": sh, "remotecommand": sh, "pkcs11provider": load, "securitykeyprovider": load,
	"include": load, "xauthlocation": load, "userknownhostsfile": write, "globalknownhostsfile": write, "controlpath": write,
	"identityfile": read, "certificatefile": read,
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
