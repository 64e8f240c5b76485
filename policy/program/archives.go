package program

import "strings"

// archives are programs that pack and unpack.
var archives = family{
	"tar gtar bsdtar": {opts: tarOptions, style: bundle, then: tar},
	"zip": {opts: `
		-[0123456789@ABcdDefFghjJklLmoqQSTuUvwXyz] -sf -FS -TT=exec:opaque-exec --unzip-command=exec:opaque-exec
		-b|--temp-path=write -n|--suffixes= -O|--output-file=write -P|--password= -s|--split-size= -t|--from-date= -tt=
		--before-date= -x|--exclude= -i|--include= -Z= --move --test --quiet --junk-paths --symlinks
		--encrypt --update --freshen --delete --verbose --filesync --grow --no-dir-entries --no-extra --log-path=write
		--out=write -r|--recurse-paths:recursive`, operands: "write read*", then: zip},
	"unzip":   {opts: "-[lptvzZ]:looks -[abBcCDfjLMnoqTuUVWXY:12hms] -K:setuid -d=write -x= -P= -I= -O=", operands: "read write*", then: unzip},
	"zipinfo": {opts: "-[12hlmsvztTCMZ] -x= -P= -I= -O=", operands: "read skip*"},
	"gzip gunzip pigz bzip2 bunzip2 pbzip2 xz unxz lzma unlzma zstd unzstd pzstd lz4 brotli compress uncompress lzip": {opts: `
		-[0123456789adefhkLnNqTvV] -c|--stdout|--to-stdout:looks -t|--test:looks -l|--list:looks -r|--recursive:recursive -S|--suffix= -o|--output=write -b= -p= -D=read --rm --decompress --uncompress
		--compress --keep --force --fast? --best --quiet --verbose --name --no-name
		--extreme --threads= --format= --check= --memlimit= --ultra --long? --adapt? --rsyncable --processes= --single-stream
		--files?list --files0?list --block-size= --output-dir-flat=write -[zsHCiB] -M= --synchronous --no-progress --long-help
		--priority= --exclude-compressed --stream-size= --size-hint= --train --maxdict= --dictID= --filelist=list
		--output-dir-mirror=write --patch-from=read --single-thread --auto-threads= --content-size --no-check --sparse
		--pass-through --show-default-cparams --patch-apply`, operands: "change*", stdin: 1},
	"zcat bzcat xzcat zstdcat lzcat gzcat zless zmore bzless xzless": {opts: "-[fqvdcklntr]", operands: "read*", stdin: 1},
	"7z 7za 7zr p7zip": {opts: `
		-[y] -o=write -p= -t= -m= -x= -i= -si? -so -r -bd -bb? -bso? -aoa -aos -aou -aot -w?`, operands: "skip write read*", tags: "", open: true},
	"rar unrar unar lsar": {operands: "skip read write*", open: true},
	"cpio": {opts: `
		-[0aABdfLmnopPrStuvVz] -i|--extract:absolute-extract -C|--io-size= -D|--directory=dir -E|--pattern-file=read -F|--file=write -H|--format= -I=read
		-M|--message= -O=write -R|--owner= --rsh-command=exec --to-stdout --make-directories --create --list
		--pass-through --no-absolute-filenames --absolute-filenames:absolute-extract --null --quiet --verbose --unconditional
		--preserve-modification-time`, operands: "write*", stdin: always},
	"ar ranlib": {operands: "skip change read*"},
	"jar": {opts: `
		-C+read -f|--file=change --manifest=read -m= -e= --create --list --extract --update -[ctuxidvM0pnk]`, tags: "follows", open: true, style: bundle, operands: "change read*"},
	"xar pax shar uuencode uudecode": {tags: "opaque-exec", operands: "change*"},
	"dpkg-deb":                       {opts: "-c -I -f -x -X -e -b --build --contents --info --extract", operands: "read write*", open: true},
	"rpm2cpio":                       {operands: "read"},
	"md5deep hashdeep":               {opts: "-r:recursive", operands: "read*", open: true},
}

const tarOptions = `
	-s --exclude-caches-all --exclude-caches-under --exclude-ignore-recursive= --exclude-tag-all= --exclude-tag-under=
	--verbatim-files-from --unquote --ignore-command-error --usage -[ijJklmnopRSvwWzZaBGU] -h|--dereference:follows
	-P|--absolute-names:absolute-extract -x|--extract|--get -c|--create -t|--list -r|--append -u|--update
	-A|--catenate|--concatenate -d|--diff|--compare --delete -O|--to-stdout -f|--file= -C|--directory=
	-b|--blocking-factor= -g|--listed-incremental=write -H|--format= -I|--use-compress-program=exec
	-F|--info-script|--new-volume-script=sh -K|--starting-file= -L|--tape-length= -M|--multi-volume
	-N|--newer|--after-date= -T|--files-from=list -V|--label= -X|--exclude-from=read --checkpoint-action= --checkpoint?
	--to-command=sh --rsh-command=exec --rmt-command=exec:remote --exclude= --exclude-ignore= --exclude-tag= --exclude-vcs
	--exclude-vcs-ignores --exclude-caches --exclude-backups --transform|--xform= --strip-components= --one-top-level?
	--owner= --group= --owner-map=read --group-map=read --mode= --mtime= --sort= --suffix= --backup? --index-file=write
	--volno-file=write --newer-mtime= --record-size= --level= --quoting-style= --quote-chars= --pax-option= --warning=
	--totals? --occurrence? --remove-files --sparse --sparse-version= --hole-detection= --add-file=read --verbose --verify
	--gzip|--gunzip|--ungzip --bzip2 --xz --lzma --lzip --lzop --zstd --compress --auto-compress --keep-old-files
	--keep-newer-files --skip-old-files --overwrite --overwrite-dir --unlink-first --recursive-unlink --no-overwrite-dir
	--preserve-permissions --same-permissions --same-owner --numeric-owner --preserve-order --same-order --touch
	--hard-dereference --one-file-system --seek --ignore-failed-read --ignore-zeros --ignore-case
	--wildcards --wildcards-match-slash --anchored --recursion --null --acls --xattrs --xattrs-include= --xattrs-exclude=
	--selinux --full-time --show-defaults --show-transformed-names --show-stored-names --show-omitted-dirs --utc
	--block-number --check-links --interactive --confirmation --posix --portability --old-archive
	--delay-directory-restore --force-local --read-full-records --set-mtime-command=sh --clamp-mtime --atime-preserve?
	--keep-directory-symlink --sequential --check-device --incremental --restrict --test-label`

// tar writes an archive or reads one; -C counts for what follows it.
func tar(c *call) {
	op := "read"
	if c.has("-c", "-r", "-u", "-A", "--delete") {
		op = "write"
	}
	for i := range c.found {
		switch f := &c.found[i]; f.name {
		case "-f":
			if remoteName(f.value.Text) && !c.has("--force-local") {
				c.tag("remote")
			}
			c.touch(op, f.value, f.as)
		case "--checkpoint-action":
			if line, ok := strings.CutPrefix(f.value.Text, "exec="); ok || f.value.Dynamic {
				c.execFlag(f.as)
				c.code(rest(f.value, line), "tar --checkpoint-action")
			}
		}
	}
	folders := c.values("-C")
	if len(folders) > 1 {
		c.unsure("several folders")
	}
	folder := append(folders, Word{Text: "."})[max(0, len(folders)-1)]
	if c.has("-x") && !c.has("-O", "--to-command") {
		c.extracted(folder)
	} else {
		c.untag("absolute-extract")
	}
	if op == "read" {
		return
	}
	c.Recursive = true
	for _, w := range c.Operands {
		if len(folders) > 0 {
			w = in(folder, w)
		}
		c.touch("read", w, "argument")
		if c.has("--remove-files") {
			c.touch("delete", w, "argument")
		}
	}
}

// extracted are the files that are named, and others.
func (c *call) extracted(folder Word) {
	if top, ok := c.value("--one-top-level"); ok {
		folder = in(folder, top)
		c.touch("write", folder, "--one-top-level")
	}
	for _, w := range c.Operands {
		c.touch("write", in(folder, w), "member")
	}
	c.touch("write", Word{Text: strings.TrimSuffix(folder.Text, "/") + "/extracted", Dynamic: folder.Dynamic, Begins: folder.Begins}, "extract")
}

// zip deletes what it has packed, with -m. It packs what links lead to.
func zip(c *call) {
	c.Follows = c.Recursive && !c.has("-y", "--symlinks")
	if c.has("-m", "--move") && len(c.Operands) > 1 {
		for _, w := range c.Operands[1:] {
			c.touch("delete", w, "argument")
		}
	}
}

// unzip writes to the folder of an option, or to the current one.
func unzip(c *call) {
	if !c.looks && !c.has("-d") {
		c.touch("write", Word{Text: "./extracted", Begins: true}, "extract")
	}
	if c.has("-:") {
		c.tag("absolute-extract")
	}
}

// patches: without a file the patch names those that are changed.
func patches(c *call) {
	if len(c.Operands) == 0 {
		c.touch("write", Word{Text: "patched"}, "patch")
	}
}
