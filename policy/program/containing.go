package program

import "strings"

// dockerMounts looks at what a container gets of the machine.
func dockerMounts(c *call) {
	for i := range c.found {
		f := &c.found[i]
		text := f.value.Text
		switch f.name {
		case "-v":
			if f.given {
				c.mount(f.value, text, strings.HasSuffix(text, ":ro"))
			}
		case "--mount":
			for _, part := range strings.Split(text, ",") {
				if name, source, _ := strings.Cut(part, "="); name == "source" || name == "src" {
					c.mount(f.value, source, strings.Contains(text, "readonly") || strings.Contains(text, ",ro"))
				}
			}
		case "--pid", "--ipc", "--uts", "--userns", "--cgroupns":
			if text == "host" {
				c.tag("container-escape")
			}
		}
	}
}

// mount is a folder of the machine inside of the container. A name without a slash is a
// volume.
func (c *call) mount(w Word, text string, readonly bool) {
	from, _, _ := strings.Cut(text, ":")
	if from == "/" || strings.HasSuffix(from, "docker.sock") || strings.HasPrefix(from, "/proc") || strings.HasPrefix(from, "/var/run") || strings.HasPrefix(from, "/dev") || from == "/etc" {
		c.tag("container-escape")
	}
	if !strings.ContainsAny(from, "/.~") && !w.Dynamic {
		return
	}
	c.touch("read", rest(w, from), "volume")
	if !readonly {
		c.touch("write", rest(w, from), "volume")
	}
}

// kustomization is a folder, or a URL.
func kustomization(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "://") || strings.Contains(w.Text, ".com/") {
			c.fetch(w, "GIT")
		} else {
			c.touch("read", w, "argument")
		}
	}
}

// kubectlSecrets: the values of secrets are shown, if more than their names is asked for.
func (c *call) kubectlSecrets() {
	form, formatted := c.value("-o")
	if name, ok := c.value("--template"); ok && strings.HasSuffix(form.Text, "-file") {
		c.touch("read", name, "--template")
	}
	if kind, name, ok := strings.Cut(form.Text, "="); ok && strings.HasSuffix(kind, "-file") {
		c.touch("read", rest(form, name), "-o")
	}
	words := c.Operands
	if w, ok := c.value("--raw"); ok {
		formatted, words = true, append(words[:len(words):len(words)], w)
	}
	if c.Sub != "get" || !formatted && !c.has("--template") || form.Text == "wide" || form.Text == "name" {
		return
	}
	for _, w := range words {
		if strings.Contains(strings.ToLower(w.Text), "secret") {
			c.tag("dump-env")
		}
	}
}

// kubectlFiles are read from files or URLs.
func kubectlFiles(c *call) {
	c.kubectlSecrets()
	for i := range c.found {
		f := &c.found[i]
		if f.name != "-f" || !f.given || c.Sub == "logs" {
			continue
		}
		if strings.Contains(f.value.Text, "://") {
			c.fetch(f.value, "GET")
		} else {
			c.touch("read", f.value, f.as)
		}
	}
}
