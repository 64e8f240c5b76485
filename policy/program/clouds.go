package program

import (
	"slices"
	"strings"
)

// clouds are programs that act on the machines of others.
var clouds = family{
	"terraform tofu terragrunt": {opts: "-chdir=dir", style: words, open: true, subs: []sub{
		{"version validate show output graph providers help", row{opts: "-json -out=write -no-color"}},
		{"fmt get", row{opts: "-json -no-color -check:!changes", tags: "changes"}},
		{"console", row{tags: "interactive-shell"}},
		{"plan init", row{opts: `
		-out=write -var= -var-file=read -backend-config= -plugin-dir=load -state=read -target= -input= -lock=`, tags: "workspace-code"}},
		{`
		apply destroy import taint untaint refresh force-unlock login logout test state workspace`, row{opts: "-var= -var-file=read -target= -state=write -auto-approve", tags: "remote publish"}}}},
	"pulumi cdk cdktf sam serverless sls copilot eb": {tags: "remote publish workspace-code", open: true},
	"packer": {style: words, open: true, subs: []sub{{"version fmt validate inspect", row{}}, {"build init", row{tags: "remote opaque-exec"}}}},
	"vault consul nomad boundary waypoint etcdctl": {tags: "remote", open: true},
	"aws": {opts: `
		--profile= --region= --output= --query= --endpoint-url=url --ca-bundle=read --cli-input-json=:opaque-exec
		--no-cli-pager --debug`, open: true, tags: "remote", then: cloudVerbs},
	`
		gcloud gsutil bq az doctl linode-cli hcloud oci ibmcloud openstack s3cmd s5cmd scw vultr-cli eksctl flyctl fly heroku
		vercel netlify firebase supabase wrangler railway render sentry-cli stripe twilio databricks snowsql`: {opts: "--project= --account= --configuration= --format= -f=", open: true, tags: "remote", then: cloudVerbs},
	"docker-machine ecs-cli": {tags: "remote container", open: true},
	"ffmpeg": {opts: `
		-i=from -f= -c= -vf= -af= -filter_complex= -filter_complex_script=load -filter_script=load -map= -ss= -t= -to= -r= -s=
		-b= -ar= -ac= -crf= -preset= -pix_fmt= -vcodec= -acodec= -codec= -metadata= -movflags= -loop= -frames= -vframes= -q=
		-qscale= -filter= -disposition= -tag= -itsoffset= -sws_flags= -color_range= -framerate= -video_size= -safe=
		-segment_time= -segment_format= -hls_time= -hls_list_size= -hls_segment_filename=write -f_strict= -strict= -tune=
		-stream_loop= -max_muxing_queue_size= -hwaccel= -init_hw_device= -rc= -cq= -lavfi= -start_number= -pattern_type=
		-aspect= -threads= -loglevel= -v= -profile= -level= -g= -bufsize= -maxrate= -minrate= -pass= -passlogfile=write
		-report -progress=write -dump_attachment=write -attach=read -y -n -an -vn -sn -hide_banner -nostdin -shortest -re
		-stats -protocol_whitelist=:opaque-exec`, operands: "to*", style: words, open: true},
	"ffprobe mediainfo identify":          {opts: "-i=read -v= -show_entries= -of= -print_format= -select_streams= -config=load", operands: "read*", style: words, open: true},
	"exiftool":                            {opts: "-config=load", operands: "change*", style: words, open: true},
	"mogrify":                             {opts: magickOptions, operands: "change*", style: words, open: true, then: imageMagick},
	"convert magick composite montage gm": {opts: magickOptions, operands: "from* to", style: words, open: true, then: imageMagick},
	`
		sox lame flac oggenc opusenc mp3gain cwebp dwebp gifsicle optipng pngquant jpegoptim jpegtran svgo inkscape
		rsvg-convert gs qpdf pdftk pdftotext pdftoppm pdfinfo pdfimages pdfunite img2pdf ocrmypdf tesseract libreoffice
		soffice unoconv wkhtmltopdf wkhtmltoimage chromium chrome google-chrome firefox`: {opts: "-o|--output=write --export-filename=write --outdir=write", operands: "change*", open: true, tags: "opaque-exec"},
	" ollama llm claude codex gemini aider opencode goose amp": {tags: "opaque-exec", open: true},
}

const magickOptions = `
	-resize= -quality= -density= -geometry= -size= -crop= -rotate= -fill= -font= -pointsize= -gravity= -annotate+
	-background= -extent= -format= -colors= -depth= -define= -draw= -compress= -type= -colorspace= -blur= -sharpen=
	-threshold= -fuzz= -thumbnail= -sampling-factor= -interlace= -alpha= -compose= -delay= -loop= -write=write -script=load`

var (
	cloudCopies = []string{"cp", "mv", "sync", "rsync", "put", "upload"}
	cloudLooks  = strings.Fields("list ls describe get show head version help status logs whoami info search lookup wait")
)

// cloudVerbs: whatever it does, it does elsewhere. Files are among the operands of copies,
// and things are changed unless the verb says otherwise.
func cloudVerbs(c *call) {
	if len(c.Operands) > 1 {
		c.Sub = c.Operands[0].Text + " " + c.Operands[1].Text
	}
	copies := slices.ContainsFunc(c.Operands, func(w Word) bool { return slices.Contains(cloudCopies, w.Text) })
	looks := len(c.Operands) == 0
	for i, w := range c.Operands {
		verb, _, _ := strings.Cut(w.Text, "-")
		looks = looks || slices.Contains(cloudLooks, verb)
		scheme, path, remote := strings.Cut(w.Text, "://")
		switch {
		case remote && (scheme == "file" || scheme == "fileb"):
			c.touch("read", rest(w, path), "argument")
		case remote || !copies || i == 0 || slices.Contains(cloudCopies, w.Text):
		case i == len(c.Operands)-1:
			c.touch("write", w, "argument")
			fallthrough
		default:
			c.touch("read", w, "argument")
		}
	}
	if !looks {
		c.tag("publish")
	}
}

// imageMagick has names with a coder before them, some of which run other things.
func imageMagick(c *call) {
	for _, w := range c.Operands {
		if list, ok := strings.CutPrefix(w.Text, "@"); ok {
			c.touch("read", rest(w, list), "argument")
		}
		if coder, _, ok := strings.Cut(w.Text, ":"); ok && slices.Contains(magickCoders, strings.ToLower(coder)) {
			c.tag("opaque-exec")
		}
	}
}

var magickCoders = strings.Fields("msl mvg ephemeral text label caption https url show win plt")
