package walls

import "os"

// System returns a box with what nearly every command reads and uses. Callers add their own. Its
// /dev/shm is shared with other programs of the same user: Python's multiprocessing does not start
// without it.
func System() Box {
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
