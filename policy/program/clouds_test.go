package program

import "testing"

// Clouds, and programs for pictures and films.
func TestClouds(t *testing.T) {
	effectsAre(t, []effectCase{
		{"aws s3 ls", "sub:s3_ls #remote"},
		{"aws s3 cp a s3://b/c", "sub:s3_cp read(a) #remote #publish"},
		{"aws", "#remote"},
		{"aws sts get-caller-identity", "sub:sts_get-caller-identity #remote"},
		{"aws s3 rm s3://a/b", "sub:s3_rm #remote #publish"},
		{"aws s3 cp s3://a/b /etc/x", "sub:s3_cp write(/etc/x) read(/etc/x) #remote #publish"},
		{"aws s3 sync /etc s3://a", "sub:s3_sync read(/etc) #remote #publish"},
		{"aws lambda invoke --cli-input-json=x y", "sub:lambda_invoke #remote #opaque-exec #publish"},
		{"aws ec2 run-instances --user-data file:///etc/shadow", "sub:ec2_run-instances read(/etc/shadow) #remote #publish"},
		{"aws --endpoint-url=http://10.0.0.1 s3 ls", "sub:s3_ls GET(http://10.0.0.1) #remote"},
		{"claude -p x", "#opaque-exec"},
		{"convert a.png b.jpg", "read(a.png) write(b.jpg)"},
		{"convert msl:x b.png", "read(x) read(msl:x) write(b.png) #opaque-exec"},
		{"convert https://10.0.0.1/a b.png", "write(b.png) GET(https://10.0.0.1/a) #opaque-exec"},
		{"convert @/etc/names png:/etc/b", "read(@/etc/names) write(/etc/b) write(png:/etc/b) read(/etc/names)"},
		{"exiftool a.jpg", "read(a.jpg) write(a.jpg)"},
		{"ffmpeg -i a.mp4 -c:v copy b.mp4", "read(a.mp4) write(b.mp4)"},
		{"ffmpeg -i https://10.0.0.1/a b.mp4", "write(b.mp4) GET(https://10.0.0.1/a)"},
		{"ffmpeg -i file:/etc/shadow b.mp4", "read(/etc/shadow) read(file:/etc/shadow) write(b.mp4)"},
		{"ffmpeg -i a rtmp://10.0.0.1/b", "read(a) PUT(rtmp://10.0.0.1/b)"},
		{"ffmpeg -f concat -protocol_whitelist file -i a b", "read(a) write(b) #opaque-exec"},
		{"ffprobe -i a", "read(a)"},
		{"gcloud compute instances list", "sub:compute_instances #remote"},
		{"gcloud auth list", "sub:auth_list #remote"},
		{"gsutil cp a gs://b", "sub:cp_a read(a) #remote #publish"},
		{"magick label:x b.png", "read(x) read(label:x) write(b.png) #opaque-exec"},
		{"mogrify -resize 5 a.png", "read(a.png) write(a.png)"},
		{"montage a b -script x c", "read(x) read(a) read(b) write(c) exec:-script"},
		{"packer build x", "sub:build #remote #opaque-exec"},
		{"pulumi up", "#remote #publish #workspace-code"},
		{"qpdf a b", "read(a) write(a) read(b) write(b) #opaque-exec"},
		{"terraform console", "sub:console #interactive-shell"},
		{"terraform plan -out=p", "sub:plan write(p) #workspace-code"},
		{"terraform apply", "sub:apply #remote #publish"},
		{"terraform -chdir=/x plan", "sub:plan read(/x) #workspace-code"},
		{"terraform show -out=/etc/x", "sub:show write(/etc/x)"},
		{"terraform init -plugin-dir=x", "sub:init read(x) #workspace-code exec:-plugin-dir"},
		{"terraform import a b", "sub:import #remote #publish"},
		{"vault read x", "#remote"},
	})
}
