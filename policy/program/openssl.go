package program

import "strings"

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
