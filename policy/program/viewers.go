package program

import (
	"slices"
	"strings"
)

// viewers are pagers and editors, from which commands can be typed.
var viewers = family{
	"less more most pg": {opts: `
		-[aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWXZ~] += -h= -b= -j= -o|--log-file=write -O|--LOG-FILE=write -p|--pattern= -P|--prompt=
		-t|--tag= -T|--tag-file=read -x|--tabs= -y= -z|--window= -#= -D= -k|--lesskey-file=load --lesskey-src=load
		--lesskey-content=:opaque-exec --use-color --RAW-CONTROL-CHARS --raw-control-chars --LINE-NUMBERS --chop-long-lines
		--no-init --quit-if-one-screen --QUIT-AT-EOF --IGNORE-CASE --ignore-case --squeeze-blank-lines --wordwrap --mouse
		--follow-name --no-lessopen --incsearch --tilde --status-column --header= --shift= --rscroll= --clear-screen --force
		--quiet --silent`, operands: "read*", tags: "pager", stdin: 1, then: less},
	"man": {opts: `
		-[aDfhkKtuVwWZdi7c] -P|--pager=exec -H|--html?exec -C|--config-file=load -M|--manpath=read -l|--local-file
		-L|--locale= -m|--systems= -S|-s|--sections= -e|--extension= -E|--encoding= -r|--prompt=:opaque-exec -R|--recode=
		-T|--troff-device? -X|--gxditview? --preprocessor= -p= --regex --wildcard --names-only --all --where --path --location
		--whatis --apropos --debug --update --no-subpages --nj --nh --no-hyphenation --no-justification --ascii --warnings? -I
		--default --global-apropos --where-cat --catman --ignore-case --match-case --troff --ditroff --usage`, operands: "skip*", tags: "pager", then: man},
	"info pinfo": {opts: `
		-f|--file=read -o|--output=write -d|--directory=read --init-file=load -k= -n= -w -a --subnodes --vi-keys`, operands: "skip*", tags: "pager", then: man},
	"help": {open: true},
	"vim vi nvim gvim view rvim vimdiff ex": {opts: `
		-[ABbDdEefFgHhLlMmnNpOoRrvVxXyZ] -c=:opaque-exec --cmd=:opaque-exec -S=load -u=load -U=load -i=read -s=load -w=write
		-W=write -T= -t= -q=read -es|-Es:code += --clean --noplugin --headless --embed --listen= --server= --remote
		--startuptime=write --version`, operands: "change*", tags: "editor", then: vim},
	"nano pico joe jed mcedit micro ne kak hx helix": {opts: `
		-[ABDEGHIKLMNPRSUVWZabcdeghijklmnpqtuvwxyz] -s|--speller=exec -o|--operatingdir=dir -C|--backupdir=write
		-f|--rcfile=load -Y|--syntax= -T|--tabsize= -r|--fill= -Q=`, operands: "change*", tags: "editor", open: true},
	"emacs emacsclient mg zile": {opts: `
		-e|-eval|--eval=inline -f|-funcall|--funcall=:opaque-exec -l|-load|--load=load -script|--script=script -batch|--batch
		-nw -Q|-q -L=load -u= -d= -t= --execute=inline`, operands: "change*", tags: "editor opaque-exec", style: words, open: true},
	"ed red": {opts: "-[Eghlrsv] -p=", operands: "change", tags: "editor", then: lineEditor},
	"code codium cursor subl atom gedit kate mousepad notepad zed idea pycharm goland webstorm": {tags: "editor", open: true, operands: "change*"},
	"fzf sk peco gum whiptail dialog zenity":                                                    {opts: "--preview=sh -m -q= -f|--filter= --bind=:opaque-exec -n= -d= --history=write", open: true, stdin: always},
	"ranger nnn mc lf vifm yazi broot":                                                          {tags: "interactive-shell", open: true},
}

// less takes commands after a plus sign.
func less(c *call) {
	if slices.ContainsFunc(c.values("+"), func(w Word) bool { return strings.ContainsAny(w.Text, "!|v&:") }) {
		c.tag("opaque-exec")
	}
}

// man shows a file, if its name has a slash.
func man(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "/") || c.has("-l", "--local-file") || w.Dynamic && !w.Begins {
			c.touch("read", w, "argument")
		}
	}
}

// vim runs commands of its own that stand in the arguments; those with a ! are the shell's.
func vim(c *call) {
	for _, w := range c.values("-c", "--cmd", "+") {
		c.Inline = true
		if _, line, ok := strings.Cut(w.Text, "!"); ok {
			c.code(rest(w, line), c.name+" !")
		}
	}
	c.ReadsCode = c.ReadsCode || c.name == "ex"
}

// lineEditor reads commands, among them ! with a shell line.
func lineEditor(c *call) {
	c.ReadsIn, c.ReadsCode, c.Inline = true, true, true
	for _, w := range c.Operands {
		if line, ok := strings.CutPrefix(w.Text, "!"); ok {
			c.code(rest(w, line), c.name+" !")
		}
	}
}
