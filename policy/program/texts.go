package program

import (
	"regexp"
	"slices"
	"strings"
)

// texts are programs that search, sort and change text.
var texts = family{
	"cat tac rev": {opts: `
		-[AbeEntTuv] -s|--separator? --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting
		--squeeze-blank --before --regex`, operands: "read*", stdin: 1, open: true},
	"nl": {opts: `
		-p -b|--body-numbering= -d|--section-delimiter= -f|--footer-numbering= -h|--header-numbering= -i|--line-increment=
		-l|--join-blank-lines= -n|--number-format= -s|--number-separator= -v|--starting-line-number= -w|--number-width=`, operands: "read*", stdin: 1, open: true},
	"head tail": {opts: `
		-[qvzr] -f|--follow? -F -c|--bytes= -n|--lines= -s|--sleep-interval= --pid= --max-unchanged-stats= --retry`, operands: "read*", stdin: 1, open: true},
	"wc":  {opts: "-[clmLw] --files0-from=list --total=", operands: "read*", stdin: 1, open: true},
	"cut": {opts: "-[nsz] -b|--bytes= -c|--characters= -d|--delimiter= -f|--fields= --output-delimiter=", operands: "read*", stdin: 1, open: true},
	"tr":  {opts: "-[cCdst] --complement --delete --squeeze-repeats --truncate-set1", operands: "skip*", stdin: always, open: true},
	"sort gsort": {opts: `
		-[bdfghiMnRrVcCmsuz] -k|--key= -o|--output=write -S|--buffer-size= -t|--field-separator=
		-T|--temporary-directory=write --parallel= --batch-size= --random-source=read --sort= --files0-from=list
		--compress-program=exec --check? --debug --merge --stable --unique --zero-terminated --reverse --numeric-sort
		--general-numeric-sort --human-numeric-sort --version-sort --random-sort --month-sort --ignore-case
		--ignore-leading-blanks --ignore-nonprinting --dictionary-order`, operands: "read*", stdin: 1},
	"uniq": {opts: "-[cdDiuz] -f|--skip-fields= -s|--skip-chars= -w|--check-chars= --all-repeated? --group?", operands: "read write", stdin: 1, open: true},
	"shuf": {opts: `
		-[erz] -i|--input-range= -n|--head-count= -o|--output=write --random-source=read --echo --repeat --zero-terminated`, operands: "read*", stdin: 1},
	"comm":  {opts: "-[123z] --output-delimiter= --check-order --nocheck-order --total", operands: "read*", stdin: 2},
	"join":  {opts: "-[iz] -a= -e= -j= -1= -2= -o= -t= -v= --header --check-order --nocheck-order", operands: "read*", stdin: 2},
	"paste": {opts: "-[sz] -d|--delimiters= --serial", operands: "read*", stdin: 1},
	"column": {opts: `
		-[dehJLtx] -c|--output-width= -s|--separator= -o|--output-separator= -N|--table-columns= -H|--table-hide=
		-O|--table-order= -E|--table-noextreme= -R|--table-right= -W|--table-wrap= -T|--table-truncate= -C|--table-column=
		-n|--table-name= -l|--table-columns-limit= -r|--tree= -i|--tree-id= -p|--tree-parent= -m --table --json --fillrows`, operands: "read*", stdin: 1, open: true},
	"colrm": {operands: "skip*", stdin: always},
	"fold fmt expand unexpand": {opts: `
		-[abcsmuiF] -w|--width= -t|--tabs= -p|--prefix= -g|--goal= --first-only --all --initial --spaces --bytes`, operands: "read*", stdin: 1, open: true},
	"pr": {opts: `
		-[acdfFJmrtTv] -D|--date-format= -e? -h|--header= -i? -l|--length= -n? -N|--first-line-number= -o|--indent= -s? -S?
		-w|--width= -W|--page-width= --columns=`, operands: "read*", stdin: 1, open: true},
	"tsort": {operands: "read*", stdin: 1},
	`
		sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum xxhsum`: {opts: "-[bctwzr] -a|--algorithm= -l|--length= --tag --quiet --status --check", operands: "read*", stdin: 1, open: true, then: sums},
	"base64 base32 basenc": {opts: `
		-[diuD] -w|--wrap= -o|--output=write -b= --decode --ignore-garbage --base64 --base64url --base32 --base32hex --base16
		--base2msbf --base2lsbf --z85`, operands: "read*", stdin: 1},
	"od": {opts: `
		-[abcdfilosvx] -A|--address-radix= -j|--skip-bytes= -N|--read-bytes= -S|--strings? -t|--format= -w|--width? --endian=`, operands: "read*", stdin: 1, open: true},
	"hexdump hd": {opts: "-[bcCdovxX] -e= -f=read -n|--length= -s|--skip= -L? --canonical", operands: "read*", stdin: 1, open: true},
	"strings": {opts: `
		-[afow] -e|--encoding= -n|--bytes= -t|--radix= -T|--target= -s|--output-separator= -U= --all --print-file-name`, operands: "read*", stdin: 1, open: true},
	"xxd": {opts: `
		-[abCdeEirRpu] -ps -plain -c|-cols= -g|-groupsize= -l|-len= -n|-name= -o= -s|-seek= -bits -include -revert -postscript
		-uppercase -capitalize -autoskip -EBCDIC`, operands: "read write", stdin: 1, open: true},
	"look": {opts: "-[adf] -t=", operands: "skip read", open: true},
	"numfmt": {opts: `
		-z -d|--delimiter= --from= --to= --format= --suffix= --field= --header? --padding= --round= --grouping --invalid=
		--from-unit= --to-unit=`, operands: "skip*", open: true, stdin: 1},
	"split csplit": {opts: `
		-[dexz] -a|--suffix-length= -b|--bytes= -C|--line-bytes= -l|--lines= -n|--number= -t|--separator= --filter=sh
		--additional-suffix= --numeric-suffixes? --hex-suffixes? --elide-empty-files --unbuffered --verbose -f|--prefix=write
		-k|--keep-files -q|--quiet -s -u --suffix-format= --digits= --suppress-matched`, operands: "read write*", stdin: 1, then: splitPrefix},
	"tee":    {opts: "-[aip] --append --ignore-interrupts --output-error?", operands: "write*", stdin: always},
	"sponge": {opts: "-a", operands: "write*", stdin: always},
	"grep egrep fgrep zgrep ggrep": {opts: `
		-[abcEFGHhiIlLnoPpqsTUuvVwxyzZ] -r|--recursive:recursive -R|--dereference-recursive:recursive,follows -e|--regexp=!
		-f|--file=read! -A|--after-context= -B|--before-context= -C|--context= -m|--max-count= -d|--directories= -D|--devices=
		--include= --exclude= --exclude-dir= --exclude-from=read --color? --colour? --label= --binary-files=`, operands: "skip read*", open: true, then: grep},
	"rg": {opts: rgOptions, operands: "skip read*", then: rg},
	"ag ack ack-grep pt": {opts: `
		-[cilLnoQqrRsSuUvwaDFHhk] -f|--follow:follows -A= -B= -C= -m= -g -G= -p=read --ignore= --ignore-dir= --ignore-file= --depth= --pager=exec
		-z|--search-zip:opaque-exec --color? --type= -t= --ackrc=load --output= --nopager --hidden --stats --nobreak
		--noheading --nocolor --nogroup --literal --smart-case --files-with-matches --count --column --vimgrep --all-types
		--unrestricted --word-regexp --python --go --js --ts --java --cpp --cc --ruby --rust --html --css --json --md
		--yaml`, operands: "skip read*"},
	"sed gsed": {opts: `
		-[nrEsuz] -e|--expression=! -f|--file=script!:opaque-exec -i|--in-place?:edits -l|--line-length= --quiet --silent --regexp-extended
		--separate --unbuffered --null-data --debug --sandbox --posix --follow-symlinks -b --binary`, operands: "skip read*", then: sed},
	"awk gawk mawk nawk original-awk": {opts: `
		-[bcCghIkMnNOPrsStV] -F|--field-separator= -v|--assign= -f|--file=script!:opaque-exec -i|--include=load -l|--load=load
		-e|--source=! -E|--exec=script!:opaque-exec -W= -d|--dump-variables?write -D|--debug? -o|--pretty-print?write -p|--profile?write
		-L|--lint? --posix --traditional --sandbox --re-interval --non-decimal-data --characters-as-bytes --csv --optimize
		--bignum --use-lc-numeric --gen-pot --lint-old`, operands: "skip", then: awk, style: stop},
	"jq gojq jaq": {opts: `
		-[cCerRsSMjaA0] -n|--null-input -f|--from-file=script!:opaque-exec -L=load --arg+ --argjson+ --slurpfile+read --rawfile+read
		--argfile+read --indent= --tab --slurp --raw-input --raw-output --raw-output0 --join-output --compact-output
		--color-output --monochrome-output --sort-keys --exit-status --ascii-output --unbuffered --stream --stream-errors
		--seq --args --jsonargs --binary --build-configuration`, operands: "skip read*", then: jq},
	"yq": {opts: `
		-[CcMNnPrRSejvVy] -i|--inplace|--in-place:edits -I|--indent= -o|--output-format= -p|--input-format= -f|--front-matter=
		--from-file=load! --arg+ --argjson+ --split-exp= --split-exp-file=read --expression=! --null-input --prettyPrint
		--unwrapScalar? --colors --no-colors --exit-status --verbose --no-doc --raw-output --yaml-output --slurp -s=
		--string-interpolation --security-disable-env-ops --security-disable-file-ops --header-preprocess --yaml-roundtrip
		--width= --indentless-lists --tab --slurpfile+read --rawfile+read --args --jsonargs
		--yaml-output-grammar-version=`, operands: "skip read*", then: yq},
	"xmllint xmlstarlet xml": {opts: `
		--xpath= --schema=read --relaxng=read --noout --format -o|--output=write --path= --shell:interactive-shell --html
		--nonet --noent:opaque-exec --xinclude:opaque-exec --load-trace --recover --encode=`, operands: "read*"},
	`
		csvcut csvgrep csvlook csvstat csvjson in2csv xsv mlr qsv dasel gron fx htmlq pup jo jc`: {operands: "skip*", opts: "-o|--output=write -I:discard", open: true, tags: "opaque-exec"},
	"iconv": {opts: `
		-[cls] -f|--from-code= -t|--to-code= -o|--output=write --list --silent --verbose --unicode-subst= --byte-subst=
		--widechar-subst=`, operands: "read*", stdin: 1},
	"dos2unix unix2dos":                     {opts: "-n|--newfile -c= -k -q", operands: "change*", open: true, stdin: 1},
	"envsubst":                              {opts: "-v|--variables", operands: "skip*", stdin: always},
	"spell aspell hunspell codespell typos": {opts: "-w|--write-changes -l= -d= -p=load -I=read -L= -S= --skip= --config=load", operands: "read*", open: true},
	"bat batcat highlight pygmentize ccat glow": {opts: `
		-[Aup] -n|--number -f|--force-colorization -l|--language= -r|--line-range= -H|--highlight-line= -m|--map-syntax=
		--theme= --style= --pager=exec --config-file=load --paging= --tabs= --wrap= --color= --decorations= --diff --plain
		--show-all --list-languages --list-themes -o=write -O= --file-name= -w= -x:opaque-exec`, open: true, operands: "read*", stdin: 1, tags: "pager"},
	"tokei cloc scc": {opts: "-o|--out|--output|--report-file=write --list-file=list", operands: "read*", open: true},
}

const rgOptions = `
	-[abcFHIilnNoPpqsSuUvVwx0.] -L|--follow:follows -A|--after-context= -B|--before-context= -C|--context= -E|--encoding= -e|--regexp=!
	-f|--file=read! -g|--glob= -j|--threads= -m|--max-count= -M|--max-columns= -r|--replace= -t|--type= -T|--type-not=
	-d|--max-depth= --maxdepth= --iglob= --ignore-file=read --pre=exec --pre-glob= --hostname-bin=exec --hyperlink-format=
	--color= --colors= --sort= --sortr= --type-add= --type-clear= --context-separator= --field-context-separator=
	--field-match-separator= --path-separator= --max-filesize= --dfa-size-limit= --regex-size-limit= --engine= --generate=
	-z|--search-zip:opaque-exec --hidden --files --files-with-matches --files-without-match --line-number --count
	--count-matches --ignore-case --smart-case --case-sensitive --fixed-strings --word-regexp --line-regexp --multiline
	--multiline-dotall --pcre2 --pretty --heading --json --vimgrep --column --only-matching --invert-match --quiet --stats
	--text --trim --unrestricted --null --null-data --passthru --passthrough --one-file-system --type-list
	--with-filename --byte-offset --crlf --mmap --include-zero --max-columns-preview --debug --trace --auto-hybrid-regex
	--unicode --ignore --messages --binary --glob-case-insensitive --ignore-file-case-insensitive --line-buffered
	--block-buffered --stop-on-nonmatch --pcre2-version --require-git --ignore-vcs --ignore-parent --ignore-global
	--ignore-dot --ignore-exclude --config`

// sums reads the names of the files to check from a file.
func sums(c *call) {
	if c.has("-c", "--check") {
		c.touch("read", Word{Dynamic: true}, "--check")
	}
}

// splitPrefix: the operand after the file is what the names of the parts begin with.
func splitPrefix(c *call) {
	if len(c.Operands) < 2 {
		c.touch("write", Word{Text: "xaa"}, "parts")
	}
}

// codeAndFiles are the programs in an option, or the first operand, and the other operands.
func (c *call) codeAndFiles(option string) (code, files []Word) {
	if !c.replaced && len(c.Operands) > 0 {
		return c.Operands[:1], c.Operands[1:]
	}
	return c.values(option), c.Operands
}

// grep searches the current folder if told to search folders, and none is named.
func grep(c *call) {
	if c.Recursive {
		c.included("--include")
	}
	switch _, files := c.codeAndFiles("-e"); {
	case len(files) > 0:
	case c.Recursive:
		c.touch("read", Word{Text: "."}, "folder")
	default:
		c.ReadsIn = true
	}
}

// included are patterns of the files that are searched in folders.
func (c *call) included(name string) {
	for _, w := range c.values(name) {
		if !strings.HasPrefix(w.Text, "!") {
			w.Glob = strings.ContainsAny(w.Text, "*?[")
			c.touch("read", w, name)
		}
	}
}

// rg searches the current folder, or its standard input.
func rg(c *call) {
	c.included("-g")
	c.included("--iglob")
	if c.has("--files", "--type-list") {
		for _, w := range c.Operands {
			c.touch("read", w, "argument")
		}
		return
	}
	if _, files := c.codeAndFiles("-e"); len(files) == 0 {
		c.touch("read", Word{Text: "."}, "folder")
		c.ReadsIn = true
	}
	c.Recursive = true
}

var (
	jqEnv  = regexp.MustCompile(`\benv\b|\$ENV\b`)
	jqLoad = regexp.MustCompile(`\b(import|include)\s*"|\$__prog`)
	yqEnv  = regexp.MustCompile(`\b(str)?env\s*\(|\benvsubst\b|\$ENV\b|\benv\b`)
	yqLoad = regexp.MustCompile(`\bload(_[a-z]+)?\s*\(|\bsystem\s*\(|\b(import|include)\s*"`)
)

// jq reads its filter.
func jq(c *call) {
	code, files := c.codeAndFiles("")
	c.filter(code, jqEnv, jqLoad)
	c.ReadsIn = c.ReadsIn || len(files) == 0 && !c.has("-n")
}

// yq has a filter, too, perhaps after a word.
func yq(c *call) {
	if words := c.Operands; len(words) > 0 && slices.Contains([]string{"e", "eval", "ea", "eval-all"}, words[0].Text) {
		c.Sub, c.Operands = words[0].Text, words[1:]
		c.Touches = slices.DeleteFunc(c.Touches, func(t Touch) bool { return len(words) > 1 && t.Word == words[1] }) // it was taken for a file
	}
	code, files := c.codeAndFiles("--expression")
	c.filter(code, yqEnv, yqLoad)
	if w, ok := c.value("--split-exp"); ok {
		w.Dynamic = true
		c.touch("write", w, "--split-exp")
	}
	c.ReadsIn = c.ReadsIn || len(files) == 0
}

// filter looks for what reaches out of a filter.
func (c *call) filter(code []Word, env, load *regexp.Regexp) {
	for _, w := range code {
		if env.MatchString(w.Text) {
			c.tag("dump-env")
		}
		if load.MatchString(w.Text) {
			c.tag("opaque-exec")
		}
		if w.Dynamic {
			c.unsure("dynamic filter")
		}
	}
}
