package program

// vcs are version control programs.
var vcs = family{
	"git": {opts: `
		-C=dir -c= --config-env=:opaque-exec --exec-path?:opaque-exec --git-dir=read:opaque-exec --work-tree=read:opaque-exec
		--namespace= --super-prefix= --attr-source= -p|--paginate:pager -P|--no-pager --bare --no-replace-objects
		--literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --html-path --man-path
		--info-path --list-cmds= -v|--version -h|--help:pager`, then: gitConfig, open: true, own: true, subs: gitSubs},
	"gh":   {opts: "-R|--repo= --hostname= --help", open: true, subs: ghSubs},
	"glab": {opts: "-R|--repo=", open: true, tags: "publish"},
	"hg": {opts: "--config=:opaque-exec --config-file=load -R|--repository=dir --cwd=dir -q -v -y", open: true, subs: []sub{
		{`
		status|st log|history diff annotate|blame branches branch tags bookmarks|bookmark heads parents tip summary|sum cat
		files|locate manifest identify|id paths root showconfig|config help version incoming|in outgoing|out grep add
		addremove commit|ci init update|up|checkout pull clone merge copy|cp rename|mv graft resolve bisect archive bundle
		export import`, row{}},
		{"push email", row{tags: "publish"}}, {"revert strip rollback purge forget remove|rm", row{tags: "discard"}}}},
	"git-lfs":                     {open: true, subs: []sub{{"ls-files status env version pull fetch checkout track untrack", row{}}, {"push", row{tags: "publish"}}}},
	"pre-commit lefthook husky":   {tags: "workspace-code", opts: "-c|--config=load", open: true},
	"jj sl svn tig gitui lazygit": {tags: "unlisted-sub", open: true},
}

// Options that git log, diff and show share.
const gitDiff = `
	-O= -S= -G= -U= -n|--max-count= -L= -C? -M? -B? -l= -X? --output=write --ext-diff:opaque-exec --textconv:opaque-exec
	--format= --pretty= --diff-filter= --color? --since= --after= --until= --before= --author= --committer= --grep=
	--stat? --word-diff? --no-index --src-prefix= --dst-prefix= --relative? --skip= --abbrev? --date= --branches? --tags?
	--remotes? --glob= --exclude= --decorate? --ignore-submodules? --submodule? --find-object= --inter-hunk-context=
	--contents=read -s -f|--follow`

const gitMessage = "-m|--message= -F|--file=read -t|--template=read -e|--edit:editor -S?"

const gitTransfer = `
	-u|--upload-pack=sh --receive-pack=sh --exec=sh --server-option= -b|--branch= --depth= -j|--jobs= --filter=
	--shallow-since= --shallow-exclude= --refmap= --negotiation-tip= --recurse-submodules? -s|--strategy=
	-X|--strategy-option=`

var gitSubs = []sub{
	{"log show shortlog whatchanged reflog range-diff rev-list diff-tree diff-index diff-files diff", row{opts: gitDiff, tags: "pager", then: gitHistory}},
	{"blame annotate", row{opts: gitDiff, tags: "pager", then: gitHistory}},
	{`
		status add ls-files ls-tree rev-parse describe merge-base name-rev var count-objects fsck check-ignore
		check-attr check-ref-format show-ref show-branch for-each-ref symbolic-ref verify-commit verify-tag version column
		stripspace get-tar-commit-id cherry merge-tree rerere update-index write-tree commit-tree mktag
		mktree patch-id  sparse-checkout pack-refs repack update-server-info 		show-index fmt-merge-msg prune-packed gc`, row{opts: `
		--pathspec-from-file=read --template=load -F=read --batch-all-objects --filters:opaque-exec --textconv:opaque-exec
		-X=read --exclude-from=read --exclude= -x=`}},
	{"cat-file", row{opts: "-p -t -s -e --batch --batch-check --batch-all-objects --filters:opaque-exec --textconv:opaque-exec --path=", then: gitHistory}},
	{"maintenance", row{subs: []sub{{"run", row{}}, {"*", row{tags: "schedule"}}}}},
	{"checkout-index", row{opts: "-a -f -q -u -n -z --stdin --temp --stage= --prefix=write"}},
	{"read-tree", row{opts: "-m -i -v -u:discard -n --reset:discard --prefix= --index-output=write --empty --no-sparse-checkout"}},
	{"merge-file", row{opts: "-L= -p|--stdout:looks -q --object-id --diff3 --zdiff3 --ours --theirs --union --marker-size=", operands: "change read*"}},
	{"interpret-trailers", row{opts: "--in-place:edits --trailer= --where= --if-exists= --if-missing= --parse --only-trailers --unfold", operands: "read*"}},
	{"mailinfo", row{opts: "-k -b -u -n -m --encoding= --quoted-cr= --scissors", operands: "write*"}},
	{"mailsplit", row{opts: "-o=write -d= -f= -b", operands: "read*"}},
	{"bugreport diagnose", row{opts: "-o|--output-directory=write -s|--suffix= --diagnose? --mode="}},
	{"hash-object", row{opts: "-t= -w --stdin:stdin --path=", operands: "read*"}},
	{"grep", row{opts: `
		-O|--open-files-in-pager?sh:opaque-exec -f=read! -e=! --textconv:opaque-exec -A= -B= -C= -m= --threads= --max-depth=
		--no-index:recursive --color?`, tags: "pager", then: gitHistory}},
	{"commit merge tag notes cherry-pick revert", row{opts: gitMessage + `
		-C|--reuse-message= -c|--reedit-message= --author= --date= --fixup= --squash= --trailer= --cleanup= -u|--local-user=
		-s|--signoff? -X|--strategy-option= --strategy= --pathspec-from-file=read -d|--delete:discard --gpg-sign? --sort=
		--format= --contains= --points-at= -n?`}},
	{"branch", row{opts: `
		-d|--delete -D:discard -m|--move -M:discard -c|--copy -C:discard -f|--force:discard -u|--set-upstream-to= -t|--track?
		--edit-description:editor --contains= --no-contains= --merged? --no-merged? --sort= --points-at= --format= --color?
		--column? --abbrev?`}},
	{"checkout", row{opts: `
		-b= -B=:discard --orphan= -f|--force:discard --conflict= -t|--track? --pathspec-from-file=read:discard -p|--patch
		-m|--merge`, then: gitCheckout}},
	{"restore", row{opts: "-s|--source= -S|--staged:!discard -W|--worktree:discard --pathspec-from-file=read --conflict=", tags: "discard"}},
	{"switch", row{opts: "-c|--create= -C|--force-create=:discard -f|--force:discard --discard-changes:discard --orphan= -t|--track? --conflict="}},
	{"reset", row{opts: "--hard:discard --merge:discard --keep --soft --mixed --pathspec-from-file=read"}},
	{"clean", row{opts: "-n|--dry-run:!discard,looks -d:recursive -f|--force -x -X -q -i|--interactive -e|--exclude=", operands: "delete*", tags: "discard", then: gitClean}},
	{"stash", row{opts: gitDiff + " -m|--message= --pathspec-from-file=read", subs: []sub{{"drop clear", row{tags: "discard"}}, {"*", row{}}}}},
	{"rm", row{opts: "-r:recursive -f|--force -n|--dry-run:looks --cached:looks -q --pathspec-from-file=read", operands: "delete*"}},
	{"mv", row{opts: "-f -n -k -v", operands: "move* target"}},
	{"clone", row{opts: gitTransfer + `
		-c|--config= --template=load --reference=read --reference-if-able=read --separate-git-dir=write --bundle-uri=url
		-o|--origin= --dissociate --revision=`, operands: "repo write", then: gitClone}},
	{"fetch pull ls-remote", row{opts: gitTransfer + " -o= -r|--rebase? --set-upstream --multiple --all", operands: "repo skip*"}},
	{"push", row{opts: `
		--receive-pack|--exec=sh --repo= -o|--push-option= --recurse-submodules= --signed? -f|--force:discard
		--force-with-lease?:discard -d|--delete:discard --mirror:discard --prune:discard -n|--dry-run`, operands: "repo skip*", tags: "publish", then: gitPush}},
	{"remote", row{opts: "-v|--verbose -t= -m= -f --tags --mirror?", subs: []sub{
		{"add set-url", row{operands: "repo*"}}, {"remove|rm rename prune", row{tags: "config-or-install"}}, {"*", row{}}}}},
	{"init", row{opts: "--template=load --separate-git-dir=write -b|--initial-branch= --object-format= --shared? --bare -q", operands: "write"}},
	{"config", row{opts: `
		-f|--file=read --blob= --type= --default= --global --system --local --worktree -l|--list:looks
		--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool:looks --add:config-or-install --unset:config-or-install
		--unset-all:config-or-install --replace-all:config-or-install --rename-section:config-or-install
		--remove-section:config-or-install -e|--edit:editor,config-or-install --name-only --show-origin --show-scope -z
		--includes --bool --int --path`, then: gitSetting}},
	{"rebase", row{opts: `
		-x|--exec=sh -i|--interactive:editor --edit-todo:editor --onto= -s|--strategy= -X|--strategy-option= --root --abort
		--continue --skip --quit --autosquash -C? --whitespace= --empty= -S?`}},
	{"bisect", row{subs: []sub{{"run", row{operands: "run", tags: "opaque-exec"}}, {"*", row{}}}}},
	{"submodule", row{opts: "-q|--quiet --cached", subs: []sub{
		{"foreach", row{opts: "--recursive", operands: "line", tags: "opaque-exec"}}, {"add set-url", row{operands: "repo*"}},
		{"deinit", row{tags: "discard"}}, {"*", row{}}}}},
	{"worktree", row{opts: "--reason= --expire=", subs: []sub{
		{"add", row{opts: "-b= -B= --detach --checkout --lock --orphan", operands: "write repo"}}, {"move", row{operands: "move write"}},
		{"remove", row{opts: "-f|--force:discard", operands: "delete"}}, {"*", row{}}}}}, // without force, it keeps what is not committed
	{"archive", row{opts: "-o|--output=write --remote=:remote --exec=sh --format= --prefix= --add-file=read --add-virtual-file="}},
	{"bundle", row{subs: []sub{{"create", row{operands: "write skip*"}}, {"*", row{operands: "read skip*"}}}}},
	{"format-patch", row{opts: gitDiff + `
		-o|--output-directory=write --cover-letter --signature-file=read -v= --to= --cc= --in-reply-to= --stdout`, then: gitHistory}},
	{"apply", row{opts: `
		--unsafe-paths:absolute-extract --directory=write -p= -C= --include= --exclude= --whitespace= --check --stat --numstat
		--summary -R|--reverse --reject -3|--3way --cached --index --build-fake-ancestor=write`, operands: "read*", stdin: 1}},
	{"am", row{opts: "--directory=write -p= --include= --exclude= --whitespace= --patch-format= -C=", operands: "read*"}},
	{"difftool mergetool", row{opts: "-x|--extcmd=sh -t|--tool= -g|--gui -d|--dir-diff", tags: "opaque-exec"}},
	{"filter-branch", row{opts: `
		--setup=sh --env-filter=sh --tree-filter=sh --index-filter=sh --parent-filter=sh --msg-filter=sh --commit-filter=sh
		--tag-name-filter=sh --subdirectory-filter= --original= -d=write -f`, tags: "discard opaque-exec"}},
	{"update-ref prune replace filter-repo fast-import", row{tags: "discard"}},
	{"fast-export", row{}},
	{"lfs", row{subs: []sub{{"ls-files status env version pull fetch checkout track untrack install", row{}}, {"push", row{tags: "publish"}}}}},
	{"help", row{tags: "pager"}},
	{"send-email request-pull imap-send svn p4", row{tags: "publish opaque-exec"}},
	{"credential credential-store credential-cache", row{tags: "dump-env"}},
}

var ghSubs = []sub{
	{"pr issue release repo run workflow gist label cache project", row{subs: []sub{
		{"list|ls view status diff checks download watch", row{opts: "-O|--output=write -D|--dir=write -p= -w|--web"}},
		{"checkout|co", row{tags: "changes"}}, {"clone", row{operands: "skip write", tags: "changes"}},
		{`
		create|new comment review edit close reopen merge ready upload delete develop fork rename archive sync transfer lock
		unlock pin unpin run rerun cancel enable disable add remove set`, row{opts: "-F|--body-file|--notes-file=read", tags: "publish"}}}}},
	{"search status browse version help completion", row{}},
	{"api", row{opts: "-X|--method= -f|--raw-field= -F|--field= --input=read -H|--header= -q|--jq= -t|--template= --cache= -p=", then: ghAPI}},
	{"auth", row{subs: []sub{{"status", row{}}, {"token", row{tags: "dump-env"}}, {"login logout refresh setup-git switch", row{tags: "config-or-install"}}}}},
	{"secret variable ssh-key gpg-key", row{subs: []sub{{"list|ls get", row{}}, {"set delete|remove add", row{opts: "-f|--env-file=read", tags: "publish"}}}}},
	{"config alias extension", row{subs: []sub{{"list|ls get search", row{}}, {"set install upgrade remove delete create import exec", row{tags: "config-or-install opaque-exec"}}}}},
	{"codespace copilot", row{tags: "remote"}},
}
