package program

import "strings"

// networks are programs that talk to other machines.
var networks = family{
	"curl":       {opts: curlOptions, then: curl},
	"wget wget2": {opts: wgetOptions, then: wget},
	"http https xh httpie": {opts: `
		-[bhmvIFSfjpdciP] -o|--output=write -a|--auth= -A|--auth-type= -s|--style= -t|--timeout= --print= --pretty=
		--session=write --session-read-only=read --verify= --cert=read --cert-key=read --proxy=url:net-override --download
		--follow --form --json --body --headers --verbose --check-status --ignore-stdin --offline --continue --max-redirects=
		--multipart --raw= --stream`, then: httpie},
	"aria2c axel": {opts: "-d|--dir=dir -o|--out=write -i|--input-file=list:opaque-exec", operands: "url*", open: true},
	"yt-dlp youtube-dl": {opts: `
		-o|--output=write -P|--paths=write -f|--format= --exec=sh --exec-before-download=sh --config-locations=load
		--config-location=load --plugin-dirs=load --downloader=exec --external-downloader=exec -a|--batch-file=list
		--cookies=read --netrc-cmd=sh --proxy=url:net-override -x --audio-format= --ffmpeg-location=exec
		--use-postprocessor:opaque-exec`, operands: "url*", open: true},
	"lynx w3m links elinks": {opts: `
		-cfg=load -config=load -o= -e= -cmd_script=load -editor=exec -dump -source -nolist -width= -useragent= -cols= -T=
		-post_data:send`, operands: "url*", tags: "pager", open: true, style: words},
	"lftp ftp tftp ncftp ncftpget ncftpput": {opts: "-e=:opaque-exec -c=:opaque-exec -f=load -u= -p=", operands: "skip*", tags: "remote opaque-exec", stdin: always},
	"ssh slogin autossh mosh":               {opts: sshOptions, operands: "skip line", tags: "remote", stdin: always, then: ssh},
	"scp": {opts: `
		-[346ABCOpqRTv] -r:recursive -c= -D= -F=load -i=read -J= -l= -o=ssh -P= -S=exec -X=`, operands: "read* target", tags: "remote", then: (*call).transfers},
	"sftp": {opts: `
		-[46AaCfNpqrv] -B= -b=read -c= -D=exec -F=load -i=read -J= -l= -o=ssh -P= -R= -S=exec -s= -X=`, tags: "remote", stdin: always},
	"rsync": {opts: rsyncOptions, operands: "read* target", then: rsync},
	"ssh-keygen": {opts: `
		-[lLBcehiopqyvHAgQkU] -D=load -t= -b= -f=write -N= -P= -C= -F= -R= -r= -s=read -I= -n= -V= -z= -Y= -O= -m= -a= -E= -K=
		-w=load -M= -Z=`, operands: "skip*"},
	"ssh-keyscan":               {opts: "-[46cDHqv] -f=read -p= -t= -T= -O=", tags: "raw-socket", operands: "skip*"},
	"ssh-add":                   {opts: "-[cdDlLqxXkKvTh] -s=load -e= -t= -S=load -H= -E=", operands: "read*", tags: "config-or-install"},
	"ssh-agent":                 {opts: "-[cdDks] -a= -t= -E= -P=load -O=", operands: "run", tags: "wrapper longrun"},
	"ssh-copy-id sshpass sshfs": {opts: "-p= -f=read -i=read -o= -e -P=", tags: "remote opaque-exec", open: true},
	"nc ncat netcat": {opts: `
		-[46bCDdFhklNnrStUuvZz] -e|--exec=exec:socket-exec -c|--sh-exec=sh:socket-exec --lua-exec=load:socket-exec -i= -I= -M=
		-m= -O= -P= -p= -q= -s= -T= -V= -W= -w= -X= -x= -g= -G= -o=write --proxy= --ssl --listen --keep-open --broker --chat`, tags: "raw-socket", operands: "skip*", stdin: always},
	"socat":                   {opts: "-[dDvxuUghV46s] -b= -t= -T= -L=write -lf=write -r=write -R=write", tags: "raw-socket", then: socat, open: true, stdin: always},
	"telnet rlogin rsh rexec": {opts: "-[468EKLacdfFrx] -e= -l= -n=write -b= -X=", tags: "raw-socket remote", operands: "skip*", stdin: always},
	"nmap masscan zmap hping3 arp-scan nikto tcpdump tshark wireshark dumpcap ngrep": {tags: "raw-socket", open: true},
	"rclone": {tags: "remote send", open: true},
	"dig nslookup host drill kdig delv whois doggo dog getent":     {opts: "-f=read -k=read -p= -q= -t= -x= -c= -b= -y= -W= -R= -h=", operands: "skip*", open: true},
	"ping ping6 traceroute traceroute6 tracepath mtr fping arping": {opts: "-c= -i= -s= -t= -W= -w= -I= -m= -p= -q -n -Q= -f -M= -l= -S= -T= -4 -6", operands: "skip*", open: true, then: pings},
	"openssl": {style: words, bare: "opaque-exec stdin", open: true, subs: opensslSubs},
	"gpg gpg2 gpgv": {opts: `
		-[abdeksvqtn] -o|--output=write -r|--recipient= -u|--local-user= --homedir=load --keyring=read --options=load
		--passphrase= --passphrase-file=read --passphrase-fd= --batch --yes --armor --decrypt --encrypt --sign --verify
		--detach-sign --clearsign --list-keys --list-secret-keys --fingerprint --import:config-or-install --export
		--export-secret-keys:dump-env --recv-keys:config-or-install --keyserver=:net-override --delete-keys:discard
		--delete-secret-keys:discard --gen-key --full-generate-key --quick-generate-key --edit-key --symmetric --dearmor
		--enarmor --with-colons --status-fd= --logger-fd= --pinentry-mode= --photo-viewer=sh --agent-program=exec
		--dirmngr-program=exec --gpgconf-list --no-default-keyring --trust-model= --keyserver-options= --list-packets
		--show-keys --card-edit --change-pin --refresh-keys`, open: true, operands: "read*", stdin: 1},
	"age": {opts: "-o|--output=write -R|--recipients-file=read -i|--identity=read", operands: "read", stdin: 1, open: true},
	"mail mailx mutt sendmail msmtp swaks": {opts: `
		-s= -c= -b= -a=read -A=read -r= -f= -t -S= -q=read -C=load -F=load -H= -e=:opaque-exec`, tags: "send", operands: "skip*", open: true, stdin: always},
	"ip": {opts: `
		-[468dhjoprstaB] -b|-batch|--batch=load -n|-netns=:namespace -f|-family= -c|-color? -brief -json -details -stats
		-pretty -oneline`, style: stop, subs: []sub{
		{"netns|netn|net", row{subs: append([]sub{{"exec|exe|ex|e", row{operands: "skip run", tags: "namespace"}}}, ipSubs...)}}, {"*", row{subs: ipSubs}}}},
	"ifconfig iwconfig": {opts: "-[asv]", operands: "skip skip:admin*"},
	"route arp":         {opts: "-[ACnevFa] -i=", operands: "skip:admin*"},
	"ss netstat": {opts: `
		-[abcdeEgHhiIklmMnNoOpPqrRsStTuUvVwWxZ046] -D|--diag=write -A= -f= -F=read -K|--kill:signal`, operands: "skip*", open: true},
	"ethtool tc brctl wg wg-quick iw nmcli hostnamectl resolvectl networkctl": {tags: "admin", open: true},
	"iptables ip6tables iptables-legacy iptables-nft ebtables arptables": {opts: `
		-S|--list-rules -L|--list -C|--check= -V|--version -n -v -x -t|--table= --line-numbers -w?
		-4 -6 --exact -c -A|--append=:admin -D|--delete=:admin -I|--insert=:admin -R|--replace=:admin -F|--flush?:admin
		-X|--delete-chain?:admin -P|--policy=:admin -N|--new-chain=:admin -Z|--zero?:admin -E|--rename-chain=:admin
		-p|--protocol= -s|--source= -d|--destination= -j|--jump= -i|--in-interface= -o|--out-interface= -m|--match= --dport=
		--sport=`, operands: "skip*"},
	"iptables-save ip6tables-save":             {opts: "-c -t= -f|--file=write -M=exec", operands: "skip*"},
	"iptables-restore ip6tables-restore ipset": {tags: "admin", open: true},
	"nft": {opts: `
		-[aensjTpyNSv] -f|--file=load:admin -c|--check -i|--interactive:admin -I|--includepath=load -D= --json --handle
		--stateless`, style: stop, subs: []sub{{"list describe", row{}}, {"*", row{tags: "admin"}}}},
	"ufw": {open: true, bare: "admin", subs: []sub{{"status version show app", row{}}, {"*", row{tags: "admin"}}}},
	"firewall-cmd": {opts: `
		--state|--version|--list-all|--list-all-zones|--list-ports|--list-services|--list-interfaces|--list-sources|--list-rich-rules:!admin
		--get-default-zone|--get-active-zones|--get-zones|--get-services|--get-icmptypes:!admin
		--query-port|--query-service=:!admin --zone= --permanent --quiet`, tags: "admin"},
	"ngrok cloudflared localtunnel lt tailscale": {tags: "raw-socket longrun", open: true},
}

var ipSubs = []sub{{"show list ls l s sh lst get g help identify pids", row{}}, {"*", row{tags: "admin"}}}

const wgetOptions = `
	-[dqvFcNSEKkHL46] -b|--background:longrun -x -p -m|--mirror:recursive -r|--recursive:recursive -nv -nc -nd -nH -np -V -h -e|--execute=:opaque-exec -o|--output-file=write
	-a|--append-output=write -i|--input-file=list -B|--base=url -t|--tries= -O|--output-document= -T|--timeout= -w|--wait=
	-Q|--quota= -P|--directory-prefix=write -U|--user-agent= -l|--level= -A|--accept= -R|--reject= -D|--domains=
	-I|--include-directories= -X|--exclude-directories= --report-speed= --config=load --rejected-log=write --start-pos=
	--progress= --dns-timeout= --connect-timeout= --read-timeout= --waitretry= --bind-address= --limit-rate=
	--restrict-file-names= --prefer-family= --user= --password= --use-askpass=exec --local-encoding= --remote-encoding=
	--cut-dirs= --http-user= --http-password= --default-page=write --header= --compression= --max-redirect= --proxy-user=
	--proxy-password= --referer= --load-cookies=read --save-cookies=write --post-data= --post-file=read --method=
	--body-data= --body-file=read --secure-protocol= --certificate=read --certificate-type= --private-key=read
	--private-key-type= --ca-certificate=read --ca-directory=read --crl-file=read --pinnedpubkey=read --ciphers=
	--hsts-file=write --ftp-user= --ftp-password= --warc-file=write --warc-header= --warc-max-size= --warc-dedup=read
	--warc-tempdir=write --backups? --accept-regex= --reject-regex= --regex-type= --exclude-domains= --follow-tags=
	--ignore-tags= --retry-on-http-error= --quiet --verbose --debug --force-html --retry-connrefused
	--continue --show-progress --timestamping --server-response --spider --random-wait --ignore-case --inet4-only
	--inet6-only --ask-password --unlink --xattr --force-directories --protocol-directories --adjust-extension
	--ignore-length --save-headers --keep-session-cookies --content-disposition --content-on-error --auth-no-challenge
	--https-only --preserve-permissions --retr-symlinks --ftps-implicit --ftps-resume-ssl --ftps-clear-data-connection
	--ftps-fallback-to-ftp --warc-cdx --delete-after --convert-links --convert-file-only --backup-converted
	--page-requisites --strict-comments --follow-ftp --span-hosts --relative --trust-server-names --proxy?
	--check-certificate? --hsts`

const sshOptions = `
	-[46AaCfGgKkMNnqsTtVvXxYy] -B= -b= -c= -D= -E=write -e= -F=load -I=load -i=read -J= -L= -l= -m= -O= -o=ssh -P= -p= -Q=
	-R= -S= -W= -w=`

const rsyncOptions = `
	-[vqcarRubHKlpEAXogDtOJUNSnWxzCsyihFPmd80] -L|--copy-links:follows -k|--copy-dirlinks:follows --recursive:recursive -e|--rsh=exec:remote --rsync-path=exec:remote
	-f|--filter= -T|--temp-dir=write -B|--block-size= -@|--modify-window= -M|--remote-option=:opaque-exec --exclude=
	--exclude-from=read --include= --include-from=read --files-from=list --backup-dir=write --suffix= --compare-dest=read
	--copy-dest=read --link-dest=read --log-file=write --log-file-format= --out-format= --password-file=read
	--partial-dir=write --write-batch=write --only-write-batch=write --read-batch=load --bwlimit= --timeout= --contimeout=
	--port= --address= --sockopts= --chmod= --chown= --usermap= --groupmap= --max-size= --min-size= --max-delete=
	--max-alloc= --iconv= --protocol= --checksum-choice= --cc= --checksum-seed= --compress-choice= --zc= --compress-level=
	--zl= --skip-compress= --info= --debug= --stop-after= --stop-at= --early-input=read --config=load --daemon:raw-socket
	--delete --del --delete-before --delete-during --delete-delay --delete-after --delete-excluded --delete-missing-args
	--remove-source-files --archive --verbose --quiet --checksum --relative --update --links --safe-links
	--munge-links --keep-dirlinks --hard-links --perms --executability --acls --xattrs --owner --group
	--devices --copy-devices --specials --times --atimes --open-noatime --crtimes --omit-dir-times --omit-link-times
	--super --fake-super --sparse --preallocate --dry-run --whole-file --one-file-system --existing --ignore-non-existing
	--ignore-existing --ignore-errors --force --partial --delay-updates --prune-empty-dirs --numeric-ids --size-only
	--ignore-times --fuzzy --compress --cvs-exclude --from0 --old-args --secluded-args --protect-args --trust-sender
	--copy-as= --ipv4 --ipv6 --blocking-io --outbuf= --stats --8-bit-output --human-readable --progress --itemize-changes
	--list-only --inplace --append --append-verify --dirs --old-dirs --backup --mkpath --new-compress --old-compress
	--write-devices`

// Options that most subcommands of openssl have. -engine and its like load a library.
const opensslOptions = `
	-in=read -data=read -queryfile=read -inkey=read -certin -CAfile=read -CApath=read -CAkey=read -CA=read -cert=read -key=read -certfile=read
	-untrusted=read -content=read -signature=read -sigfile=read -kfile=read -extfile=read -rand=read -out=write
	-keyout=write -writerand=write -CAserial=write -CRLfile=read -config=load -engine=load -provider=load
	-provider-path=load -provider_path=load -propquery= -pass= -passin= -passout= -k= -K= -iv= -S= -md= -iter= -subj=
	-days= -newkey= -name= -caname= -addext= -nodes -noout -text -hmac= -mac= -macopt= -sign=read -verify=read
	-prverify=read -pkeyopt= -algorithm= -paramfile=read -peerkey=read -keyform= -inform= -outform= -set_serial=
	-extensions= -reqexts= -nameopt= -checkhost= -purpose= -keypbe= -certpbe= -certopt=`

var opensslSubs = []sub{
	{`
		enc base64 aes-128-cbc aes-192-cbc aes-256-cbc aes-128-ecb aes-256-ecb aes-256-ctr des3 des-ede3-cbc chacha20 x509 req
		rsa rsautl pkey pkeyutl pkeyparam ec ecparam dsa dsaparam dhparam genrsa gendsa genpkey pkcs7 pkcs8 pkcs12 crl
		crl2pkcs7 asn1parse smime cms verify spkac nseq ts sess_id`, row{opts: opensslOptions, then: opensslPasswords}},
	{"dgst md5 sha1 sha224 sha256 sha384 sha512 sha3-256 sha3-512 blake2b512 mac kdf", row{opts: opensslOptions, operands: "read*", stdin: 1, then: opensslPasswords}},
	{"storeutl", row{opts: opensslOptions, operands: "read*", then: opensslPasswords}},
	{"rehash", row{opts: "-h -v -n -old -compat", operands: "change*"}},
	{"rand prime passwd version ciphers list speed errstr info help fipsinstall", row{opts: opensslOptions, then: opensslPasswords}},
	{"s_client s_server s_time ocsp", row{opts: opensslOptions + `
		-connect= -host= -port= -servername= -accept= -starttls= -proxy= -keylogfile=write -sess_out=write -sess_in=read
		-url=url -respout=write -reqin=read -issuer=read -serial= -WWW -www -HTTP`, tags: "raw-socket", then: opensslPasswords}},
	{"ca engine tsget cmp srp", row{opts: opensslOptions, tags: "opaque-exec"}},
}

// opensslPasswords may be in files.
func opensslPasswords(c *call) {
	for i := range c.found {
		f := &c.found[i]
		if name, ok := strings.CutPrefix(f.value.Text, "file:"); ok && strings.HasPrefix(f.name, "-pass") {
			c.touch("read", rest(f.value, name), f.as)
		}
	}
	if _, ok := c.value("-in"); !ok && len(c.Operands) == 0 && c.Sub != "version" {
		c.ReadsIn = true
	}
}
