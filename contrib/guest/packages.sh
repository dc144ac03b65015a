# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian packages for contrib/vm: QEMU, kernels, busybox. They are unpacked below a directory of the
# build and never installed. Source this file after contrib/maint/apt-private.sh, with $downloads set to that
# directory.
# shellcheck disable=SC2154 # $downloads

# vfio-user-pci is in QEMU from 10.1 on, and Debian 12 and 13 have older ones.
guest_qemu_suites='trixie trixie-backports'

# The modules with which a guest reaches the files of the host, its network, and contrib/vm.
guest_modules='virtio_pci virtio_net virtio_console 9pnet_virtio 9p overlay'
# Files of the package with these modules, and with the modules that they need.
guest_module_files='*/virtio*.ko* */9p*.ko* */netfs.ko* */fscache.ko* */overlay.ko* *failover.ko*
    */dimlib.ko* */modules.builtin'

# NAME FUNCTION [ARGUMENT...]: make $downloads/NAME, unless it is complete. The function makes its
# content in the directory $into. One process at a time downloads.
guest_download() {
    local name=$1 into=$downloads/$1.new
    shift

    [ ! -e "$downloads/$name" ] || return 0
    mkdir -p "$downloads"
    (
        flock 9
        [ ! -e "$downloads/$name" ] || exit 0
        echo "vm: downloading $name" >&2
        rm -rf "$into"
        mkdir -p "$into"
        "$@" >"$downloads/$name.log" 2>&1 || exit 1
        rm -rf "$into/apt"
        mv "$into" "$downloads/$name"
    ) 9>"$downloads/.lock" || {
        rm -rf "$into"
        echo "vm: cannot download $name; see $downloads/$name.log" >&2
        return 1
    }
}

# QEMU with all the libraries that it needs, its C library too.
guest_make_qemu() {
    local file

    apt_private_start "$into/apt" "$guest_qemu_suites" deb || return 1
    apt_private --yes --download-only --no-install-recommends -t trixie-backports \
        install qemu-system-x86 || return 1
    for file in "$into"/apt/archives/*.deb; do
        dpkg-deb -x "$file" "$into" || return 1
    done
    rm -rf "$into/usr/share/doc" "$into/usr/share/man" "$into/usr/share/locale"
}

# RELEASE: 6.1 or 6.12. The kernel image, and the few modules of guest_modules. The cloud flavour lacks 9P.
guest_make_kernel() {
    local suite=bookworm name file files

    [ "$1" = 6.1 ] || suite=bookworm-backports
    apt_private_start "$into/apt" "bookworm $suite" deb || return 1
    name=$(apt_private --print-uris -qq --yes --no-install-recommends -t "$suite" \
        install linux-image-amd64 | sed -n "s/.* \(linux-image-[0-9][^_]*\)_.*/\1/p")
    [ -n "$name" ] || return 1
    (cd "$into/apt" && apt_private download "$name/$suite" busybox-static) || return 1
    for file in "$into"/apt/*.deb; do
        files='./bin/busybox'
        case $file in
        */linux-image*) files="./boot/vmlinuz-* $guest_module_files" ;;
        esac
        set -f
        # Not every kernel has every file. The loop below fails if a needed file is missing.
        # shellcheck disable=SC2086 # words
        dpkg-deb --fsys-tarfile "$file" | tar -x -C "$into" --wildcards $files || true
        set +f
    done
    mv "$into"/boot/vmlinuz-* "$into/vmlinuz" || return 1
    rm -r "${into:?}/boot"
    echo "${name#linux-image-}" >"$into/release"
    : >"$into/order"
    mkdir "$into/modules"
    for name in $guest_modules; do
        guest_add_module "$name" || return 1
    done
    rm -r "${into:?}/lib"
}

# NAME: put the module and those that it needs into $into/modules, and their names in the order of loading
# into $into/order.
guest_add_module() {
    local module=$1 file needed needs

    ! grep -qx "$module.ko" "$into/order" || return 0
    file=$(find "$into/lib/modules" -name "${module//_/[-_]}.ko" -o -name "${module//_/[-_]}.ko.xz")
    if [ ! -f "$file" ]; then
        # Some kernels have it built in.
        cat "$into"/lib/modules/*/modules.builtin | tr - _ | grep "/$module.ko$"
        return
    fi
    case $file in
    *.xz) xz -dc "$file" >"$into/modules/$module.ko" || return 1 ;;
    *) cp "$file" "$into/modules/$module.ko" || return 1 ;;
    esac
    needs=$(tr '\0' '\n' <"$into/modules/$module.ko" | sed -n 's/^depends=//p' | tr ',' ' ')
    for needed in $needs; do
        guest_add_module "${needed//-/_}" || return 1
    done
    echo "$module.ko" >>"$into/order"
}
