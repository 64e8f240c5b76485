package program

import "strings"

// builtins are programs and builtins of the shell that do nothing with their arguments,
// or only something inside the shell itself.
var builtins = family{
	"echo printf true false : test [ [[ pwd seq id whoami groups users who w logname hostid arch nproc tty uptime sleep factor yes expr getconf locale which whereis type times wait jobs let cal ncal figlet cowsay lolcat toilet fortune banner tput clear reset stty tabs setterm dircolors errno ascii units uuidgen cksfv break continue return shift getopts ulimit umask exit logout unset readonly local declare typeset export set shopt caller dirs popd pushd cd chdir bg fg suspend name select function trap eval read mapfile readarray compgen printenv-name isatty": {open: true, then: builtin},
	"source .": {operands: "script skip*", style: stop},
	"alias unalias hash enable bind complete compopt fc history": {open: true, opts: "-p=", tags: "shell-state"},
	"disown":              {tags: "longrun", open: true},
	"printenv":            {opts: "-0", operands: "skip*", then: dumpsIfBare},
	"date":                {opts: "-[jnuRI] -d|--date= -f|--file=read -r|--reference=read -s|--set=:admin -v= --iso-8601? --rfc-3339= --rfc-email --utc --universal --debug --resolution", operands: "skip*"},
	"hostname domainname": {opts: "-[aAdfiIsvyb] -F|--file=load:admin --fqdn --short --ip-address --all-ip-addresses --long --domain", then: adminOperands(0)},
	"uname lsb_release":   {open: true},
	"free vmstat iostat mpstat sar pidstat lscpu lsmem lsblk lspci lsusb lshw blkid dmidecode sensors nvidia-smi numactl-show lsmod modinfo lsns lslocks lsipc lslogins last lastlog pgrep pidof pstree pmap pwdx top htop btop atop iotop iftop nethogs glances neofetch fastfetch inxi hwinfo ipcs findmnt mountpoint swapon-show vmtouch slabtop tload": {open: true, opts: "-o= -p= -u= -C= -t= -d= -n="},
	"ps":              {open: true, opts: "-o= -p= -u= -U= -C= -t= -g= -G= -s= -O= -q= --sort= --format= --pid= --ppid= --user= --group= --sid= --tty=", then: psEnv},
	"dmesg":           {opts: "-C|--clear:admin -c|--read-clear:admin -D:admin -E:admin -n=:admin -F=read", open: true},
	"stdin-reader pv": {opts: "-f -o=write", operands: "read*", open: true, stdin: 1},
	"mesg write wall notify-send osd_cat say beep aplay paplay mpg123 play": {tags: "send", open: true},
	"tldr cheat apropos whatis manpath makewhatis mandb":                    {open: true},
	"gettext ngettext xgettext msgfmt msgmerge msginit":                     {opts: "-o=write -d=", operands: "read*", open: true},
}

// builtin: export without arguments prints what a program would inherit. Subscripts in
// names are the business of who knows the shell.
func builtin(c *call) {
	switch c.name {
	case "export", "declare", "typeset", "set":
		if len(c.args) == 0 || c.name != "set" && len(c.Operands) == 0 && has(c, 'p', "") {
			c.tag("dump-env")
		}
	case "read", "mapfile", "readarray", "select":
		c.ReadsIn = true
	}
}

// psEnv: the letter e of BSD shows the variables of processes: ps eww, ps auxe.
func psEnv(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "e") && strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			c.tag("dump-env")
		}
	}
}

// dumpsIfBare: all variables are printed, unless one is named.
func dumpsIfBare(c *call) {
	if len(c.Operands) == 0 {
		c.tag("dump-env")
	}
}
