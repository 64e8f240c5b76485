package program

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// readers returns the names of functions that read all arguments of a program, where the meaning of each
// alone is not enough.
func readers() []string {
	return []string{"checkout", "clone", "compiler", "curl", "fd", "find", "inner", "kill", "more-options",
		"npx", "parallel", "ps", "python", "ssh", "tar", "xargs"}
}

func (c *call) read(reader string) {
	switch reader {
	case "checkout":
		c.checkout()
	case "clone": // all it is told goes to git
		c.run(c.name, append([]Word{{Text: "git"}, {Text: "clone"}}, c.Operands...), c.name)
	case "compiler":
		c.compiler()
	case "curl":
		c.curl()
	case "fd":
		c.fd()
	case "find":
		c.find()
	case "inner":
		c.inner()
	case "more-options":
		c.optionFiles()
	case "kill":
		for i, w := range c.args {
			if w.Text == "-1" && (i > 0 || len(c.args) == 1) || w.Text == "1" {
				c.tag("signal-all") // -1 are all, 1 is the first one
			}
		}
		if len(c.Operands) > 0 && !slices.ContainsFunc(c.Operands,
			func(w Word) bool { return !strings.HasPrefix(w.Text, "%") }) {
			c.untag("signal") // a job of this shell
		}
	case "npx":
		c.npx()
	case "parallel":
		c.parallel()
	case "ps": // e without a dash shows the variables of each process
		for _, w := range c.Operands {
			if strings.Contains(w.Text, "e") && strings.IndexByte("0123456789", (w.Text + "0")[0]) < 0 {
				c.tag("dump-env")
			}
		}
	case "python":
		c.python()
	case "ssh":
		c.ssh()
	case "tar":
		c.tar()
	case "xargs":
		c.xargs()
	}
}

// mode checks permissions: a fourth digit, or an s, lets a file run as its owner.
func (c *call) mode(w Word) {
	digits := strings.TrimLeft(w.Text, "=0")
	octal := digits != "" && strings.Trim(digits, "01234567") == ""
	if octal && len(digits) >= 4 || !octal && strings.Contains(w.Text, "s") {
		c.tag("setuid")
	}
	if w.Dynamic {
		c.unsure("dynamic mode")
	}
}

// assignment adds NAME=VALUE of dd.
func (c *call) assignment(w Word) {
	switch name, value, _ := strings.Cut(w.Text, "="); name {
	case "if":
		c.touch("read", withText(w, value), "if")
	case "of":
		c.touch("write", withText(w, value), "of")
	case "bs", "cbs", "conv", "count", "ibs", "iflag", "iseek", "obs", "oflag", "oseek", "seek", "skip",
		"status":
	default:
		c.unsure("unknown operand " + name)
	}
}

// picture adds a picture with a format before its name; some formats run or read other things.
func (c *call) picture(w Word, place string) {
	m := pictureFormat.FindStringSubmatch(w.Text)
	if m == nil {
		c.tag("opaque-exec")
		c.plain(w, "argument")
		return
	}
	c.fileOrURL(place, withText(w, m[1]), "argument")
}

var pictureFormat = regexp.MustCompile(`^(?:(?i:png|jpe?g|gif|tiff|bmp|webp|svg|pdf|xc|canvas|gradient|rose|logo|null|ico|p[bgp]m|rgba?|gray|info):)?([^:@][^:]*|\w+://.*|)$`)

// python runs a module: one with a row python:NAME, an installed program, or any of the workspace.
func (c *call) python() {
	if c.Inline || len(c.tail) == 0 {
		return
	}
	name, args := c.tail[0], c.tail[1:]
	c.tail, c.Sub, c.Operands = nil, name.Text, args
	switch p := c.table.lookup("python:" + name.Text); {
	case name.Dynamic:
		c.unsure("dynamic module")
	case p != nil:
		c.program, c.args = p, args
		c.parse()
		c.apply()
	case c.table.lookup(name.Text) != nil:
		c.run("python -m", append([]Word{name}, args...), "python")
	case strings.Contains(name.Text, ".") && !c.table.isUsual("python", name):
		c.tag("workspace-code") // a package of the project
	default:
		c.Inline = true // any module of the workspace or the system
	}
}

// variables takes NAME=value from the front.
func (c *call) variables(list []Word) []Word {
	for len(list) > 0 {
		name, _, ok := strings.Cut(list[0].Text, "=")
		if !ok || name == "" || strings.Contains(name, "/") {
			break
		}
		c.setVariable(list[0])
		list = list[1:]
	}
	if len(list) == 0 {
		c.mark(c.alone)
	}
	return list
}

// startShell adds an interactive shell, or one that reads standard input.
func (c *call) startShell() {
	c.Runs = append(c.Runs, Run{Via: c.name, Shell: true, KeepStdin: true, NewShell: true, Wrapper: c.name,
		Dir: c.Folder})
	c.ReadsIn = true
}

// xargs runs a program with the words of standard input.
func (c *call) xargs() {
	r := Run{Via: "xargs", Wrapper: c.name, Lines: true, NulLines: c.has("-0"), Argv: c.Operands,
		Groups: c.has("-n", "-L", "-l", "-s")}
	if len(r.Argv) == 0 {
		r.Argv = []Word{{Text: "echo"}}
	}
	if w, ok := c.value("-d"); ok && (w.Text == `\0` || w.Text == `\x00` || w.Text == `\000`) {
		r.NulLines = true
	} else if ok {
		r.WholeLine = true
		if w.Text != `\n` && w.Text != "\n" {
			c.unsure("delimiter of xargs")
		}
	}
	if w, ok := c.value("-I"); ok {
		r.Replace = w.Text
	} else if c.has("-i") {
		r.Replace = "{}"
		if w, ok := c.value("-i"); ok {
			r.Replace = w.Text
		}
	}
	if c.has("-a") {
		r.Lines = false
		r.Argv = append(slices.Clip(r.Argv), Word{Dynamic: true})
	} else {
		c.ReadsIn = true
	}
	c.Runs = append(c.Runs, r)
}

// parallel runs a shell line with the words behind :::, in the place of {} or behind it.
func (c *call) parallel() {
	i := slices.IndexFunc(c.Operands, func(w Word) bool { return w.Text == ":::" })
	if i < 1 {
		c.unsure("the words that parallel runs or reads")
		i = len(c.Operands)
	}
	line, with := join(c.Operands[:i]), join(c.Operands[min(i+1, len(c.Operands)):])
	text := strings.ReplaceAll(line.Text, "{}", with.Text)
	if text == line.Text {
		text += " " + with.Text
	}
	if with.Dynamic || !plainValues.MatchString(with.Text) || strings.Contains(text, "{") {
		c.unsure("a word of parallel")
	}
	c.Runs = append(c.Runs, Run{Via: c.name, Code: withText(line, text), Dir: c.Folder, Wrapper: c.name,
		NewShell: true})
}

var plainValues = regexp.MustCompile(`^[\w ./@%+,=*?-]*$`)

// tar writes or reads an archive; -C applies to what follows it.
func (c *call) tar() {
	writes, extracts := c.has("-c", "-r", "-u", "-A", "--delete"), c.has("-x") && !c.has("-O", "--to-command")
	for _, f := range c.values("-f") {
		if urls.IsRemote(f.Text) && !c.has("--force-local") {
			c.tag("remote")
		}
		if writes {
			c.use("write", f, "-f")
		} else {
			c.touch("read", f, "-f")
		}
	}
	if !c.has("-f") {
		c.ReadsIn = c.ReadsIn || !writes
	}
	if w, ok := c.value("--checkpoint-action"); ok {
		c.use("shell", withText(w, strings.TrimPrefix(w.Text, "exec=")), "--checkpoint-action")
	}
	folders := c.values("-C")
	if len(folders) > 1 {
		c.unsure("several folders")
	}
	at := append(folders, Word{Text: "."})[max(0, len(folders)-1)]
	if extracts {
		if top, ok := c.value("--one-top-level"); ok {
			at = inFolder(at, top)
		}
		for _, w := range c.Operands {
			c.touch("write", inFolder(at, w), "member")
		}
		c.touch("write", Word{Text: strings.TrimSuffix(at.Text, "/") + "/extracted", Dynamic: at.Dynamic,
			Begins: at.Begins}, "extract")
	} else {
		c.untag("absolute-extract")
	}
	if !writes {
		return
	}
	c.Recursive = true
	for _, w := range c.Operands {
		if len(folders) > 0 {
			w = inFolder(at, w)
		}
		c.use("read", w, "argument")
	}
}

// mount adds a folder of the machine inside a container. A name without a slash is a volume.
func (c *call) mount(w Word) {
	text := w.Text
	if m := mountSource.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	from, _, _ := strings.Cut(text, ":")
	if mountEscape.MatchString(from) {
		c.tag("container-escape")
	}
	if strings.ContainsAny(from, "/.~") || w.Dynamic {
		reads := mountReads.MatchString(w.Text)
		c.use(map[bool]string{true: "read", false: "change"}[reads], withText(w, from), "volume")
	}
}

var (
	mountSource = regexp.MustCompile(`(?:^|,)(?:source|src)=([^,]*)`)
	mountEscape = regexp.MustCompile(`^/$|docker\.sock$|^/(proc|dev|var/run)|^/etc$`)
	mountReads  = regexp.MustCompile(`:ro$|,ro|readonly`)
)
