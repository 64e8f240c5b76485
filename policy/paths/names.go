package paths

import "strings"

// absolute are special places of a system.
var absolute = grow([]kind{
	{Secret, Secret, `etc/shadow* etc/gshadow* etc/sudoers* etc/security/opasswd etc/ssh/ssh_host_* etc/ssl/private etc/pki/tls/private
		etc/letsencrypt/live etc/letsencrypt/archive etc/letsencrypt/accounts etc/krb5.keytab etc/wireguard etc/ipsec.secrets etc/ipsec.d/private etc/swanctl etc/ppp/chap-secrets etc/ppp/pap-secrets
		etc/postfix/sasl* etc/sasldb* etc/exim4/passwd* etc/dovecot/passwd* etc/dovecot/users etc/mail/authinfo* etc/msmtprc etc/ssmtp etc/fetchmailrc
		etc/mosquitto/passwd* etc/mosquitto/pwfile etc/squid/passwd* etc/x11vnc* etc/davfs2/secrets etc/rsyncd.secrets etc/cifs* etc/smbcredentials
		etc/samba/smbpasswd etc/samba/private etc/samba/passdb.tdb etc/sssd etc/ldap.secret etc/libnss-ldap.secret etc/pam_ldap.secret etc/ceph
		etc/munge etc/corosync/authkey etc/pacemaker/authkey etc/luks etc/cryptsetup-keys.d etc/keys etc/iwd etc/cloudflared etc/pve/priv
		etc/apt/auth.conf* etc/zypp/credentials* etc/s3cfg etc/boto.cfg etc/passwd-s3fs etc/passwd-webdavfs etc/webmin/miniserv.users etc/ntp.keys
		etc/ntpsec/ntp.keys etc/chrony.keys etc/chrony/chrony.keys etc/nut/upsd.users etc/gitlab/gitlab-secrets.json etc/vault* etc/salt/pki
		etc/puppetlabs/puppet/ssl/private_keys etc/stunnel etc/phpmyadmin/config-db.php etc/dbconfig-common etc/bluetooth/keys etc/tpm2
		etc/networkmanager/system-connections etc/wpa_supplicant* etc/openvpn etc/kubernetes etc/rancher etc/docker/key.json etc/mysql/debian.cnf
		etc/machine-key etc/master.passwd etc/spwd.db root run/secrets var/run/secrets run/credentials
		var/lib/kubelet var/lib/rancher var/lib/docker var/lib/containerd var/lib/etcd var/lib/sss var/lib/samba/private var/lib/systemd/random-seed
		var/lib/mysql var/lib/postgresql var/db/dslocal var/backups private/etc/master.passwd private/var/db library/keychains boot/grub/user.cfg`},
	{"", Persist, `etc/cron* etc/anacrontab etc/at.allow etc/passwd* etc/group* etc/profile* etc/bash* etc/zsh* etc/csh* etc/environment etc/skel
		etc/rc* etc/init* etc/inittab etc/systemd etc/ld.so* etc/pam* etc/security etc/ssh etc/hosts etc/resolv.conf etc/nsswitch.conf etc/apt
		etc/modules* etc/modprobe.d etc/udev etc/xdg/autostart etc/update-motd.d etc/logrotate.d etc/gitconfig etc/crypttab etc/fstab etc/sysctl*
		etc/polkit-1 etc/dbus-1 etc/docker etc/containers etc/alternatives etc/ca-certificates* etc/python* etc/npmrc var/spool/cron
		var/spool/at usr/lib/systemd lib/systemd usr/local/lib/systemd run/systemd usr/share/dbus-1 usr/lib/udev lib/udev boot
		library/launchagents library/launchdaemons library/startupitems system/library/launch* private/etc private/var/at`},
})

// anywhere are special names wherever they stand; what is below them is of their kind.
var anywhere = grow([]kind{
	{Secret, Secret, `.ssh .aws .azure .gnupg .gpg .pki .kube .minikube .oci .aliyun .bluemix .ibmcloud .boto .gsutil .s3cfg .s3ql .step .acme.sh .age
		.password-store .1password .op .bitwarden .lpass .keepass .keepassxc .git-credentials .dockercfg .docker/config.json .docker/contexts
		.docker/trust .netrc _netrc .authinfo* .pgpass .my.cnf .mylogin.cnf .mongorc.js .dbshell .s3passwd .smbcredentials .vault-token .vault_pass*
		.terraform.d/credentials* .terraformrc .chef .ngrok .ngrok2 .cloudflared .wrangler/config .fly .railway .supabase/access-token .netlify/config.json
		.gem/credentials .cargo/credentials* .m2/settings* .gradle/gradle.properties .nuget/nuget.config .composer/auth.json .bundle/config
		.kaggle .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .subversion/auth .android/adbkey .android/debug.keystore
		.config/gcloud .config/gh .config/hub .config/glab-cli .config/git/credentials .config/op .config/doctl .config/hcloud .config/linode-cli
		.config/rclone .rclone.conf .config/containers/auth.json .config/configstore .config/heroku .config/netlify .config/pypoetry/auth.toml
		.config/composer/auth.json .config/keepassxc .config/bitwarden* .config/sops .config/age .config/stripe .config/ngrok .config/solana
		.config/github-copilot .config/openai .config/anthropic .config/1password .config/azure .config/vault .config/filezilla .config/remmina
		.config/google-chrome* .config/chromium .config/bravesoftware .config/microsoft-edge* .config/opera* .config/vivaldi .config/slack
		.config/discord .config/signal .config/evolution .mozilla .thunderbird .librewolf .waterfox snap/firefox snap/chromium snap/thunderbird
		.local/share/keyrings .local/share/kwalletd .local/share/fish/fish_history .local/share/gnome-keyring .local/share/evolution .local/share/zsh
		.var/app .openai .anthropic .claude.json* .claude/.credentials.json .claude/projects .claude/history.jsonl .codex/auth.json .codex/history.jsonl
		.codex/sessions .gemini/oauth_creds.json .ethereum .bitcoin .electrum .solana .near-credentials .gnome2/keyrings
		library/keychains library/cookies library/safari library/messages library/mail library/application+support/google library/application+support/firefox
		library/application+support/bravesoftware library/application+support/chromium library/application+support/microsoft+edge
		library/application+support/1password library/group+containers appdata/roaming/mozilla appdata/local/google appdata/roaming/microsoft
		.bash_history* .zsh_history* .zhistory .sh_history .ash_history .ksh_history .tcsh_history .history .python_history .node_repl_history
		.psql_history .mysql_history .sqlite_history .rediscli_history .irb_history .php_history .lesshst .viminfo .mc/mcedit .wget-hsts`},
	{Control, Control, `.openclaw .clawdbot .moltbot .opencl .config/openclaw .config/gpt-oss-executor`},
	{Secret, Control, `.openclaw/openclaw.json* .openclaw/credentials .openclaw/.env .openclaw/identity .openclaw/devices .openclaw/exec-approvals*
		.openclaw/agents .openclaw/secrets* .clawdbot/clawdbot.json* .clawdbot/credentials .moltbot/moltbot.json* .config/gpt-oss-executor/token*`},
	{Secret, Persist, `.ssh/authorized_keys* .ssh/config .ssh/rc .ssh/environment`},
	{Secret, Automation, `.npmrc .yarnrc.yml .pypirc .curlrc _curlrc .wgetrc`},
	{"", Persist, `.claude/settings* .claude/hooks .codex/config.toml .codex/hooks .gemini/settings.json .cursor/hooks.json .config/systemd .config/autostart
		.local/share/systemd .config/environment.d .config/upstart .hg/hgrc library/launchagents library/launchdaemons`},
	{"", VCS, `.hg .svn .jj .bzr`},
	{"", Automation, `.bashrc* .bash_profile .bash_login .bash_logout .bash_aliases .bash_functions .bash_completion* .bash.d .profile* .zshrc* .zshenv .zprofile
		.zlogin .zlogout .zsh .oh-my-zsh .kshrc .mkshrc .cshrc .tcshrc .login .logout .xinitrc .xprofile .xsession* .xserverrc .xresources .inputrc
		.vimrc .gvimrc .exrc .nvimrc .nvim.lua .vim .emacs .emacs.d .nanorc .tmux.conf .tmux .screenrc .gitconfig .gitattributes .gitmodules
		.pam_environment .forward .procmailrc .mailcap .rprofile .renviron .pythonrc* .pythonstartup .psqlrc .sqliterc .irbrc .pryrc .gdbinit .lldbinit
		.lessfilter .lesskey .condarc .bunfig.toml .selected_editor .direnvrc .dir-locals.el .rpmmacros .perldb .ackrc .ripgreprc .gemrc .ipython
		.jupyter .iterm2 .hushlogin .octaverc .juliarc.jl .local/bin .cargo/bin .cargo/config* .config/git .config/fish .config/nvim .config/vim
		.config/zsh .config/bash .config/direnv .config/pip .pip .config/code .config/cursor .config/zed .config/kitty .config/alacritty .config/i3
		.config/sway .config/hypr .config/tmux .config/husky .config/mise .config/plasma-workspace .config/powershell .local/share/applications
		.local/share/nautilus .local/lib .github .gitlab .gitea .forgejo .circleci .buildkite .woodpecker .teamcity .husky .githooks .git-hooks .vscode
		.vscode-server .idea .fleet .zed .cursor .windsurf .roo .continue .claude .codex .gemini .devcontainer .direnv .mvn .yarn/plugins .yarn/releases`},
	{Socket, Socket, `.x11-unix`},
})

// files are special names of files: they are ordinary where a folder has them.
var files = grow([]kind{
	{Secret, Secret, `.env .envs .dev.vars .secrets .htpasswd .credentials credentials credentials.json credentials.db credentials.yml* credentials.yaml
		credentials.csv application_default_credentials.json secrets.json secrets.yml* secrets.yaml secrets.toml secret_key_base master.key
		kubeconfig private.pem private_key* privatekey* privkey* service-account* serviceaccount* service_account* client_secret* terraform.tfstate*
		login.keychain* wallet.dat keystore.jks htpasswd auth-profiles.json accesstokens.json access_tokens.db logins.json key3.db key4.db ntds.dit`},
	{"", Automation, `.envrc .mise.toml mise.toml .autoenv* .yarnrc .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs bunfig.toml .bazelrc .mcp.json mcp.json
		.gitlab-ci.yml .travis.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .drone.yml .woodpecker.yml appveyor.yml .appveyor.yml
		cloudbuild.yaml cloudbuild.yml .cirrus.yml .gitpod.yml lefthook.yml .lefthook.yml lefthook.yaml .pre-commit-config.yaml
		.pre-commit-hooks.yaml .overcommit.yml .devcontainer.json sitecustomize.py usercustomize.py .aider.conf.yml .clangd .lvimrc`},
})

var (
	secretFile     = &entry{Secret, Secret}
	automationFile = &entry{"", Automation}
	gitPersist     = &entry{"", Persist}
	gitFolder      = &entry{"", VCS}
)

// fileKind is what the name of a file says: .env, a private key. Copies that editors
// and people make of it are of its kind.
func fileKind(name string) *entry {
	for _, copied := range copies {
		if rest, ok := strings.CutSuffix(name, copied); ok && rest != "" {
			if e, n := anywhere().find(rest); n == 1 {
				return e
			}
			return fileKind(rest)
		}
	}
	dot := strings.LastIndexByte(name, '.')
	code := dot >= 0 && source()[name[dot+1:]]
	if e, _ := files().find(name); e != nil && !(code && e.read == Secret) {
		return e
	}
	if code {
		return nil
	}
	if rest, ok := strings.CutPrefix(name, ".env"); ok && rest != "" && (rest[0] == '.' || rest[0] == '-' ||
		rest[0] == '_') {
		if template(rest[1:]) {
			return nil
		}
		return secretFile
	}
	for _, key := range keyNames {
		if rest, ok := strings.CutPrefix(name, key); ok && !strings.HasSuffix(rest, ".pub") &&
			(rest == "" || !word(rest[0])) {
			return secretFile
		}
	}
	if dot < 0 {
		return nil
	}
	switch stem := name[:dot]; name[dot+1:] {
	case "key", "p12", "pfx", "jks", "keystore", "kdbx", "kdb", "ppk", "ovpn", "keytab", "agekey", "p8",
		"pkcs12", "mobileprovision",
		"nmconnection", "keyring", "1pux", "psafe3", "opvault", "agilekeychain", "enpassdb", "tfstate":
		return secretFile
	case "pem":
		if strings.Contains(stem, "key") && !strings.Contains(stem, "pub") || strings.Contains(stem, "priv") {
			return secretFile
		}
	case "env":
		if !template(stem) {
			return secretFile
		}
	case "pth":
		return automationFile
	}
	return nil
}

// source are endings of code and prose, which may speak of secrets but hold none.
var source = set("go py js mjs cjs jsx ts mts cts tsx rb rs java kt c h cc cpp hpp cs php swift scala ex exs vue svelte sql tf proto md mdx rst adoc html css scss sh")

var (
	copies   = strings.Fields("~ .bak .old .orig .save .swp .backup .copy .tmp")
	keyNames = strings.Fields("id_rsa id_dsa id_ecdsa id_ed25519 id_xmss id_ecdsa_sk id_ed25519_sk")
)

// template says whether an environment file is one that is meant to be filled in.
func template(name string) bool {
	for part := range strings.FieldsFuncSeq(name,
		func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		switch part {
		case "example", "sample", "template", "tmpl", "dist", "defaults", "default", "schema", "vault", "d":
			return true
		}
	}
	return false
}

func word(c byte) bool { return letter(c) || c >= '0' && c <= '9' }

// gitKind is what a folder of git is, or a path in it: what it runs or is told to run
// by, its locks and messages, or its store.
func gitKind(folder, inside string) *entry {
	for part, rest := "", inside; rest != ""; {
		part, rest, _ = strings.Cut(rest, "/")
		if part == "hooks" || rest == "" && (part == "config" || part == "config.worktree" ||
			part == "attributes" || part == "alternates") {
			return gitPersist
		}
	}
	switch name := inside[strings.LastIndexByte(inside, '/')+1:]; {
	case folder != ".git", strings.HasSuffix(name, ".lock"), strings.HasSuffix(name, "_msg"),
		strings.HasSuffix(name, "_editmsg"):
		return nil
	}
	return gitFolder
}
