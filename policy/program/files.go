package program

import (
	"path"
	"strings"
)

// files are programs that copy, move, delete and describe files.
var files = family{
	"rm": {opts: `
		-[fiIdv] -r|-R|--recursive:recursive --force --dir --verbose --interactive? --one-file-system --preserve-root?
		--no-preserve-root`, operands: "delete*"},
	"rmdir":  {opts: "-[pv] --parents --verbose --ignore-fail-on-non-empty", operands: "delete*"},
	"unlink": {operands: "delete*"},
	"shred srm": {opts: `
		-[fuvxz] -n|--iterations= -s|--size= --random-source=read --remove? --force --exact --verbose --zero`, operands: "delete*"},
	"trash trash-put gtrash": {opts: "-[fvdri]", operands: "delete*", open: true},
	"mv": {opts: `
		-[bfinTuvZ] -S|--suffix= -t|--target-directory=target --backup? --force --interactive --no-clobber --update? --verbose
		--strip-trailing-slashes --no-target-directory --debug --exchange --context`, operands: "move* target"},
	"cp gcp": {opts: `
		-[abdfiHlnPpTuvxsZ] -r|-R|--recursive:recursive -L|--dereference:follows -S|--suffix= -t|--target-directory=target --archive
		--attributes-only --backup? --copy-contents --debug --force --interactive --link --no-clobber --no-dereference --preserve?
		--parents --reflink? --remove-destination --sparse= --strip-trailing-slashes --symbolic-link --no-target-directory
		--update? --verbose --keep-directory-symlink --one-file-system --context?`, operands: "read* target"},
	"install ginstall": {opts: `
		-[bcCdDpTvZ] -g|--group= -o|--owner= -m|--mode= -S|--suffix= -t|--target-directory=target -s|--strip
		--strip-program=exec --backup? --compare --directory --preserve-timestamps --no-target-directory --verbose`, operands: "read* target", then: mode},
	"ln": {opts: `
		-[bdFfiLnPrsTvS] -t|--target-directory=target --backup? --directory --force --interactive --logical --no-dereference
		--physical --relative --symbolic --suffix= --no-target-directory --verbose`, operands: "read* target", then: symlink},
	"link":      {operands: "read write"},
	"touch":     {opts: "-[acfhm] -d|--date= -r|--reference=read -t= --time= --no-create --no-dereference", operands: "write*"},
	"mkdir":     {opts: "-[pvZ] -m|--mode= --parents --verbose --context?", operands: "write*"},
	"mkfifo":    {opts: "-Z -m|--mode=", operands: "write*"},
	"mknod":     {opts: "-Z -m|--mode=", operands: "write", tags: "disk"},
	"mktemp":    {opts: "-[dqtu] -p|--tmpdir?write --directory --dry-run --quiet --suffix=", operands: "write*"},
	"truncate":  {opts: "-[co] -r|--reference=read -s|--size= --no-create --io-blocks", operands: "write*"},
	"fallocate": {opts: "-[cdinpvxz] -l|--length= -o|--offset=", operands: "write*"},
	"chmod": {opts: `
		-[cfv] -R|--recursive:recursive --changes --quiet --silent --verbose --preserve-root --no-preserve-root
		--reference=read!`, operands: "skip write*", then: mode},
	"chown chgrp": {opts: `
		-[cfhHLPv] -R|--recursive:recursive --changes --quiet --silent --verbose --dereference --no-dereference
		--preserve-root --no-preserve-root --from= --reference=read!`, operands: "skip write*"},
	"chattr": {opts: "-[RVfacdeijstuACDFPST] -v= -p=", operands: "skip write*", open: true},
	"setfacl": {opts: `
		-[bkndLPR] -m|--modify= -x|--remove= -M|--modify-file=read -X|--remove-file=read --set= --set-file=read --restore=read
		--recursive`, operands: "write*"},
	"setcap":                         {tags: "admin", operands: "skip write*"},
	"setfattr":                       {opts: "-h -n|--name= -v|--value= -x|--remove= --restore=read", operands: "write*"},
	"getfacl getfattr lsattr getcap": {opts: "-n= -m=", operands: "read*", open: true},
	"dd":                             {then: dd},
	"sync fsync":                     {operands: "read*", open: true},

	"ls dir vdir eza exa lsd": {opts: `
		-[aAbBcCdDfFgGhHiklLmnNopqQrsStuUvxXZ1] -R|--recursive:recursive -I|--ignore= -T|--tabsize= -w|--width= --color?
		--block-size= --format= --hide= --indicator-style= --quoting-style= --sort= --time= --time-style= --hyperlink?`, operands: "read*", open: true},
	"tree": {opts: `
		-[adfilxCDFghnNpqQrstuvJSX] -L= -I= -P= -H= -T= -o=write --filelimit= --charset= --timefmt= --fromfile --fromtabfile
		--gitfile=read --infofile=read --dirsfirst --noreport --prune --gitignore --du --si --inodes --device --ignore-case
		--matchdirs --metafirst --filesfirst --sort? --compress=`, operands: "read*"},
	"stat": {opts: "-[LftZ] -c|--format= --printf= --cached=", operands: "read*", open: true},
	"du": {opts: `
		-[0abcDHhklLmPsSx] -B|--block-size= -d|--max-depth= -t|--threshold= -X|--exclude-from=read --files0-from=list
		--exclude= --time? --time-style=`, operands: "read*", open: true},
	"df":            {opts: "-[ahHiklPTv] -B|--block-size= -t|--type= -x|--exclude-type= --output?", operands: "read*", open: true},
	"ncdu dust duf": {opts: "-o=write -f=read -X=read --exclude=", operands: "read*", open: true},
	"file": {opts: `
		-[bcdDEhiIkLlNnprsSvzZ0] -F|--separator= -e|--exclude= -P|--parameter= -m|--magic-file=load -f|--files-from=list
		-C|--compile:opaque-exec --mime --mime-type --mime-encoding --brief --dereference --no-dereference --extension --apple
		--keep-going --raw --uncompress --uncompress-noreport --checking-printout --exclude-quiet= --list --print0
		--preserve-date --special-files --debug`, operands: "read*"},
	"realpath readlink": {opts: "-[eEmfLPnqsvz] --relative-to= --relative-base=", operands: "skip*", open: true},
	"basename":          {opts: "-[az] -s|--suffix=", operands: "skip*", open: true},
	"dirname pathchk":   {operands: "skip*", open: true},
	"cmp":               {opts: "-[bls] -i|--ignore-initial= -n|--bytes= --print-bytes --verbose --quiet --silent", operands: "read read skip skip", stdin: 2},
	"diff diff3 sdiff colordiff": {opts: `
		-[abBcdeEfHilnNpPqstTuwyAm3] -r|--recursive:recursive,follows -C|--context? -U|--unified? -F|--show-function-line=
		-I|--ignore-matching-lines= -L|--label= -W|--width= -x|--exclude= -X|--exclude-from=read -S|--starting-file=
		-D|--ifdef= -o|--output=write --color? --from-file=read --to-file=read --line-format= --old-line-format=
		--new-line-format= --unchanged-line-format= --old-group-format= --new-group-format= --changed-group-format=
		--unchanged-group-format= --GTYPE-group-format= --LTYPE-line-format= --palette= --tabsize= --horizon-lines=
		--diff-program=exec --brief --report-identical-files --ignore-case --ignore-all-space --ignore-space-change
		--ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion --strip-trailing-cr --text --side-by-side
		--suppress-common-lines --new-file --unidirectional-new-file --normal --minimal --speed-large-files --no-dereference
		--expand-tabs --initial-tab --left-column --ed --rcs --paginate --show-c-function --suppress-blank-empty -Z
		--ignore-file-name-case --show-all --show-overlap --easy-only --overlap-only --merge`, operands: "read*", stdin: 1},
	"delta difft dwdiff wdiff": {opts: "--pager=exec --config=load --paging=", operands: "read*", open: true, stdin: 1, tags: "pager"},
	"patch": {opts: `
		-[bcEflNnRstTuvZ] -e|--ed:opaque-exec -p|--strip= -F|--fuzz= -D|--ifdef= -d|--directory=dir -i|--input=read -o|--output=write
		-r|--reject-file=write -B|--prefix=write -Y|--basename-prefix=write -z|--suffix= -V|--version-control= -g|--get= --backup
		--dry-run --reverse --forward --force --batch --verbose --silent --quiet --unified --context --normal  --binary
		--remove-empty-files --ignore-whitespace --posix --follow-symlinks --merge? --quoting-style= --read-only=
		--reject-format=`, operands: "change read", stdin: 2, then: patches},
	"rename prename file-rename":       {tags: "opaque-exec", operands: "skip change*"},
	"fdupes jdupes":                    {opts: "-d:discard", operands: "read*", open: true},
	"inotifywait inotifywatch fswatch": {opts: "-e= -t= --format= --exclude= -o=write --outfile= --fromfile=list", operands: "read*", open: true, tags: "longrun"},
	"lsof fuser":                       {opts: "-k:signal -i? -p= -u= -c= -n -P -t -a -d=", operands: "skip*", open: true},
	"find gfind":                       {style: words, then: find},
	"fd fdfind": {opts: `
		-[HIusiagFlp0q1] -L|--follow:follows -d|--max-depth= --min-depth= --exact-depth= -t|--type= -e|--extension= -E|--exclude= -S|--size=
		--changed-within= --changed-before= -o|--owner= -c|--color= -j|--threads= -C|--base-directory=dir --search-path=
		--ignore-file=read --path-separator= --max-results= --and= --format= -x|--exec=rest -X|--exec-batch=rest --hidden
		--glob --regex --absolute-path --full-path --case-sensitive --ignore-case --print0 --list-details --prune
		--strip-cwd-prefix? --one-file-system --fixed-strings --unrestricted --quiet --show-errors --batch-size=
		--gen-completions? --hyperlink? --no-ignore --no-ignore-vcs`, operands: "skip*", then: fd},
	"locate plocate updatedb": {opts: "-d= -l= -n=", operands: "skip*", open: true},
}

// mode looks at the rights that chmod and install set.
func mode(c *call) {
	w, ok := c.value("-m")
	if !ok && c.name == "chmod" && !c.replaced && len(c.Operands) > 0 {
		w, ok = c.Operands[0], true
	}
	if !ok {
		return
	}
	digits := strings.TrimLeft(strings.TrimLeft(w.Text, "="), "0")
	octal := digits != "" && strings.Trim(digits, "01234567") == ""
	if octal && len(digits) >= 4 || !octal && strings.Contains(w.Text, "s") {
		c.tag("setuid")
	}
	if w.Dynamic {
		c.unsure("dynamic mode")
	}
}

// dd has operands of the form name=value.
func dd(c *call) {
	c.ReadsIn = true
	for _, w := range c.Operands {
		name, value, ok := strings.Cut(w.Text, "=")
		switch {
		case name == "if":
			c.ReadsIn = false
			c.touch("read", rest(w, value), "if")
		case name == "of":
			c.touch("write", rest(w, value), "of")
		case !ok && w.Dynamic:
			c.unsure("dynamic operand")
		}
	}
}

// symlink names what links lead to. With one operand, the link is made here.
func symlink(c *call) {
	if len(c.Operands) == 1 && !c.lastOnly {
		c.Touches = c.Touches[:0]
		c.touch("read", c.Operands[0], "argument")
		c.touch("write", rest(c.Operands[0], path.Base(c.Operands[0].Text)), "argument")
	}
	for i := range c.Touches {
		if c.Touches[i].Op == "read" {
			c.Touches[i].Via = "link target"
		}
	}
}
