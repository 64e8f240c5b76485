package scaffold

// Prototype of the recommended analyzer: abstract interpretation over the mvdan.cc/sh AST.
// It never executes anything; unknown parts of words become the marker U+0000 and set Dyn.

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const unk = "\x00" // marks an unresolvable part inside a guessed string

type Field struct {
	S    string
	Dyn  bool
	Glob bool
}

type Path struct {
	Path  string `expr:"path"`
	Class string `expr:"class"`
	Dyn   bool   `expr:"dyn"`
	Via   string `expr:"via"`
}
type URL struct {
	URL    string `expr:"url"`
	Scheme string `expr:"scheme"`
	Host   string `expr:"host"`
	Class  string `expr:"class"` // public, private, metadata, badscheme, dynamic
	Method string `expr:"method"`
}
type Stdin struct {
	Kind  string   `expr:"kind"` // none, text, pipe, file, heredoc
	Text  string   `expr:"text"`
	Known bool     `expr:"known"`
	From  []string `expr:"from"`
	File  string   `expr:"file"`
	Roots []string `expr:"roots"`
}
type Command struct {
	Binary     string   `expr:"binary"`
	Path       string   `expr:"path"`
	PathClass  string   `expr:"path_class"`
	Argv       []string `expr:"argv"`
	Flags      []string `expr:"flags"`
	Sub        string   `expr:"sub"`
	Env        []string `expr:"env"`
	Wrappers   []string `expr:"wrappers"`
	Via        string   `expr:"via"`
	Depth      int      `expr:"depth"`
	Cwd        string   `expr:"cwd"`
	DynWord    bool     `expr:"dynamic_word"`
	DynArgs    bool     `expr:"dynamic_args"`
	InlineCode bool     `expr:"inline_code"`
	CodeFile   string   `expr:"code_file"`
	ExecFlags  []string `expr:"exec_flags"`
	Tags       []string `expr:"tags"`
	Reads      []Path   `expr:"reads"`
	Writes     []Path   `expr:"writes"`
	Deletes    []Path   `expr:"deletes"`
	URLs       []URL    `expr:"urls"`
	Stdin      Stdin    `expr:"stdin"`
	Background bool     `expr:"background"`
	Recursive  bool     `expr:"recursive"`
}
type Facts struct {
	Text      string            `expr:"text"`
	ParseOK   bool              `expr:"parse_ok"`
	ParseErr  string            `expr:"parse_error"`
	Control   bool              `expr:"control_chars"`
	Invisible bool              `expr:"invisible_unicode"`
	Commands  []Command         `expr:"commands"`
	Binaries  []string          `expr:"binaries"`
	Dynamic   []string          `expr:"dynamic"`
	Writes    []Path            `expr:"writes"` // redirections not tied to one command
	Reads     []Path            `expr:"reads"`
	ForkBomb  bool              `expr:"fork_bomb"`
	TooDeep   bool              `expr:"too_deep"`
	Created   map[string]bool   `expr:"-"`
	Relinked  map[string]string `expr:"-"`
	bq        map[*syntax.CmdSubst]string
	readings  int
}

type value struct {
	v   expand.Variable
	unk bool
}
type ctx struct {
	f      *Facts
	vars   map[string]value
	funcs  map[string]*syntax.Stmt
	alias  map[string]bool
	hash   map[string]string
	cwd    string
	cwdUnk bool
	depth  int
	stack  []string
	stdin  Stdin
	bg     bool
	wrap   []string
	via    string
	env    []string
	cfg    *Config
	budget *int
}
type Config struct {
	Cwd, Home   string
	WriteRoots  []string
	ReadRoots   []string
	ReadFiles   map[string]bool
	MaxDepth    int
	MaxCommands int
	MaxSteps    int
}

var defaultConfig = &Config{Cwd: "/srv/project", Home: "/home/agent", WriteRoots: []string{"/srv/project", "/tmp"},
	ReadRoots: []string{"/srv/project", "/tmp", "/usr", "/bin", "/sbin", "/lib"},
	ReadFiles: map[string]bool{"/etc/os-release": true, "/etc/hosts": true, "/dev/null": true, "/dev/stdin": true, "/dev/urandom": true, "/dev/zero": true, "/dev/random": true},
	MaxDepth:  12, MaxCommands: 4000, MaxSteps: 20000}

func (c *ctx) clone() *ctx {
	n := *c
	n.vars = map[string]value{}
	for k, v := range c.vars {
		n.vars[k] = v
	}
	n.funcs = map[string]*syntax.Stmt{}
	for k, v := range c.funcs {
		n.funcs[k] = v
	}
	n.wrap = append([]string(nil), c.wrap...)
	n.env = append([]string(nil), c.env...)
	return &n
}
func (c *ctx) dyn(why string) { c.f.Dynamic = append(c.f.Dynamic, why) }

var parserPool = func() *syntax.Parser {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(false))
}

// Analyze parses the text and, when it contains line continuations, its other plausible readings too:
// mvdan.cc/sh 3.14 and bash disagree about "$\\n(" inside double quotes and here-docs and about a
// backslash at the end of a comment. All readings are merged, so the most restrictive one decides.
func Analyze(text string, cfg *Config) *Facts { return analyze1(text, cfg) }

// readings returns the other plausible readings of a script, at every level where text becomes code.
func readings(text string) (alts []string) {
	if !strings.Contains(text, "\\\n") {
		return nil
	}
	alts = []string{strings.ReplaceAll(text, "\\\n", "")}
	if commentCont.MatchString(text) {
		alts = append(alts, strings.ReplaceAll(text, "\\\n", "\n"))
	}
	return alts
}

var commentCont = regexp.MustCompile("(?m)(^|[\\s;&|()])#[^\n]*\\\\$")

func contains(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}

func analyze1(text string, cfg *Config) *Facts {
	f := &Facts{Text: text, Created: map[string]bool{}, Relinked: map[string]string{}, bq: map[*syntax.CmdSubst]string{}}
	c := &ctx{f: f, vars: map[string]value{}, funcs: map[string]*syntax.Stmt{}, alias: map[string]bool{}, hash: map[string]string{}, cwd: cfg.Cwd, cfg: cfg, budget: new(int)}
	*c.budget = cfg.MaxSteps
	set := func(k, v string) { c.vars[k] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: v}} }
	set("HOME", cfg.Home)
	set("PWD", cfg.Cwd)
	set("IFS", " \t\n")
	set("PATH", "/usr/local/bin:/usr/bin:/bin")
	set("SHELL", "/bin/bash")
	set("USER", "agent")
	set("OLDPWD", cfg.Cwd)
	set("TMPDIR", "/tmp")
	set("0", "bash")
	f.ParseOK = true
	c.script(text, "top")
	seen := map[string]bool{}
	for _, cm := range f.Commands {
		if cm.Binary != "" && !seen[cm.Binary] {
			seen[cm.Binary] = true
			f.Binaries = append(f.Binaries, cm.Binary)
		}
	}
	return f
}

func (f *Facts) scan(text string) {
	for i, r := range text {
		switch {
		case r == 0, r < 0x20 && r != '\n' && r != '\t' && r != '\r', r == 0x7f:
			f.Control = true
		case r == '\r':
			if i+1 >= len(text) || text[i+1] != '\n' {
				f.Control = true
			}
		case unicode.Is(unicode.Cf, r), r == 0xa0, r == 0x3000, r >= 0x2000 && r <= 0x200f, r == 0x2028, r == 0x2029:
			f.Invisible = true
		}
	}
}
func (c *ctx) script(text, via string) {
	if c.depth > c.cfg.MaxDepth {
		c.f.TooDeep = true
		return
	}
	c.f.scan(text)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, a := range readings(text) {
		file, err := parserPool().Parse(strings.NewReader(a), "")
		if err != nil {
			// splicing inside quotes or here-docs may break the text; only meaningful next to "$"
			if i > 0 || strings.Contains(text, "$\\\n") {
				c.f.ParseOK = false
				c.f.ParseErr = "second reading: " + err.Error()
			}
			continue
		}
		c.backquotes(file, a)
		c.clone().stmts(file.Stmts)
	}
	file, err := parserPool().Parse(strings.NewReader(text), "")
	if err != nil {
		c.f.ParseOK = false
		c.f.ParseErr = err.Error()
		return
	}
	c.backquotes(file, text)
	if alt := softQuotes(file, text); alt != "" {
		c.f.readings++
		if c.f.readings > 16 {
			c.f.TooDeep = true
		} else {
			c.clone().script(alt, via)
		}
	}
	c.stmts(file.Stmts)
}

// softQuotes returns the text with single quotes made ordinary where bash does not honour them:
// in "${x:-'...'}" inside double quotes or here-docs, and in arithmetic (slices, subscripts, $((...))).
// mvdan.cc/sh (and tree-sitter-bash) take them as quotes there. Empty when nothing changes.
func softQuotes(file *syntax.File, text string) string {
	if !strings.Contains(text, "'") {
		return ""
	}
	var stack []syntax.Node
	var b []byte
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		q, ok := n.(*syntax.SglQuoted)
		if !ok || q.Value == "" || !soft(stack, q.Pos()) {
			return true
		}
		l, r := int(q.Left.Offset()), int(q.Right.Offset())
		if l >= r || r >= len(text) {
			return true
		}
		if b == nil {
			b = []byte(text)
		}
		b[l], b[r] = '_', '_'
		if q.Dollar {
			b[l+1] = '_'
		}
		return true
	})
	return string(b)
}
func inNode(p syntax.Pos, n syntax.Node) bool {
	return n != nil && !isNil(n) && p.Offset() >= n.Pos().Offset() && p.Offset() < n.End().Offset()
}
func soft(stack []syntax.Node, p syntax.Pos) bool {
	param := false
	for i := len(stack) - 2; i >= 0; i-- {
		switch x := stack[i].(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			return true
		case *syntax.Assign:
			if inNode(p, x.Index) {
				return true
			}
		case *syntax.ParamExp:
			if inNode(p, x.Index) || x.Slice != nil && (inNode(p, x.Slice.Offset) || inNode(p, x.Slice.Length)) {
				return true
			}
			if x.Exp != nil {
				param = true
			}
		case *syntax.DblQuoted:
			if param {
				return true
			}
		case *syntax.Redirect:
			if param && x.Hdoc != nil && inNode(p, x.Hdoc) {
				return true
			}
		}
	}
	return false
}

// backquotes remembers the source of every `...` that holds a backslash. bash removes one level of
// backslashes and parses the result again; mvdan.cc/sh parses in place and loses the third level.
func (c *ctx) backquotes(file *syntax.File, text string) {
	if !strings.Contains(text, "`") || !strings.Contains(text, "\\") {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if cs, ok := n.(*syntax.CmdSubst); ok && cs.Backquotes {
			l, r := int(cs.Left.Offset())+1, int(cs.Right.Offset())
			if l <= r && r <= len(text) && strings.Contains(text[l:r], "\\") {
				c.f.bq[cs] = text[l:r]
			}
		}
		return true
	})
}

var unBackquote = strings.NewReplacer("\\$", "$", "\\`", "`", "\\\\", "\\")
var unBackquoteDQ = strings.NewReplacer("\\$", "$", "\\`", "`", "\\\\", "\\", "\\\"", "\"")

// sub analyses text as a script in a nested shell.
func (c *ctx) sub(text, via string, args []Field) {
	n := c.clone()
	n.depth++
	n.via = via
	n.funcs = map[string]*syntax.Stmt{}
	for i, a := range args {
		n.vars[strconv.Itoa(i)] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: a.S}, unk: a.Dyn}
	}
	n.setPos(args, 1)
	n.script(text, via)
}
func (c *ctx) setPos(args []Field, from int) {
	var l []string
	u := false
	for i, a := range args {
		if i >= from {
			l = append(l, a.S)
			u = u || a.Dyn
			c.vars[strconv.Itoa(i-from+1)] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: a.S}, unk: a.Dyn}
		}
	}
	c.vars["@"] = value{v: expand.Variable{Set: true, Kind: expand.Indexed, List: l}, unk: u}
	c.vars["*"] = c.vars["@"]
}

func (c *ctx) stmts(ss []*syntax.Stmt) {
	for _, s := range ss {
		c.stmt(s)
	}
}

func (c *ctx) stmt(s *syntax.Stmt) {
	*c.budget--
	if len(c.f.Commands) > c.cfg.MaxCommands || *c.budget < 0 {
		c.f.TooDeep = true
		return
	}
	saveIn, saveBg := c.stdin, c.bg
	c.bg = c.bg || s.Background
	var rw []Path
	var rr []Path
	for _, r := range s.Redirs {
		c.redir(r, &rw, &rr)
	}
	c.cmd(s.Cmd, rw, rr)
	if s.Cmd == nil || !isCall(s.Cmd) {
		c.f.Writes = append(c.f.Writes, rw...)
		c.f.Reads = append(c.f.Reads, rr...)
	}
	if ce, ok := s.Cmd.(*syntax.CallExpr); ok && len(ce.Args) > 0 && ce.Args[0].Lit() == "exec" && len(s.Redirs) > 0 {
		// exec with a redirection replaces standard input for what follows; a shell that reads its script there runs it
		if saveIn.Kind == "script" && c.stdin.Kind != "script" {
			if c.stdin.Known {
				n := c.clone()
				n.depth++
				n.stdin = Stdin{Kind: "script"}
				n.script(c.stdin.Text, "exec stdin")
			}
			c.dyn("exec replaces the script that the shell is reading")
		}
		c.bg = saveBg
		return
	}
	c.stdin, c.bg = saveIn, saveBg
}
func isCall(x syntax.Command) bool { ce, ok := x.(*syntax.CallExpr); return ok && len(ce.Args) > 0 }

func (c *ctx) redir(r *syntax.Redirect, rw, rr *[]Path) {
	c.nested(r.Word)
	if r.Hdoc != nil {
		c.nested(r.Hdoc)
		t, d := c.hdoc(r)
		c.stdin = Stdin{Kind: "heredoc", Text: t, Known: !d}
		return
	}
	fs := c.fields(r.Word)
	f := Field{}
	if len(fs) > 0 {
		f = fs[0]
	}
	op := r.Op.String()
	if (op == ">&" || op == "<&" || op == "&>" || op == "&>>") && strings.ContainsAny(rawWord(r.Word), "$`") {
		// bash expands the word of ">&word" a second time: >&"\\$(cmd)" runs cmd
		c.dyn("expansion in the target of a descriptor redirection")
	}
	switch op {
	case "<<<":
		c.stdin = Stdin{Kind: "text", Text: f.S + "\n", Known: !f.Dyn}
	case "<":
		*rr = append(*rr, c.path(f, "redirect"))
		c.stdin = Stdin{Kind: "file", File: f.S}
		if f.S == "/dev/null" {
			c.stdin.Known = true
		}
		if ps := firstProc(r.Word); ps != nil {
			c.stdin = c.procOut(ps)
		}
	case "<&", ">&":
		if len(f.S) > 1 && f.S[0] == '-' {
			// bash reads "<&-zz" as close-stdin followed by the command zz; mvdan.cc/sh reads one word
			c.f.ParseOK = false
			c.f.ParseErr = "file descriptor close glued to a word"
			return
		}
		if _, err := strconv.Atoi(strings.TrimSuffix(f.S, "-")); err == nil || f.S == "-" {
			return
		}
		*rw = append(*rw, c.path(f, "redirect"))
	case "<>":
		*rr = append(*rr, c.path(f, "redirect"))
		*rw = append(*rw, c.path(f, "redirect"))
	default:
		if firstProc(r.Word) == nil {
			*rw = append(*rw, c.path(f, "redirect"))
			c.f.Created[c.abs(f.S)] = true
		}
	}
}

// procOut analyses <( ... ) as a source of text.
func (c *ctx) procOut(ps *syntax.ProcSubst) Stdin {
	t, k := c.output(ps.Stmts)
	return Stdin{Kind: "pipe", Text: t, Known: k, From: c.names(ps.Stmts)}
}
func rawWord(w *syntax.Word) string {
	var b strings.Builder
	syntax.NewPrinter().Print(&b, w)
	return b.String()
}
func firstProc(w *syntax.Word) (ps *syntax.ProcSubst) {
	if w == nil {
		return
	}
	for _, p := range w.Parts {
		if q, ok := p.(*syntax.ProcSubst); ok {
			return q
		}
	}
	return
}

var arithInj = regexp.MustCompile("[A-Za-z_][A-Za-z0-9_]*\\[[^\\]]*(\\$\\(|`)")

// nested walks any node and analyses the substitutions in it, and notes code-evaluating expansions.
func (c *ctx) nested(n syntax.Node) {
	if n == nil || (fmt.Sprintf("%T", n) != "" && isNil(n)) {
		return
	}
	syntax.Walk(n, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.CmdSubst:
			m := c.clone()
			m.depth++
			m.via = "$()"
			m.stdin = Stdin{}
			if raw, ok := c.f.bq[x]; ok && m.depth <= c.cfg.MaxDepth {
				m.clone().script(unBackquote.Replace(raw), "$()")
				if strings.Contains(raw, "\\\"") {
					m.clone().script(unBackquoteDQ.Replace(raw), "$()")
				}
				if strings.Contains(raw, "\\`") {
					return false // the tree of nested backquotes is not reliable
				}
			}
			if m.depth <= c.cfg.MaxDepth {
				m.stmts(x.Stmts)
			} else {
				c.f.TooDeep = true
			}
			return false
		case *syntax.ProcSubst:
			m := c.clone()
			m.depth++
			m.via = "<()"
			m.stmts(x.Stmts)
			return false
		case *syntax.ParamExp:
			if x.Exp != nil && x.Exp.Op == syntax.OtherParamOps {
				if l := x.Exp.Word.Lit(); l != "Q" && l != "a" && l != "A" && l != "K" && l != "k" && l != "U" && l != "u" && l != "L" {
					c.dyn("prompt-transformation ${x@" + l + "} evaluates its value")
				}
			}
		case *syntax.ArithmExp:
			syntax.Walk(x, func(y syntax.Node) bool {
				if q, ok := y.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "$`") {
					c.dyn("expansion inside single quotes in arithmetic")
				}
				return true
			})
		case *syntax.SglQuoted:
			if arithInj.MatchString(x.Value) {
				c.dyn("array subscript with a substitution may be evaluated arithmetically")
			}
		}
		return true
	})
}
func isNil(n syntax.Node) bool {
	switch v := n.(type) {
	case *syntax.Word:
		return v == nil
	case *syntax.Stmt:
		return v == nil
	}
	return false
}

type envAdapter struct {
	c     *ctx
	dyn   *bool
	unset *bool
}

func (e envAdapter) Get(name string) expand.Variable {
	if v, ok := e.c.vars[name]; ok {
		if v.unk {
			*e.dyn = true
		}
		return v.v
	}
	switch name {
	case "IFS":
		return expand.Variable{Set: true, Kind: expand.String, Str: " \t\n"}
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed}
	case "#":
		return expand.Variable{Set: true, Kind: expand.String, Str: "0"}
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		return expand.Variable{}
	}
	if strings.HasPrefix(name, "HOME ") {
		u := strings.TrimPrefix(name, "HOME ")
		if u == "root" {
			return expand.Variable{Set: true, Kind: expand.String, Str: "/root"}
		}
		return expand.Variable{Set: true, Kind: expand.String, Str: "/home/" + u}
	}
	*e.dyn = true
	*e.unset = true
	return expand.Variable{}
}
func (e envAdapter) Each(f func(string, expand.Variable) bool) {}
func (e envAdapter) Set(n string, v expand.Variable) error {
	e.c.vars[n] = value{v: v}
	return nil
}

func (c *ctx) expandCfg(dyn, unset *bool) *expand.Config {
	return &expand.Config{Env: envAdapter{c, dyn, unset}, CmdSubst: func(w io.Writer, cs *syntax.CmdSubst) error {
		t, k := c.output(cs.Stmts)
		if !k || strings.Contains(c.f.bq[cs], "\\`") {
			*dyn = true
		}
		_, err := io.WriteString(w, strings.TrimRight(t, "\n"))
		return err
	}, ProcSubst: func(ps *syntax.ProcSubst) (string, error) { return "/dev/fd/63", nil }}
}

// fields expands one word. Unknown variables expand to nothing in the guess and set Dyn.
func (c *ctx) fields(w *syntax.Word) (out []Field) {
	if w == nil {
		return nil
	}
	dyn, unset := false, false
	glob := unquotedGlob(w) && w.Lit() != "[" && w.Lit() != "[["
	var res []string
	func() {
		defer func() {
			if recover() != nil {
				dyn = true
			}
		}()
		r, err := expand.Fields(c.expandCfg(&dyn, &unset), w)
		if err != nil {
			dyn = true
		}
		res = r
	}()
	if res == nil && dyn {
		res = []string{unk}
	}
	if unset && !pureUnset(w) {
		// keep the position of unknown parts visible when the word is "prefix$X"
		if lit := literalPrefix(w); lit != "" && len(res) == 1 && res[0] == lit {
			res = append(res, "")[:1]
		}
	}
	for _, s := range res {
		out = append(out, Field{S: s, Dyn: dyn, Glob: glob && strings.ContainsAny(s, "*?[")})
	}
	if len(res) == 0 && dyn {
		out = append(out, Field{S: "", Dyn: true})
	}
	return
}
func pureUnset(w *syntax.Word) bool { return len(w.Parts) == 1 }
func literalPrefix(w *syntax.Word) string {
	if l, ok := w.Parts[0].(*syntax.Lit); ok {
		return l.Value
	}
	return ""
}

// hdoc: with a quoted delimiter the body is literal. expand.Document does not know that and would
// remove backslashes from it, which hides code such as `echo \`cmd\“ fed to a shell.
func (c *ctx) hdoc(r *syntax.Redirect) (string, bool) {
	quoted := false
	for _, p := range r.Word.Parts {
		switch x := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.Contains(x.Value, "\\")
		default:
			quoted = true
		}
	}
	if !quoted {
		return c.doc(r.Hdoc)
	}
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return "", true
		}
		b.WriteString(l.Value)
	}
	return b.String(), false
}
func (c *ctx) doc(w *syntax.Word) (s string, dyn bool) {
	unset := false
	defer func() {
		if recover() != nil {
			dyn = true
		}
	}()
	s, err := expand.Document(c.expandCfg(&dyn, &unset), w)
	if err != nil {
		dyn = true
	}
	return
}
func (c *ctx) lit(w *syntax.Word) (s string, dyn bool) {
	if w == nil {
		return "", false
	}
	unset := false
	defer func() {
		if recover() != nil {
			dyn = true
		}
	}()
	s, err := expand.Literal(c.expandCfg(&dyn, &unset), w)
	if err != nil {
		dyn = true
	}
	return
}
func unquotedGlob(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			v := p.Value
			for i := 0; i < len(v); i++ {
				if v[i] == '\\' {
					i++
					continue
				}
				if v[i] == '*' || v[i] == '?' || v[i] == '[' {
					return true
				}
			}
		case *syntax.ExtGlob:
			return true
		case *syntax.ParamExp:
			return true // a value may hold a glob; only matters when the result has glob characters
		}
	}
	return false
}

func (c *ctx) assign(a *syntax.Assign, kindInt bool) {
	if a == nil || a.Name == nil {
		if a != nil && a.Value != nil {
			c.nested(a.Value)
		}
		return
	}
	if a.Value != nil {
		c.nested(a.Value)
	}
	if a.Index != nil {
		c.nested(a.Index)
	}
	name := a.Name.Value
	if a.Array != nil {
		c.nested(a.Array)
		var l []string
		m := map[string]string{}
		u, assoc := false, false
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				if w, ok := e.Index.(*syntax.Word); ok {
					k, _ := c.lit(w)
					v, d := c.lit(e.Value)
					m[k] = v
					assoc = true
					u = u || d
					continue
				}
			}
			for _, f := range c.fields(e.Value) {
				l = append(l, f.S)
				u = u || f.Dyn
			}
		}
		if assoc {
			c.vars[name] = value{v: expand.Variable{Set: true, Kind: expand.Associative, Map: m}, unk: u}
		} else {
			c.vars[name] = value{v: expand.Variable{Set: true, Kind: expand.Indexed, List: l}, unk: u}
		}
		return
	}
	if a.Naked {
		return
	}
	s, d := c.lit(a.Value)
	if kindInt && strings.ContainsAny(s, "[$`(") {
		c.dyn("integer declaration evaluates its value")
	}
	if a.Append {
		old := c.vars[name]
		s = old.v.Str + s
		d = d || old.unk
	}
	if a.Index != nil {
		d = true
	}
	c.vars[name] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: s}, unk: d}
}

func (c *ctx) cmd(x syntax.Command, rw, rr []Path) {
	switch x := x.(type) {
	case nil:
	case *syntax.CallExpr:
		if len(x.Args) == 0 {
			for _, a := range x.Assigns {
				c.assign(a, false)
				if v, ok := c.vars[a.Name.Value]; ok && a.Name.Value == "PS4" && strings.ContainsAny(v.v.Str, "$`") {
					c.dyn("PS4 is evaluated under xtrace")
				}
				if codeEnv[a.Name.Value] || a.Name.Value == "PATH" {
					c.f.Commands = append(c.f.Commands, Command{Binary: "", Env: []string{a.Name.Value}, Depth: c.depth, Via: c.via, Cwd: c.cwd})
				}
			}
			return
		}
		var envn []string
		saved := map[string]*value{}
		for _, a := range x.Assigns {
			if a.Name != nil {
				envn = append(envn, a.Name.Value)
				if v, ok := c.vars[a.Name.Value]; ok {
					vv := v
					saved[a.Name.Value] = &vv
				} else {
					saved[a.Name.Value] = nil
				}
			}
		}
		// words are expanded before the prefix assignments take effect
		var fs []Field
		var procs []*syntax.ProcSubst
		for i, w := range x.Args {
			c.nested(w)
			if p := firstProc(w); p != nil {
				procs = append(procs, p)
				if i == 0 {
					c.dyn("process substitution in the command word")
				}
			}
			fs = append(fs, c.fields(w)...)
		}
		for _, a := range x.Assigns {
			c.assign(a, false)
		}
		n := *c
		n.env = append(append([]string(nil), c.env...), envn...)
		n.call(fs, rw, rr, procs)
		c.cwd, c.cwdUnk = n.cwd, n.cwdUnk
		for k, v := range saved {
			if v == nil {
				delete(c.vars, k)
			} else {
				c.vars[k] = *v
			}
		}
	case *syntax.BinaryCmd:
		switch x.Op {
		case syntax.Pipe, syntax.PipeAll:
			l := c.clone()
			start := len(c.f.Commands)
			l.stmt(x.X)
			t, k := c.output([]*syntax.Stmt{x.X})
			in := Stdin{Kind: "pipe", Text: t, Known: k}
			for _, y := range c.f.Commands[start:] {
				in.From = append(in.From, y.Binary)
				if y.Binary == "find" {
					for _, rt := range y.Reads {
						if rt.Via == "root" && (rt.Class == "root" || rt.Class == "protected" || rt.Class == "home") {
							in.Roots = append(in.Roots, rt.Path)
						}
					}
				}
			}
			r := c.clone()
			r.stdin = in
			r.stmt(x.Y)
		default:
			c.stmt(x.X)
			c.stmt(x.Y)
		}
	case *syntax.Subshell:
		c.clone().stmts(x.Stmts)
	case *syntax.Block:
		c.stmts(x.Stmts)
	case *syntax.IfClause:
		for i := x; i != nil; i = i.Else {
			c.stmts(i.Cond)
			c.branch(i.Then)
		}
	case *syntax.WhileClause:
		c.stmts(x.Cond)
		c.branch(x.Do)
	case *syntax.ForClause:
		if wi, ok := x.Loop.(*syntax.WordIter); ok {
			var vals []Field
			for _, w := range wi.Items {
				c.nested(w)
				vals = append(vals, c.fields(w)...)
			}
			if len(vals) == 0 || len(vals) > 16 {
				c.vars[wi.Name.Value] = value{unk: true, v: expand.Variable{Set: true, Kind: expand.String}}
				c.branch(x.Do)
				return
			}
			for _, v := range vals {
				m := c.clone()
				m.vars[wi.Name.Value] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: v.S}, unk: v.Dyn}
				m.stmts(x.Do)
			}
			c.forget(x.Do)
		} else {
			c.nested(x.Loop)
			c.branch(x.Do)
		}
	case *syntax.CaseClause:
		c.nested(x.Word)
		for _, it := range x.Items {
			for _, p := range it.Patterns {
				c.nested(p)
			}
			c.branch(it.Stmts)
		}
	case *syntax.FuncDecl:
		if x.Name != nil {
			c.funcs[x.Name.Value] = x.Body
			if forkBomb(x) {
				c.f.ForkBomb = true
				return
			}
			m := c.clone()
			m.via = "function " + x.Name.Value
			m.depth++
			m.stack = append(append([]string(nil), c.stack...), x.Name.Value)
			if m.depth < c.cfg.MaxDepth {
				m.stmt(x.Body)
			}
		}
	case *syntax.DeclClause:
		kindInt := false
		nameref := false
		fs := []Field{{S: x.Variant.Value}}
		for _, a := range x.Args {
			if a.Value != nil {
				c.nested(a.Value)
			}
			if a.Index != nil {
				c.nested(a.Index)
			}
			if a.Naked && a.Value != nil {
				v, _ := c.lit(a.Value)
				fs = append(fs, Field{S: v})
				if strings.HasPrefix(v, "-") && strings.Contains(v, "i") {
					kindInt = true
				}
				if strings.HasPrefix(v, "-") && strings.Contains(v, "n") {
					nameref = true
				}
			}
		}
		if x.Variant.Value == "nameref" {
			nameref = true
		}
		var names []string
		for _, a := range x.Args {
			if a.Name != nil {
				names = append(names, a.Name.Value)
				if !a.Naked || a.Array != nil {
					c.assign(a, kindInt)
					if nameref {
						v := c.vars[a.Name.Value]
						v.v.Kind = expand.NameRef
						c.vars[a.Name.Value] = v
					}
				} else if a.Value != nil {
					c.nested(a.Value)
				}
			}
		}
		n := *c
		if x.Variant.Value == "export" || x.Variant.Value == "declare" {
			n.env = append(append([]string(nil), c.env...), names...)
		}
		if len(names) > 0 {
			fs = append(fs, Field{S: "name"})
		}
		n.call(fs, rw, rr, nil)
	case *syntax.ArithmCmd:
		c.arith(x)
	case *syntax.LetClause:
		c.dyn("let evaluates text as arithmetic")
		c.arith(x)
	case *syntax.TestClause:
		c.nested(x)
		c.arith(x)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			c.stmt(x.Stmt)
		}
	case *syntax.CoprocClause:
		c.nested(x.Name)
		if x.Name != nil {
			if _, compound := x.Stmt.Cmd.(*syntax.CallExpr); compound || x.Stmt.Cmd == nil {
				// bash takes the first word of "coproc zz >&f" as the command, not as a name
				c.call(c.fields(x.Name), nil, nil, nil)
			}
		}
		c.stmt(x.Stmt)
	default:
		c.dyn(fmt.Sprintf("unsupported construct %T", x))
		c.nested(x)
	}
}
func (c *ctx) arith(n syntax.Node) {
	c.nested(n)
	_, isTest := n.(*syntax.TestClause)
	syntax.Walk(n, func(x syntax.Node) bool {
		name := ""
		switch x := x.(type) {
		case *syntax.SglQuoted:
			// single quotes do not quote inside (( )), $(( )) or a subscript: bash still expands the text
			if !isTest && strings.ContainsAny(x.Value, "$`") {
				c.dyn("expansion inside single quotes in arithmetic")
			}
		case *syntax.Lit:
			name = x.Value
		case *syntax.ParamExp:
			if x.Param != nil {
				name = x.Param.Value
			}
		}
		if v, ok := c.vars[name]; ok && strings.ContainsAny(v.v.Str, "[`") && strings.ContainsAny(v.v.Str, "$`") {
			c.dyn("arithmetic evaluates a variable that holds a subscript with a substitution")
		}
		return true
	})
}
func (c *ctx) branch(ss []*syntax.Stmt) {
	m := c.clone()
	m.stmts(ss)
	for k, v := range m.vars {
		if o, ok := c.vars[k]; !ok || o.v.Str != v.v.Str {
			v.unk = true
			c.vars[k] = v
		}
	}
	for k, v := range m.funcs {
		c.funcs[k] = v
	}
	if m.cwd != c.cwd {
		c.cwdUnk = true
	}
}
func (c *ctx) forget(ss []*syntax.Stmt) {}

func forkBomb(fd *syntax.FuncDecl) bool {
	name := fd.Name.Value
	n, bg := 0, false
	syntax.Walk(fd.Body, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.CallExpr:
			if len(x.Args) > 0 && x.Args[0].Lit() == name {
				n++
			}
		case *syntax.Stmt:
			bg = bg || x.Background
		}
		return true
	})
	return n >= 2 && bg
}

// names lists the binaries in a list of statements, for provenance of pipes.
func (c *ctx) names(ss []*syntax.Stmt) []string {
	f := &Facts{Created: map[string]bool{}, Relinked: map[string]string{}, ParseOK: true}
	m := c.clone()
	m.f = f
	m.depth++
	if m.depth > c.cfg.MaxDepth {
		return []string{"?"}
	}
	m.stmts(ss)
	var out []string
	for _, x := range f.Commands {
		out = append(out, x.Binary)
	}
	return out
}

// output computes the standard output of simple text-producing statements (constant folding).
func (c *ctx) output(ss []*syntax.Stmt) (string, bool) {
	var b strings.Builder
	if c.depth > c.cfg.MaxDepth {
		return "", false
	}
	for _, s := range ss {
		t, k := c.outStmt(s, "", false)
		if !k {
			return b.String(), false
		}
		b.WriteString(t)
	}
	return b.String(), true
}
func (c *ctx) outStmt(s *syntax.Stmt, in string, inKnown bool) (string, bool) {
	*c.budget--
	if *c.budget < 0 {
		return "", false
	}
	for _, r := range s.Redirs {
		switch r.Op.String() {
		case "<<<":
			f := c.fields(r.Word)
			if len(f) == 0 {
				return "", false
			}
			in, inKnown = f[0].S+"\n", !f[0].Dyn
		case "<<", "<<-":
			t, d := c.hdoc(r)
			in, inKnown = t, !d
		case ">", ">>":
			return "", true
		case "<":
			return "", false
		}
	}
	switch x := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			t, k := c.outStmt(x.X, in, inKnown)
			return c.outStmt(x.Y, t, k)
		}
		a, k1 := c.outStmt(x.X, in, inKnown)
		b, k2 := c.outStmt(x.Y, in, inKnown)
		return a + b, k1 && k2
	case *syntax.Block:
		return c.output(x.Stmts)
	case *syntax.Subshell:
		return c.output(x.Stmts)
	case *syntax.CallExpr:
		var fs []string
		for _, w := range x.Args {
			for _, f := range c.fields(w) {
				if f.Dyn {
					return "", false
				}
				fs = append(fs, f.S)
			}
		}
		if len(fs) == 0 {
			return "", true
		}
		return fold(path.Base(fs[0]), fs[1:], in, inKnown, c)
	}
	return "", false
}
func fold(n string, a []string, in string, known bool, c *ctx) (string, bool) {
	has := func(xs ...string) bool {
		for _, y := range a {
			for _, x := range xs {
				if y == x {
					return true
				}
			}
		}
		return false
	}
	switch n {
	case "echo":
		e, nl := false, "\n"
		for len(a) > 0 && regexp.MustCompile(`^-[neE]+$`).MatchString(a[0]) {
			e = e || strings.Contains(a[0], "e")
			if strings.Contains(a[0], "n") {
				nl = ""
			}
			a = a[1:]
		}
		s := strings.Join(a, " ")
		if e {
			s, _, _ = expand.Format(nil, s, nil)
		}
		return s + nl, true
	case "printf":
		if len(a) == 0 {
			return "", false
		}
		if a[0] == "--" {
			a = a[1:]
		}
		if strings.Contains(a[0], "%b") {
			s := strings.ReplaceAll(a[0], "%b", "%s")
			var xs []string
			for _, y := range a[1:] {
				y = regexp.MustCompile(`\\0([0-7]{1,3})`).ReplaceAllString(y, `\$1`)
				z, _, _ := expand.Format(nil, y, nil)
				xs = append(xs, z)
			}
			o, _, err := expand.Format(nil, s, xs)
			return o, err == nil
		}
		o, _, err := expand.Format(nil, a[0], a[1:])
		return o, err == nil
	case "true", ":", "cd", "false":
		return "", true
	case "git":
		if len(a) == 2 && a[0] == "rev-parse" && a[1] == "--show-toplevel" {
			return c.cfg.Cwd + "\n", true
		}
		return "", false
	case "pwd":
		return c.cwd + "\n", !c.cwdUnk
	case "which":
		if len(a) == 1 {
			return "/usr/bin/" + path.Base(a[0]) + "\n", true
		}
	case "command", "type":
		if len(a) == 2 && (a[0] == "-v" || a[0] == "-p") {
			return "/usr/bin/" + path.Base(a[1]) + "\n", true
		}
	}
	if !known {
		return "", false
	}
	switch n {
	case "cat", "tee", "tac", "head", "tail":
		if n == "tac" {
			ls := strings.Split(strings.TrimRight(in, "\n"), "\n")
			for i, j := 0, len(ls)-1; i < j; i, j = i+1, j-1 {
				ls[i], ls[j] = ls[j], ls[i]
			}
			return strings.Join(ls, "\n") + "\n", true
		}
		return in, len(a) == 0 || a[0] == "-" || n == "tee" || n == "head"
	case "base64":
		if has("-d", "--decode", "-D", "-di") {
			b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in), ""))
			return string(b), err == nil
		}
	case "base32":
		if has("-d", "--decode") {
			b, err := base32.StdEncoding.DecodeString(strings.Join(strings.Fields(in), ""))
			return string(b), err == nil
		}
	case "openssl":
		if has("-base64", "base64") && has("-d") {
			b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in), ""))
			return string(b), err == nil
		}
	case "xxd":
		if has("-r") || has("-rp") || has("-r") {
			b, err := hex.DecodeString(strings.Join(strings.Fields(in), ""))
			return string(b), err == nil
		}
	case "rev":
		var out []string
		for _, l := range strings.Split(strings.TrimRight(in, "\n"), "\n") {
			r := []rune(l)
			for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
				r[i], r[j] = r[j], r[i]
			}
			out = append(out, string(r))
		}
		return strings.Join(out, "\n") + "\n", true
	case "tr":
		if len(a) == 2 && a[0] == "-d" {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(trSet(a[1]), r) {
					return -1
				}
				return r
			}, in), true
		}
		if len(a) == 2 {
			f, t := []rune(trSet(a[0])), []rune(trSet(a[1]))
			if len(t) == 0 {
				return "", false
			}
			return strings.Map(func(r rune) rune {
				for i, x := range f {
					if x == r {
						if i < len(t) {
							return t[i]
						}
						return t[len(t)-1]
					}
				}
				return r
			}, in), true
		}
	}
	return "", false
}
func trSet(s string) string {
	var b bytes.Buffer
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' && r[i+2] >= r[i] {
			for x := r[i]; x <= r[i+2]; x++ {
				b.WriteRune(x)
			}
			i += 2
			continue
		}
		b.WriteRune(r[i])
	}
	return b.String()
}
