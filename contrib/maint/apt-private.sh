# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian packages of another suite, or sources, without a change to this system: apt with a state of its
# own in a directory of the build. Source it.

# apt_private_start DIR SUITES [TYPES]: read the lists of the suites from the mirror that this system uses:
# packages and sources, or what TYPES names ("deb"). Fails on a system without apt or Debian's mirror, and
# where the mirror does not answer.
apt_private_start() {
    apt_private_dir=$1
    command -v apt-get >/dev/null 2>&1 || return 1
    # shellcheck disable=SC2016 # the format is apt's
    apt_private_mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
    [ -n "$apt_private_mirror" ] || return 1
    mkdir -p "$apt_private_dir/lists/partial" "$apt_private_dir/archives/partial" || return 1
    {
        echo "Types: ${3:-deb deb-src}"
        echo "URIs: $apt_private_mirror"
        echo "Suites: $2"
        echo 'Components: main'
        apt_private_key=/usr/share/keyrings/debian-archive-keyring.gpg
        [ ! -f "$apt_private_key" ] || echo "Signed-By: $apt_private_key"
    } >"$apt_private_dir/private.sources"
    : >"$apt_private_dir/status"
    apt_private update
}

# COMMAND...: apt-get, with that state. No package is installed there: one of this system, such as a security
# update, can be newer than those of the mirror, and the mirror then lacks what it depends on. Bounded: a mirror
# that is not there must not hold up a check.
apt_private() {
    apt_private_run apt-get -q "$@"
}

# PROGRAM ARGUMENT...: a program of apt, with that state.
apt_private_run() {
    apt_private_program=$1 && shift
    timeout 300 "$apt_private_program" -o APT::Sandbox::User=root -o Acquire::Retries=1 \
        -o Acquire::http::Timeout=20 -o Acquire::Languages=none \
        -o Dir::Etc::sourcelist="$apt_private_dir/private.sources" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$apt_private_dir/lists" \
        -o Dir::State::status="$apt_private_dir/status" \
        -o Dir::Cache="$apt_private_dir" "$@"
}
