#!/usr/bin/env bash
# build.sh DIR - build llama-server 0.5.0 into DIR, from the sources in npm's node-llama-cpp, and say.so, which makes it say a
# script. It takes git, cmake, a C++ compiler and npm; 6 minutes of the processor: the model is tiny, so nothing is optimized.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "${1:?usage: build.sh DIR}" && pwd)
for tool in git cmake c++ npm; do
  command -v "$tool" >/dev/null || { echo "build.sh: $tool is missing" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent node-llama-cpp@3.22.1 >/dev/null
tar xzf node-llama-cpp-3.22.1.tgz package/llama/gitRelease.bundle
git -c advice.detachedHead=false clone --quiet package/llama/gitRelease.bundle llama.cpp
cmake -S llama.cpp -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG' -DCMAKE_CXX_FLAGS_RELEASE='-O0 -DNDEBUG' \
  -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF \
  -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF >/dev/null
cmake --build build --target llama-server --parallel "${JOBS:-$(nproc)}" >/dev/null
cc -Wall -O1 -shared -fPIC -Illama.cpp/include -Illama.cpp/ggml/include -o "$dir/say.so" "$here/say.c" -ldl -lpthread
cp -a build/bin/. "$dir/"
cp llama.cpp/models/templates/openai-gpt-oss-120b.jinja "$dir/template.jinja"
