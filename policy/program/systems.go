package program

import "strings"

// systems are programs that change the machine: its power, disks, services, accounts.
var systems = family{
	"shutdown reboot halt poweroff telinit init rtcwake kexec pm-suspend pm-hibernate systemd-inhibit": {tags: "power", open: true},
	"runlevel": {},
	"systemctl": {opts: `
		-H|--host=:remote -M|--machine= -t|--type= -p|--property= -n|--lines= -o|--output= -s|--signal= --state= --root=write
		--job-mode= --kill-who= --what= --user --system --no-pager -l -a -q -f -r --now`, open: true, subs: serviceSubs},
	"service rc-service rc-update chkconfig update-rc.d initctl sv svc launchctl supervisorctl pm2 forever monit": {tags: "service", open: true},
	"loginctl  timedatectl localectl bootctl coredumpctl systemd-analyze busctl udevadm oomctl": {open: true, subs: []sub{
		{`
		show* list* status* info* user-* session-* time* blame* critical* plot* dump* cat* help* tree* introspect* get* verify*
		security* calendar* dot* monitor*`, row{}},
		{"poweroff* reboot* suspend* hibernate* halt* terminate* kill*", row{tags: "power service"}}, {"*", row{tags: "admin"}}}},
	"journalctl": {opts: `
		-u|--unit= -n|--lines= -p|--priority= -S|--since= -U|--until= -o|--output= -D|--directory=read --file=read --root=read
		-t= -b? -g= -k -f -e -x -r --rotate:admin --vacuum-size=:discard --vacuum-time=:discard --vacuum-files=:discard
		--flush:admin --sync --setup-keys:admin --no-pager`, open: true, tags: "pager"},
	"logrotate": {opts: "-s=write -l=write -m=exec -d -f -v", operands: "load", tags: "admin"},
	`
		mkfs mke2fs mkdosfs fsck e2fsck tune2fs resize2fs xfs_growfs xfs_repair btrfs zfs zpool mdadm lvcreate lvremove
		lvextend lvresize vgcreate vgremove vgextend pvcreate pvremove cfdisk wipefs blkdiscard cryptsetup mkswap swapoff
		hdparm nvme badblocks debugfs dumpe2fs partprobe kpartx dmsetup growpart efibootmgr grub-install grub-mkconfig
		update-grub update-initramfs dracut flashrom fstrim`: {tags: "disk", operands: "write*", open: true},
	"fdisk sfdisk parted gdisk": {opts: "-l|--list:!disk,looks", tags: "disk", operands: "write*"},
	"sgdisk":                    {opts: "-p|--print:!disk,looks", tags: "disk", operands: "write*"},
	"swapon":                    {opts: "-s|--show?:!disk,looks --summary:!disk,looks", tags: "disk", operands: "write*", open: true},
	"mount":                     {opts: "-o|--options= -t|--types= -l -a:disk -B -M -R -r -w -v -n -L= -U= -T=read", operands: "write:disk*"},
	"umount losetup pivot_root switch_root fusermount fusermount3": {tags: "disk", open: true, operands: "write*"},
	`
		useradd usermod userdel adduser deluser addgroup delgroup groupadd groupmod groupdel passwd chpasswd chage gpasswd
		vipw vigr visudo chsh chfn pwconv newusers pam-auth-update`: {tags: "admin", open: true},
	`
		insmod modprobe rmmod depmod kmod setenforce setsebool semanage restorecon auditctl apparmor_parser aa-complain
		aa-disable chcon hwclock ntpdate chronyc adjtimex ldconfig update-ca-certificates authconfig grubby tuned-adm cpupower
		numactl x86_energy_perf_policy setserial setkeycodes loadkeys sysrq`: {tags: "admin", open: true},
	"sysctl": {opts: `
		-a -n -e -N -q -r= -b -w|--write:admin -p|--load?:admin --system:admin -[AXfoxdV] --all --deprecated --dry-run
		--binary --ignore --names --values --pattern= --quiet`, operands: "skip*", then: sysctl},
	"getenforce sestatus aa-status selinuxenabled": {},
	"kill": {opts: "-l|--list?:!signal,looks -L:!signal,looks -s|--signal= -n= -q= -p --timeout+ --verbose", tags: "signal", then: kill, open: true},
	"pkill killall skill snice xkill tkill": {opts: `
		-u|--euid=:signal-all -U|--uid=:signal-all -g= -G= -P= -s= -t= -F=read -f -x -n -o -v -e -c -i --signal= -y= -Z= -l`, operands: "skip*", tags: "signal", then: kill, open: true},
	"renice":                            {opts: "-n= -p= -g= -u=", tags: "signal"},
	"openclaw sidecar gpt-oss-executor": {tags: "self-config", open: true},
	`
		ansible ansible-playbook ansible-pull ansible-console puppet chef-client chef-solo salt salt-call  pssh pdsh
		clush dsh  winrm evil-winrm`: {tags: "remote opaque-exec", open: true},
	"logger ": {opts: "-f=read -n= -P= -p= -t= -s -i", tags: "send"},
	"xdotool wmctrl xclip xsel wl-copy wl-paste pbcopy pbpaste gsettings dconf xrandr xset setxkbmap": {tags: "config-or-install", open: true},
}

var serviceSubs = []sub{
	{`
		status show cat list-units list-unit-files list-timers list-sockets list-dependencies list-jobs list-machines
		list-automounts list-paths is-active is-enabled is-failed is-system-running get-default show-environment help`, row{tags: "pager"}},
	{`
		start stop restart reload try-restart reload-or-restart try-reload-or-restart enable disable reenable mask unmask
		preset preset-all daemon-reload daemon-reexec set-property set-default edit revert reset-failed kill clean freeze thaw
		cancel set-environment unset-environment import-environment add-wants add-requires bind mount-image log-level
		service-watchdogs`, row{tags: "service"}},
	{"link", row{tags: "service config-or-install", operands: "load*"}},
	{`
		reboot poweroff halt kexec soft-reboot suspend hibernate hybrid-sleep suspend-then-hibernate emergency rescue isolate
		exit switch-root default`, row{tags: "service power"}},
}

func sysctl(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "=") {
			c.tag("admin")
		}
	}
}

// kill ends processes; 1 is the first one, and -1 are all of them.
func kill(c *call) {
	for i, w := range c.args {
		if !c.looks && (w.Text == "-1" && (i > 0 || len(c.args) == 1) || w.Text == "1" && c.name == "kill") {
			c.tag("signal-all")
		}
	}
}
