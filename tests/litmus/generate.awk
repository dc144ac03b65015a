# SPDX-License-Identifier: BSD-3-Clause
# Write the litmus tests of one architecture: awk -v arch=ARCH -v dir=DIR -f generate.awk pairs
# arch: aarch64 ppc riscv x86 c11. Writes DIR/NAME.litmus, and for each weakening that shows on that
# architecture DIR/NAME+WEAKENING.litmus. Prints "FILE EXPECTED", where EXPECTED is what herd7 must
# observe: Never or Sometimes. tests/litmus/spelling proves that emit() writes what compilers write.

function address(thread, name) { # the register that holds it
    if (!((thread, name) in register)) {
        register[thread, name] = 20 + registers[thread]++
        prefix = arch == "aarch64" ? "X" : arch == "ppc" ? "r" : "x"
        init = init " " thread ":" prefix register[thread, name] "=" name ";"
    }
    return register[thread, name]
}

function value(name, number) { # a result, as instructions name it
    number = substr(name, 2)
    if (arch == "aarch64") return "W" number
    if (arch == "ppc") return "r" (3 + number)
    if (arch == "riscv") return "x" (10 + number)
    return arch == "x86" ? substr("raxrbxrcx", 1 + 3 * number, 3) : name
}

function line(thread, text) { code[thread, ++lines[thread]] = text; if (lines[thread] > rows) rows = lines[thread] }

function emit(thread, op, place, arg,    a, v) {
    if (op == "none") return
    if (op ~ /^(store|load|add)/) {
        seen[place] = 1
        if (arch != "x86" && arch != "c11") a = address(thread, place)
        if (op !~ /^store/) {
            v = value(arg)
            # Where the thread ends before it reads, it has read nothing.
            if (arch == "aarch64" || arch == "ppc")
                init = init " " thread ":" (arch == "ppc" ? v : "X" substr(v, 2)) "=9;"
        }
    }
    if (arch == "aarch64") aarch64(thread, op, a, v, arg)
    else if (arch == "ppc") ppc(thread, op, a, v, arg)
    else if (arch == "riscv") riscv(thread, op, a, v, arg)
    else if (arch == "x86") x86(thread, op, place, v, arg)
    else c11(thread, op, place, v, arg)
}

# A store conditional that fails ends its thread: the retry makes no other outcome, and many states.
function aarch64(t, op, a, v, arg) {
    if (op ~ /^store/) {
        line(t, "MOV W9,#" arg)
        line(t, (op == "store" ? "STR" : "STLR") " W9,[X" a "]")
    } else if (op ~ /^load/) {
        line(t, (op == "load" ? "LDR " : "LDAR ") v ",[X" a "]")
    } else if (op ~ /^add/) {
        line(t, (op == "add_relaxed" ? "LDXR " : "LDAXR ") v ",[X" a "]")
        line(t, "ADD W9," v ",#1")
        line(t, (op == "add_relaxed" ? "STXR" : "STLXR") " W10,W9,[X" a "]")
        line(t, "CBNZ W10,END" t)
        fails[t] = 1
    } else {
        line(t, op == "doorbell" ? "DMB OSH" : op == "doorbell_stores" ? "DMB OSHST" : op == "full" ? "DMB SY" : \
            op == "fence_acquire" ? "DMB ISHLD" : "DMB ISH")
    }
}

function ppc(t, op, a, v, arg) {
    if (op == "store_release" || op == "add_acq_rel" || op ~ /^fence/) line(t, "lwsync")
    if (op ~ /^store/) {
        line(t, "li r9," arg)
        line(t, "stw r9,0(r" a ")")
    } else if (op ~ /^load/) {
        line(t, "lwz " v ",0(r" a ")")
        if (op == "load") return
        line(t, "cmpw " v "," v)
        line(t, "bne L" ++label)
        line(t, "L" label ":")
        line(t, "isync")
    } else if (op ~ /^add/) {
        line(t, "lwarx " v ",r0,r" a)
        line(t, "addi r9," v ",1")
        line(t, "stwcx. r9,r0,r" a)
        line(t, "bne END" t)
        fails[t] = 1
        if (op == "add_acq_rel") line(t, "isync")
    } else if (op !~ /^fence/) {
        line(t, "sync")
    }
}

# The model has no accesses to devices: without the i and o of each fence.
function riscv(t, op, a, v, arg) {
    if (op == "store_release" || op == "add_acq_rel" || op == "doorbell" || op == "fence_release")
        line(t, "fence rw,w")
    if (op ~ /^store/) {
        line(t, "ori x9,x0," arg)
        line(t, "sw x9,0(x" a ")")
    } else if (op ~ /^load/) {
        line(t, "lw " v ",0(x" a ")")
        if (op == "load_acquire") line(t, "fence r,rw")
    } else if (op ~ /^add/) {
        line(t, "ori x9,x0,1")
        line(t, (op == "add_acq_rel" ? "amoadd.w.aq " : "amoadd.w ") v ",x9,(x" a ")")
    } else if (op == "fence_acquire") {
        line(t, "fence r,rw")
    } else if (op == "full") {
        line(t, "fence rw,rw")
    }
}

# herd7 has no xadd: a locked exchange stands for it, and two of them add up to the same outcomes.
function x86(t, op, place, v, arg) {
    if (op ~ /^store/) line(t, "movq $" arg ",(" place ")")
    else if (op ~ /^load/) line(t, "movq (" place "),%" v)
    else if (op ~ /^add/) {
        line(t, "movq $" (t + 1) ",%" v)
        line(t, "xchgq %" v ",(" place ")")
    } else if (op == "full") line(t, "mfence")
}

function c11(t, op, place, v, arg,    order) {
    if (op ~ /^fence/ || op == "full") {
        order = op == "full" ? "seq_cst" : substr(op, 7)
        line(t, "atomic_thread_fence(memory_order_" order ");")
    } else if (op ~ /^store/) {
        line(t, "atomic_store_explicit(" place "," arg ",memory_order_" (op == "store" ? "relaxed" : "release") ");")
    } else if (op ~ /^load/) {
        line(t, "int " v " = atomic_load_explicit(" place ",memory_order_" (op == "load" ? "relaxed" : "acquire") ");")
    } else {
        line(t, "int " v " = atomic_fetch_add_explicit(" place ",1,memory_order_" (op == "add_relaxed" ? "relaxed" : "acq_rel") ");")
    }
}

function condition(    text, out, name) {
    text = verdict
    out = ""
    while (match(text, /[0-9]:r[0-9]/)) {
        name = value(substr(text, RSTART + 2, 2))
        if (arch == "aarch64") sub(/W/, "X", name)
        out = out substr(text, 1, RSTART + 1) name
        text = substr(text, RSTART + RLENGTH)
    }
    return "exists (" out text ")"
}

# The test with some of its operations replaced.
function write_test(file, changes, expected,    path, t, i, n, ops, word, key, text, args, part, place) {
    split("", register); split("", registers); split("", code); split("", lines); split("", seen); split("", fails)
    init = ""; rows = 0; label = 0
    for (t = 0; t < threads; t++) {
        n = split(program[t], ops, / *; */)
        for (i = 1; i <= n; i++) {
            key = t "." i
            text = ops[i]
            split(text, word, " ")
            if (key in replaced) {
                split(replaced[key], part, ":")
                word[1] = part[1]
                if (part[2] != "") { word[2] = part[2]; word[3] = part[3] }
            }
            emit(t, word[1], word[2], word[3])
        }
    }
    for (t = 0; t < threads; t++) if (t in fails) line(t, "END" t ":")
    path = dir "/" file ".litmus"
    if (arch == "c11") {
        printf "C %s\n{}\n", file >path
        args = ""
        for (place in seen) args = args (args == "" ? "" : ", ") "atomic_int* " place
        for (t = 0; t < threads; t++) {
            printf "P%d(%s) {\n", t, args >path
            for (i = 1; i <= lines[t]; i++) printf "  %s\n", code[t, i] >path
            print "}" >path
        }
    } else {
        printf "%s %s\n{", arch == "aarch64" ? "AArch64" : arch == "ppc" ? "PPC" : \
            arch == "riscv" ? "RISCV" : "X86_64", file >path
        if (arch == "x86") for (place in seen) init = init " uint64_t " place ";"
        print init " }" >path
        for (i = 0; i <= rows; i++) {
            for (t = 0; t < threads; t++)
                printf " %-24s %s", i == 0 ? "P" t : code[t, i], t + 1 < threads ? "|" : ";\n" >path
        }
    }
    print condition() >path
    close(path)
    print path, expected
}

function flush_test(    i, n, part, word, archs, k) {
    if (name == "") return
    split("", replaced)
    # C11 has no device.
    if (arch == "c11" && (program[0] program[1] program[2]) ~ /doorbell/) return
    write_test(name, "", kind == "allow" ? "Sometimes" : "Never")
    for (i = 1; i <= weakenings; i++) {
        split("", replaced)
        archs = "aarch64 ppc riscv c11"
        n = split(weakening[i], word, " ")
        for (k = 2; k <= n; k++) {
            if (word[k] == "on") {
                archs = ""
                while (++k <= n) archs = archs " " word[k]
                break
            }
            split(word[k], part, "=")
            replaced[part[1]] = part[2]
        }
        if (index(" " archs " ", " " arch " ")) write_test(name "+" word[1], 1, "Sometimes")
    }
}

/^test / { flush_test(); name = $2; threads = weakenings = 0; split("", program) }
/^P[0-9] / { program[threads++] = substr($0, 4) }
/^(forbid|allow) / { kind = $1; verdict = substr($0, length($1) + 2) }
/^weaken / { weakening[++weakenings] = substr($0, 8) }
END { flush_test() }
