package walls

import (
	"os"
	"runtime"
)

// System returns a box with what nearly every command reads and uses. Callers add their own. Its
// /dev/shm is shared with other programs of the same user: Python's multiprocessing does not start
// without it.
func System() Box {
	if runtime.GOOS == "darwin" {
		return macOS()
	}
	b := Box{
		Read: []string{
			"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store",
			"/snap", "/proc",
			"/sys/devices", "/sys/fs/cgroup", "/sys/kernel/mm", "/run/systemd/resolve", "/run/resolvconf",
			"/var/lib/dpkg",
		},
		Write: []string{"/dev/shm"},
		// Terminals are not among them: those of others could be read and written. New ones
		// are handed out by the supervisor.
		Use: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
			"/dev/ptmx"},
		Net: NetNone,
	}
	if os.Geteuid() == 0 { // no other user could read these
		b.Deny = []string{
			"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
			"/etc/security/opasswd", "/etc/ssl/private",
			"/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
			"/etc/ssh/ssh_host_dsa_key",
			"/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections", "/etc/kubernetes",
			"/etc/letsencrypt", "/etc/docker/key.json",
		}
	}
	return b
}

// macOS is System for macOS, where the user's own programs lie in /opt and in Xcode. It leaves out the
// keychains of the system, which are for its services, and the folder for temporary files, which holds
// sockets and files of other programs.
func macOS() Box {
	b := Box{
		Read: []string{
			"/System", "/Library", "/usr", "/bin", "/sbin", "/etc", "/opt", "/nix/store",
			"/Applications/Xcode.app",
			"/var/select", "/var/db/dyld", "/var/db/timezone", "/var/db/xcode_select_link",
		},
		Use:  []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty"},
		Deny: []string{"/Library/Keychains"},
		Net:  NetNone,
	}
	if os.Geteuid() == 0 {
		b.Deny = append(b.Deny, "/etc/master.passwd", "/etc/sudoers", "/etc/sudoers.d", "/etc/krb5.keytab",
			"/var/db/dslocal",
			"/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key")
	}
	return b
}
