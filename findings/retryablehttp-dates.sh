#!/usr/bin/env bash
# github.com/hashicorp/go-retryablehttp v0.7.8: two of HTTP's three forms of dates are no Retry-After.
#
# RFC 9110 has a Retry-After that is a date, and says that who reads a date takes all three forms (5.6.7). The
# default backoff takes the first one. With a date in another form it asks again after a second, and so while
# the server is busy.
#
# Seen with Go 1.26.8: 60 s in the form of RFC 1123, 1 s in that of RFC 850 and of asctime.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/hashicorp/go-retryablehttp v0.7.8\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

func main() {
	at := time.Now().UTC().Add(time.Minute)
	for _, form := range []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		text := at.Format(form)
		if _, err := http.ParseTime(text); err != nil {
			panic(err)
		}
		busy := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {text}}}
		wait := retryablehttp.DefaultBackoff(time.Second, time.Hour, 0, busy)
		fmt.Println(wait.Round(10 * time.Second).String(), wait == time.Second)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '1m0s false
0s true
0s true' ]
echo 'as described'
