# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The guests of contrib/vm, which sources it: their files, QEMU, the switch, requests, logs.
# shellcheck disable=SC2154 # variables of contrib/vm

machine_limit=600 # seconds until all guests must be ready; only a hang takes as long

machine_kernel_options='console=ttyS0 loglevel=5 panic=-1 oops=panic no_timer_check nowatchdog'
machine_kernel_options+=' rcupdate.rcu_cpu_stall_suppress=1'

# Written to the log of the kernel by "WARN", "BUG", an oops and their like; lower case words by checks that
# a kernel with debugging has.
machine_faults='WARNING:|BUG:|Oops|general protection fault|Kernel panic|Call Trace:|UBSAN:|KASAN:'
machine_faults+='|refcount_t:|corruption|lockdep|INFO: task .* blocked|sleeping function|scheduling while atomic'
machine_faults+='|Bad page|unable to handle|irq .*: nobody cared'

# COMMAND...: the files of the directory that the guests share with contrib/vm.
machine_share() {
    local share=$run/share

    mkdir "$share"
    printf '%s\0' "$@" >"$share/command"
    env -0 >"$share/environment"
    printf '%s\n' "$PWD" >"$share/directory"
    printf '%s\n' "$top" >"$share/top"
    printf '%s\n' "${names[*]}" >"$share/names"
    : >"$share/modules"
    [ "${#modules[@]}" -eq 0 ] || printf '%s\n' "${modules[@]}" >"$share/modules"
}

# The initramfs: busybox, the modules of guest_modules, and contrib/guest/init.
machine_initramfs() {
    local from=$downloads/kernel-$kernel to=$run/initramfs

    mkdir -p "$to/bin"
    cp "$from/bin/busybox" "$to/bin/"
    cp -r "$from/modules" "$from/order" "$to/"
    cp "$top/contrib/guest/init" "$to/init"
    chmod 755 "$to/init"
    (cd "$to" && find . | "$from/bin/busybox" cpio -o -H newc >"$run/initramfs.cpio" 2>/dev/null)
}

# The devices of a guest at one switch.
machine_ports() {
    echo $(((devices + switches - 1) / switches))
}

# SWITCH: start that gba-switchd and wait until its sockets accept connections.
machine_start_switch() {
    local tries=0 file=$log/switch${1#0} sockets=$((guests * $(machine_ports)))

    switch_dirs[$1]=$run/ports$1
    mkdir "${switch_dirs[$1]}"
    "$switchd" --listen "$run/switch$1.sock" --vfio-user-devices "$sockets" \
        "${switch_options[@]}" --vfio-user "${switch_dirs[$1]}" >"$file" 2>&1 &
    switch_pids[$1]=$!
    disown # no message when it ends
    until grep -qs ready "$file"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ] || ! kill -0 "${switch_pids[$1]}" 2>/dev/null; then
            sed 's/^/vm: gba-switchd: /' "$file" >&2
            die 70 "gba-switchd does not start"
        fi
        sleep 0.05
    done
}

# INDEX DEVICE: the device as QEMU's JSON.
machine_device() {
    printf '{"driver": "vfio-user-pci", "id": "gba%d", "bus": "rp%d", "x-msg-timeout": 60000,
        "socket": {"type": "unix", "path": "%s/%d"}}' "$2" "$2" "${switch_dirs[$2 % switches]}" \
        $(($1 * $(machine_ports) + $2 / switches))
}

# INDEX: QEMU's options for the PCI GBAs, each at a root port of its own.
machine_devices() {
    local i bus=pcie.0

    for ((i = 0; i < devices; i++)); do
        [ "$nodes" -eq 1 ] || bus=bridge$((i * nodes / devices))
        arguments+=(-device "pcie-root-port,id=rp$i,slot=$((i + 1)),bus=$bus" -device "$(machine_device "$1" "$i")")
    done
}

# QEMU's options for the processors and the memory. With several NUMA nodes, each has a package and a PCI host
# bridge. The kernel warns of a package with processors of two nodes. It finds the bridges in the reverse of this
# order, and the driver numbers the devices in the order in which the kernel finds them.
machine_nodes() {
    local i each=$((cpus / nodes))

    if [ "$nodes" -eq 1 ]; then
        arguments+=(-smp "$cpus" -machine "q35,memory-backend=memory0")
    else
        arguments+=(-smp "$cpus,sockets=$nodes" -machine q35)
    fi
    for ((i = nodes - 1; i >= 0; i--)); do
        arguments+=(-object "memory-backend-memfd,id=memory$i,size=$((memory / nodes))M,share=on")
        [ "$nodes" -eq 1 ] || arguments+=(
            -numa "node,nodeid=$i,memdev=memory$i,cpus=$((i * each))-$((i * each + each - 1))"
            -device "pxb-pcie,id=bridge$i,bus=pcie.0,bus_nr=$((32 * (i + 1))),numa_node=$i")
    done
}

# INDEX: QEMU's options for the network. The QEMU of the first guest is the hub, with a socket for each other
# guest.
machine_network() {
    local i

    [ "$guests" -gt 1 ] || return 0
    if [ "$1" -gt 0 ]; then
        arguments+=(-netdev "stream,id=net,server=off,reconnect-ms=100,addr.type=unix,addr.path=$run/net$1")
    else
        arguments+=(-netdev 'hubport,id=net,hubid=0')
        for ((i = 1; i < guests; i++)); do
            arguments+=(-netdev "stream,id=to$i,server=on,addr.type=unix,addr.path=$run/net$i")
            arguments+=(-netdev "hubport,id=port$i,hubid=0,netdev=to$i")
        done
    fi
    arguments+=(-device "virtio-net-pci,netdev=net,romfile=,mac=52:54:00:47:42:0$1")
}

# OPTION...: replace this shell by QEMU.
machine_qemu() {
    local qemu=$downloads/qemu

    QEMU_MODULE_DIR=$qemu/usr/lib/x86_64-linux-gnu/qemu exec \
        "$qemu/usr/lib64/ld-linux-x86-64.so.2" --library-path "$qemu/usr/lib/x86_64-linux-gnu" \
        "$qemu/usr/bin/qemu-system-x86_64" -L "$qemu/usr/share/qemu" -L "$qemu/usr/share/seabios" "$@"
}

# INDEX: one guest. Sends "NAME ended STATUS" when its QEMU has ended.
machine_start() {
    local name=${names[$1]} arguments=() kernel_iommu='' status=0

    ! $kvm || arguments+=(-accel kvm)
    # Before the PCI GBA, as QEMU requires. caching-mode: the kernel reports each new mapping to the IOMMU,
    # and so QEMU can send it to the switch.
    ! $iommu || {
        arguments+=(-device 'intel-iommu,caching-mode=on')
        kernel_iommu=' intel_iommu=on iommu.strict=1'
    }
    arguments+=(-accel 'tcg,thread=multi')
    machine_network "$1"
    machine_nodes
    machine_devices "$1"
    mkfifo "$run/$name.monitor.in" "$run/$name.monitor.out"
    # Open for both, so that QEMU does not wait for the other side.
    exec 6<>"$run/$name.monitor.in"
    cat <>"$run/$name.monitor.out" >"$log/$name.monitor" &
    echo '{"execute": "qmp_capabilities"}' >&6
    (machine_qemu -name "$name" -cpu max -m "$((memory / nodes * nodes))" \
        -nodefaults -display none -action "reboot=$reboot" -no-user-config \
        -kernel "$downloads/kernel-$kernel/vmlinuz" -initrd "$run/initramfs.cpio" \
        -append "$machine_kernel_options gba_host=$name$kernel_iommu" \
        -serial "file:$log/$name.console" \
        -qmp "pipe:$run/$name.monitor" \
        -device virtio-serial-pci \
        -chardev "file,id=out,path=$run/$name.out" -device virtserialport,chardev=out,name=out \
        -chardev "file,id=error,path=$run/$name.error" -device virtserialport,chardev=error,name=error \
        -chardev "file,id=control,path=$run/control" -device virtserialport,chardev=control,name=control \
        -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
        -device virtio-9p-pci,fsdev=host,mount_tag=host \
        -fsdev "local,id=vm,path=$run/share,security_model=none" \
        -device virtio-9p-pci,fsdev=vm,mount_tag=vm \
        "${arguments[@]}" >"$log/$name.qemu" 2>&1) || status=$?
    echo "$name ended $status" >&5
}

# INDEX: forward the output of the command.
machine_output() {
    local name=${names[$1]}

    mkfifo "$run/$name.out" "$run/$name.error"
    cat <"$run/$name.out" &
    output_pids+=($!)
    cat <"$run/$name.error" >&2 &
    output_pids+=($!)
}

# SWITCH: kill that gba-switchd while all guests are stopped and it has read all their requests. Otherwise QEMU
# 11.1 aborts: a socket with unread data is reset at its end, and QEMU handles the end of file, but not the reset.
machine_kill_switch() {
    local pid=${switch_pids[$1]} name before tries=0 idle=0

    for name in "${names[@]}"; do
        before=$(grep -ac '"STOP"' "$log/$name.monitor") || true
        echo '{"execute": "stop"}' >"$run/$name.monitor.in"
        until [ "$(grep -ac '"STOP"' "$log/$name.monitor")" -gt "$before" ] || [ "$tries" -ge 600 ]; do
            tries=$((tries + 1))
            sleep 0.05
        done
    done
    # Asleep at ten looks in a row: it has no request to read.
    while [ "$idle" -lt 10 ] && kill -0 "$pid" 2>/dev/null; do
        idle=$((idle + 1))
        grep -q '^State:[[:space:]]*S' "/proc/$pid/status" || idle=0
        sleep 0.02
    done
    kill -KILL "$pid" 2>/dev/null || true
    # Its sockets are closed when it is gone, or a zombie.
    while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status"; do
        sleep 0.02
    done
    for name in "${names[@]}"; do
        echo '{"execute": "cont"}' >"$run/$name.monitor.in"
    done
}

# NAME NUMBER: execute the request of contrib/guest/host, for the switch of that number. The guest waits for the file
# with the result: an error, or nothing.
machine_request() {
    local error=''

    if [[ ! $2 =~ ^[0-9]$ || $2 -ge $switches ]]; then
        error="there is no switch with the number $2"
    elif [ -z "${switch_pids[$2]}" ]; then
        error='contrib/vm has killed it already'
    else
        machine_kill_switch "$2"
        switch_pids[$2]=
    fi
    printf '%s' "$error" >"$run/share/$1.new"
    mv "$run/share/$1.new" "$run/share/$1.done"
}

# NAME: the messages of its kernel since the command may have started.
machine_kernel_messages() {
    [ ! -f "$log/$1.console" ] || sed '1,/vm: ready after/d' "$log/$1.console"
}

# NAME: print the reason for which the guest did not run the command.
machine_failed() {
    if [ -s "$run/share/$1.error" ]; then
        cat "$run/share/$1.error" >&2
    else
        echo "vm: $1 ended early" >&2
    fi
    tail -n 5 "$log/$1.qemu" >&2
    tail -n 20 "$log/$1.console" >&2 || true
}

# Run the guests. Exits with the status of the command.
machine_run() {
    local i name verb number ready=0 status='' output_pids=() switch_pids=() begin=$SECONDS

    machine_initramfs
    for ((i = 0; i < switches; i++)); do
        machine_start_switch "$i"
    done
    mkfifo "$run/control"
    exec 5<>"$run/control"
    for ((i = 0; i < guests; i++)); do
        machine_output "$i"
        machine_start "$i" &
    done
    while [ -z "$status" ]; do
        if ! read -r -t 10 -u 5 name verb number _; then
            [ "$ready" -eq "$guests" ] || [ $((SECONDS - begin)) -lt "$machine_limit" ] ||
                die 70 "not all guests are ready after $machine_limit s; see --log"
            ready=$(find "$run/share" -name '*.ready' | wc -l)
            continue
        fi
        case $verb in
        ended)
            cp "$run/share/$name".dmesg "$log/" 2>/dev/null || true
            status=$(cat "$run/share/$name.status" 2>/dev/null) || {
                machine_failed "$name"
                exit 70
            }
            ;;
        *) machine_request "$name" "$number" ;;
        esac
    done
    # The rest of the output of the first guest; its writers have ended.
    wait "${output_pids[@]:0:2}"
    for name in "${names[@]}"; do
        if machine_kernel_messages "$name" | grep -aE "$machine_faults" >&2; then
            machine_kernel_messages "$name" | head -n 60 >&2
            echo "vm: the kernel of $name reported a fault" >&2
            [ "$status" -ne 0 ] || status=1
        fi
    done
    exit "$status"
}
