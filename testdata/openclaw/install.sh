#!/usr/bin/env bash
# install.sh FOLDER - install FOLDER/package.json from npm into the cache, once, and print the folder it is in.
# The cache is ${XDG_CACHE_HOME:-~/.cache}/gpt-oss-executor; another package.json is another folder there.
set -euo pipefail
folder=$(cd "${1:?usage: install.sh FOLDER}" && pwd)
key=$(cksum <"$folder/package.json" | cut -d' ' -f1)
prefix=${XDG_CACHE_HOME:-$HOME/.cache}/gpt-oss-executor/$(basename "$folder")-$key
if [ ! -d "$prefix" ]; then
  command -v npm >/dev/null || { echo "install.sh: npm is missing; install Node.js with npm" >&2; exit 1; }
  # Next door first, so that a folder with the final name is always complete.
  new=$prefix.$$
  trap 'rm -rf "$new"' EXIT
  mkdir -p "$new"
  cp "$folder/package.json" "$new/"
  echo "installing $folder/package.json from npm" >&2
  npm install --prefix "$new" --ignore-scripts --no-audit --no-fund --no-update-notifier --no-package-lock \
    --loglevel=error >&2
  mv -T "$new" "$prefix" 2>/dev/null || mv "$new" "$prefix"
fi
echo "$prefix"
