package program

import (
	"slices"
	"strings"
)

var cloudCopies = []string{"cp", "mv", "sync", "rsync", "put", "upload"}

// cloudVerbs: whatever it does, it does elsewhere; files are among the operands of
// copies, and things are changed unless the verb says otherwise.
func cloudVerbs(c *call) {
	reads := false
	for _, w := range c.Operands {
		verb, _, _ := strings.Cut(w.Text, "-")
		reads = reads || slices.Contains([]string{"list", "ls", "describe", "get", "show", "head", "version", "help", "status", "logs", "whoami", "info", "search", "lookup", "wait"}, verb)
		if path, ok := strings.CutPrefix(w.Text, "file://"); ok {
			c.touch("read", rest(w, path), "argument")
		} else if path, ok := strings.CutPrefix(w.Text, "fileb://"); ok {
			c.touch("read", rest(w, path), "argument")
		}
	}
	if len(c.Operands) > 1 {
		c.Sub = c.Operands[0].Text + " " + c.Operands[1].Text
	}
	if !reads && len(c.Operands) > 0 {
		c.tag("publish")
	}
	copies := slices.ContainsFunc(c.Operands, func(w Word) bool {
		return slices.Contains(cloudCopies, w.Text)
	})
	if !copies {
		return
	}
	after := false
	for i, w := range c.Operands {
		switch {
		case !after:
			after = slices.Contains(cloudCopies, w.Text)
		case strings.Contains(w.Text, "://"):
		case i == len(c.Operands)-1:
			c.touch("write", w, "argument")
			fallthrough
		default:
			c.touch("read", w, "argument")
		}
	}
}

// ffmpeg reads its inputs with -i, and writes its operands.
func ffmpeg(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "://") {
			c.fetch(w, "PUT")
		} else {
			c.touch("write", w, "argument")
		}
	}
	for i := range c.found {
		if f := &c.found[i]; f.name == "-i" && strings.Contains(f.value.Text, "://") {
			c.fetch(f.value, "GET")
		} else if f.name == "-i" {
			if scheme, path, ok := strings.Cut(f.value.Text, ":"); ok && (scheme == "file" || scheme == "concat") {
				c.touch("read", rest(f.value, path), "-i")
			}
		}
	}
}

// imageMagick has names with a coder before them, some of which read or run other things.
func imageMagick(c *call) {
	for _, w := range c.Operands {
		coder, name, ok := strings.Cut(w.Text, ":")
		switch {
		case strings.HasPrefix(w.Text, "@"):
			c.touch("read", rest(w, w.Text[1:]), "argument")
		case !ok:
		case strings.HasPrefix(name, "//"):
			c.fetch(w, "GET")
		case slices.Contains([]string{"msl", "mvg", "ephemeral", "text", "label", "caption", "https", "url", "show", "win", "plt"}, strings.ToLower(coder)):
			c.tag("opaque-exec")
		default:
			c.touch("read", rest(w, name), "argument")
		}
	}
	if c.name == "mogrify" {
		for _, w := range c.Operands {
			c.touch("write", w, "argument")
		}
	}
}

// exiftool changes tags with -TAG=value.
func exiftool(c *call) {
	if c.name != "exiftool" {
		return
	}
	for _, w := range c.args {
		if strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "=") {
			for _, name := range c.Operands {
				c.touch("write", name, "argument")
			}
			return
		}
	}
}
