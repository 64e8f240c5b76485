package program

import "strings"

// builtins are programs and builtins of the shell that do nothing with their arguments,
// or only something inside the shell itself.
var builtins = family{
	`
		echo printf true false : test [ [[ pwd seq id whoami groups users who w logname hostid arch nproc tty uptime sleep
		factor yes expr getconf locale which whereis type times wait jobs let cal ncal figlet cowsay lolcat toilet fortune
		banner tput clear reset stty tabs setterm dircolors errno ascii units uuidgen cksfv break continue return shift
		getopts ulimit umask exit logout unset readonly local declare typeset export set shopt caller dirs popd pushd cd chdir
		bg fg suspend name select function trap eval read mapfile readarray compgen  isatty`: {open: true},
	"source .": {operands: "script skip*", style: stop},
	"alias unalias hash enable bind complete compopt fc history": {open: true, opts: "-p=", tags: "shell-state"},
	"disown":   {tags: "longrun", open: true},
	"printenv": {opts: "-0", operands: "skip*", bare: "dump-env"},
	"date": {opts: `
		-[jnuRI] -d|--date= -f|--file=read -r|--reference=read -s|--set=:admin -v= --iso-8601? --rfc-3339= --rfc-email --utc
		--universal --debug --resolution`, operands: "skip*"},
	"hostname domainname": {opts: `
		-[aAdfiIsvyb] -F|--file=load:admin --fqdn --short --ip-address --all-ip-addresses --long --domain`, operands: "skip:admin*"},
	"ps":                {open: true, then: processes},
	"uname lsb_release": {open: true},
	`
		free vmstat iostat mpstat sar pidstat lscpu lsmem lsblk lspci lsusb lshw blkid dmidecode sensors nvidia-smi
		 lsmod modinfo lsns lslocks lsipc lslogins last lastlog pgrep pidof pstree pmap pwdx top htop btop atop
		iotop iftop nethogs glances neofetch fastfetch inxi hwinfo ipcs findmnt mountpoint  vmtouch slabtop tload`: {open: true, opts: "-o= -p= -u= -C= -t= -d= -n="},
	"dmesg": {opts: "-C|--clear:admin -c|--read-clear:admin -D:admin -E:admin -n=:admin -F=read", open: true},
	" pv":   {opts: "-f -o=write", operands: "read*", open: true, stdin: 1},
	"mesg write wall notify-send osd_cat say beep aplay paplay mpg123 play": {tags: "send", open: true},
	"tldr cheat apropos whatis manpath makewhatis mandb":                    {open: true},
	"gettext ngettext xgettext msgfmt msgmerge msginit":                     {opts: "-o=write -d=", operands: "read*", open: true},
}

// processes: e without a dash shows the variables of each process.
func processes(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "e") && strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			c.tag("dump-env")
		}
	}
}
