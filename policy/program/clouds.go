package program

// clouds are programs that act on the machines of others.
var clouds = family{
	"terraform tofu terragrunt": {opts: "-chdir=dir", style: words, open: true, subs: []sub{
		{"version fmt validate show output graph providers help get", row{opts: "-json -out=write -no-color"}},
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
		-i=read -f= -c= -vf= -af= -filter_complex= -filter_complex_script=load -filter_script=load -map= -ss= -t= -to= -r= -s=
		-b= -ar= -ac= -crf= -preset= -pix_fmt= -vcodec= -acodec= -codec= -metadata= -movflags= -loop= -frames= -vframes= -q=
		-qscale= -filter= -disposition= -tag= -itsoffset= -sws_flags= -color_range= -framerate= -video_size= -safe=
		-segment_time= -segment_format= -hls_time= -hls_list_size= -hls_segment_filename=write -f_strict= -strict= -tune=
		-stream_loop= -max_muxing_queue_size= -hwaccel= -init_hw_device= -rc= -cq= -lavfi= -start_number= -pattern_type=
		-aspect= -threads= -loglevel= -v= -profile= -level= -g= -bufsize= -maxrate= -minrate= -pass= -passlogfile=write
		-report -progress=write -dump_attachment=write -attach=read -y -n -an -vn -sn -hide_banner -nostdin -shortest -re
		-stats -protocol_whitelist=:opaque-exec`, style: words, open: true, then: ffmpeg},
	"ffprobe mediainfo exiftool identify": {opts: "-i=read -v= -show_entries= -of= -print_format= -select_streams= -config=load", operands: "read*", style: words, open: true, then: exiftool},
	"convert magick mogrify composite montage gm": {operands: "read* write", style: words, open: true, then: imageMagick, opts: `
		-resize= -quality= -density= -geometry= -size= -crop= -rotate= -fill= -font= -pointsize= -gravity= -annotate+
		-background= -extent= -format= -colors= -depth= -define= -draw= -compress= -type= -colorspace= -blur= -sharpen=
		-threshold= -fuzz= -thumbnail= -sampling-factor= -interlace= -alpha= -compose= -delay= -loop= -write=write
		-script=load`},
	`
		sox lame flac oggenc opusenc mp3gain cwebp dwebp gifsicle optipng pngquant jpegoptim jpegtran svgo inkscape
		rsvg-convert gs qpdf pdftk pdftotext pdftoppm pdfinfo pdfimages pdfunite img2pdf ocrmypdf tesseract libreoffice
		soffice unoconv wkhtmltopdf wkhtmltoimage chromium chrome google-chrome firefox`: {opts: "-o|--output=write --export-filename=write --outdir=write", operands: "change*", open: true, tags: "opaque-exec"},
	" ollama llm claude codex gemini aider opencode goose amp": {tags: "opaque-exec", open: true},
}
