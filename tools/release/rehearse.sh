#!/bin/sh
# Rehearses a release without publishing anything: clones HEAD into a temporary folder, tags the libraries there, tidies
# and tags cmd, then installs krometrail and builds a small consumer of `visual` as a stranger would, by path@version.
# The clone stands in for the public repository by git's insteadOf, set by environment, never in a configuration file.
# Third parties come from the module cache of this machine, or from the usual proxy where the cache lacks them.
set -eu

here=$(cd "$(dirname "$0")/../.." && pwd)
temp=$(mktemp -d)
# The module cache is laid read-only unless -modcacherw is given below.
trap 'rm -rf "$temp"' EXIT
trap 'exit 1' INT TERM
say() { printf '\nrehearsal: %s\n' "$*"; }

repo=$temp/repo
say "cloning $(git -C "$here" rev-parse --short HEAD); uncommitted changes take no part"
git clone --quiet --no-hardlinks "$here" "$repo"
cd "$repo"
git config user.name rehearsal
git config user.email rehearsal@localhost

go build -o "$temp/release" ./tools/release
"$temp/release" tags >"$temp/tags"
tag_those() { # a grep option that selects lines of the list
	grep '^git tag' "$temp/tags" | grep "$@" ' cmd/' | sh -eux
}

usual=$(go env GOPROXY)
cache=$(go env GOMODCACHE)/cache/download
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$repo.insteadOf" GIT_CONFIG_VALUE_0=https://github.com/krometrail/krometrail
export GOPRIVATE='github.com/krometrail/*' GOWORK=off GOSUMDB=off GOFLAGS=-modcacherw
export GOPROXY="file://$cache,$usual" GOMODCACHE="$temp/mod" GOBIN="$temp/bin"

say "libraries"
tag_those -v

say "cmd, against the tagged libraries"
(cd cmd && go mod tidy)
git add -A cmd
git commit --quiet --allow-empty -m 'Release rehearsal'
tag_those -e
version=$(sed -n 's|^git tag -a cmd/\(v[^ ]*\) .*|\1|p' "$temp/tags")

say "go install, as a user"
mkdir "$temp/user"
cd "$temp/user"
go install "github.com/krometrail/krometrail/cmd/krometrail@$version"
"$temp/bin/krometrail" version </dev/null

say "a consumer of visual"
visual=$(sed -n 's|^git tag -a visual/\(v[^ ]*\) .*|\1|p' "$temp/tags")
go mod init example.org/consumer
printf 'package main\n\nimport _ "github.com/krometrail/krometrail/visual"\n\nfunc main() {}\n' >main.go
go get "github.com/krometrail/krometrail/visual@$visual"
go mod tidy
CGO_ENABLED=0 go build -o consumer .
go list -m all

say "all of it works; nothing was published"
