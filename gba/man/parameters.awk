# SPDX-License-Identifier: BSD-3-Clause
# Write what the manual says about parameters, from the tables in the sources. make runs it.
#
#   awk -v component=NAME -v what=WHAT -f parameters.awk HEADER TABLE COMMON OWN [PAGE]
#
# HEADER: gba/spec/gba_regs.h. TABLE: gba/base/params.c. COMMON and OWN: params.c of ompi/mca/common/gba and of the
# component, coll_gba_barrier or scoll_gba. WHAT:
#
# page    PAGE, with the line "Default VALUE; RANGE." after each ".It Cm NAME" of its section PARAMETERS. It is an
#         error if an entry is no parameter, or a parameter has no entry.
# sample  a parameter file that sets each parameter to its default, in comments
# table   lines NAME|DEFAULT|RANGE

function fail(text) {
    print "parameters.awk: " text | "cat >&2"
    failed = 1
    exit 1
}

# The string literals at the start of `code`, as one text.
function literals(code,    text, part) {
    while (match(code, /^[ ,]*"([^"\\]|\\.)*"/)) {
        part = substr(code, RSTART, RLENGTH)
        sub(/^[ ,]*"/, "", part)
        sub(/"$/, "", part)
        text = text part
        code = substr(code, RSTART + RLENGTH)
        if (code ~ /^ *,/)
            break
    }
    gsub(/\\"/, "\"", text)
    return text
}

# What follows `name` in the code of an entry, up to a comma or the end of a statement.
function field(code, name) {
    if (!match(code, name " = [^,;}]*"))
        return ""
    code = substr(code, RSTART, RLENGTH)
    sub(/^[^=]*= /, "", code)
    return code
}

# A value as a user writes it.
function value_of(text) {
    gsub(/^ +| +$|"/, "", text)
    if (text in defined)
        text = defined[text]
    sub(/[uU]$/, "", text)
    if (text == "true") return 1
    if (text == "false") return 0
    # With the usual configuration of Open MPI.
    if (text ~ /OSHMEM_SPEC_COMPAT/) return 0
    if (text == "INT32_MAX") return 2147483647
    if (text == "UINT32_MAX") return 4294967295
    return text
}

function add(name, value, range, text) {
    names[++count] = name
    defaults[name] = value_of(value)
    ranges[name] = range
    helps[name] = text
}

function read_enumerations(code,    list, name, value) {
    while (match(code, /gba_param_value_t [a-z_]+\[\] = [{]/)) {
        name = substr(code, RSTART + 18, RLENGTH - 24)
        code = substr(code, RSTART + RLENGTH)
        list = substr(code, 1, index(code, "NULL"))
        while (match(list, /[{][A-Z0-9_]+, "[a-z0-9]+"[}]/)) {
            value = substr(list, RSTART + 1, RLENGTH - 2)
            list = substr(list, RSTART + RLENGTH)
            if (name in enumerators)
                enumerators[name] = enumerators[name] ", "
            enumerators[name] = enumerators[name] literals(substr(value, index(value, "\"")))
            value_name = substr(value, 1, index(value, ",") - 1)
            if (!(value_name in defined))
                defined[value_name] = literals(substr(value, index(value, "\"")))
        }
    }
}

# What both components register besides: a variable with the default, and the text in the call of text_register.
function common_default(name) {
    if (!match(code[3], name "_default\\[\\] = \"[a-z]*\""))
        fail("no default of " name)
    return substr(code[3], RSTART + length(name) + 13, RLENGTH - length(name) - 13)
}

function common_help(name,    text) {
    text = substr(code[3], index(code[3], "text_register(component, \"" name "\","))
    sub(/^[^,]*,[^,]*,[^,]*,/, "", text)
    return literals(text)
}

# The rows of the library's table.
function read_table(code,    row, name, range, i, rows, part) {
    read_enumerations(code)
    sub(/.*gba_param_t table\[\] = /, "", code)
    sub(/[{]\.name = NULL.*/, "", code)
    rows = split(code, part, /[{]FIELD\(/)
    for (i = 2; i <= rows; i++) {
        row = part[i]
        if (row ~ /\.hidden = true/)
            continue
        name = substr(row, 1, index(row, ")") - 1)
        range = ""
        if (row ~ /GBA_PARAM_ENUM/)
            range = enumerators[field(row, "[.]values")]
        else if (row ~ /GBA_PARAM_BOOL/)
            range = "0 or 1"
        else if (row !~ /GBA_PARAM_STRING/)
            range = value_of(field(row, "[.]min") == "" ? 0 : field(row, "[.]min")) " to " value_of(field(row, "[.]max"))
        add(name, row ~ /string_default/ ? field(row, "[.]string_default") : field(row, "[.]value_default"), range,
            literals(substr(row, index(row, ".help =") + 7)))
    }
    if (count < 15)
        fail("no table of parameters")
}

# What a component registers besides.
function read_own(code,    call, name, value, after, n, part, i) {
    n = split(code, part, /gba_common_params_register\( ?component, /)
    if (n != 2)
        fail("no call of gba_common_params_register")
    after = value_of(substr(part[2], 1, index(part[2], ",") - 1))
    if (after != 0)
        defaults["offload_after"] = after
    add("companions", common_default("companions"), "", literals(substr(part[2], index(part[2], ","))))
    add("journal", common_default("journal"), "", common_help("journal"))
    n = split(code, part, /(bool|count)_register\( ?/)
    for (i = 2; i <= n; i++) {
        if (part[i] !~ /^"/)
            continue
        name = literals(part[i])
        call = part[i]
        sub(/^[^,]*, [^,]*, /, "", call)
        add(name, substr(call, 1, index(call, ",") - 1), part[i - 1] ~ /bool$/ ? "0 or 1" : "",
            literals(substr(call, index(call, ","))))
    }
    n = split(code, part, /mca_base_component_var_register\( ?/)
    for (i = 2; i <= n; i++) {
        call = part[i]
        if (call !~ /^[^,]*, "/ || call ~ /FLAG_INTERNAL/)
            continue
        sub(/^[^,]*, /, "", call)
        name = literals(call)
        match(call, /&gba_[a-z]+->[a-z_]+/)
        value = field(code, substr(call, RSTART + 1, RLENGTH - 1))
        sub(/^.*_AUTO$/, "auto", value)
        add(name, value, "", literals(substr(call, index(call, ","))))
    }
}

# The text in lines of comments.
function comment(text,    line, words, word, i) {
    words = split(text, word, " ")
    for (i = 1; i <= words; i++) {
        if (line != "" && length(line) + length(word[i]) > 108) {
            print "# " line
            line = ""
        }
        line = line (line == "" ? "" : " ") word[i]
    }
    print "# " line (text ~ /[.]$/ ? "" : ".")
}

function write_sample(    i, name) {
    if (component == "coll_gba_barrier") {
        print "# All parameters of the GBA components, with their defaults; coll_gba_barrier(7), scoll_gba(7) and"
        print "# gba-tuning(7) explain them. Copy the lines that you change to $HOME/.openmpi/mca-params.conf, or to"
        print "# openmpi-mca-params.conf in the directory that \"ompi_info --path sysconfdir\" prints, without \"# \"."
        print "\n# Where Open MPI finds the components, if they are not in its own directory; see gba-admin(7)."
        print "# mca_base_component_path = SYS_DEFAULT:/opt/gba/lib/openmpi"
        print "\n# MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init\n"
    } else {
        print "\n# OpenSHMEM: shmem_barrier, shmem_sync and others; the texts above are also those of these parameters\n"
    }
    for (i = 1; i <= count; i++) {
        name = names[i]
        # The texts of the library's parameters are in the part of the first component.
        if (component == "coll_gba_barrier" || i > shared)
            comment(helps[name])
        print "# " component "_" name " = " defaults[name]
    }
}

FNR == 1 {
    file++
}
file < 5 && /^#define / {
    defined[$2] = $3
}
file < 5 {
    code[file] = code[file] " " $0
    next
}
# The page.
/^\.Sh / {
    inside = $0 == ".Sh PARAMETERS"
    depth = 0
}
inside && /^\.Bl/ {
    depth++
}
inside && /^\.El/ {
    depth--
}
FNR == 1 {
    prepare()
}
{
    print
}
inside && /^Default / {
    fail(FILENAME ": \"" $0 "\" must not stand in the page, because it is added to it")
}
inside && depth == 1 && /^\.It Cm / {
    if (!($3 in defaults))
        fail(FILENAME ": there is no parameter " $3)
    print "Default " defaults[$3] (ranges[$3] == "" ? "" : "; " ranges[$3]) "."
    seen[$3]++
}

function prepare(    i) {
    for (i = 1; i < 5; i++) {
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", code[i])
        gsub(/[ \t]+/, " ", code[i])
    }
    read_table(code[2])
    shared = count
    read_own(code[4])
    prepared = 1
}

END {
    if (failed)
        exit 1
    if (!prepared)
        prepare()
    if (what == "sample")
        write_sample()
    for (i = 1; i <= count && what == "table"; i++)
        print names[i] "|" defaults[names[i]] "|" ranges[names[i]]
    for (i = 1; i <= count && what == "page"; i++)
        if (seen[names[i]] != 1)
            fail(FILENAME ": not one entry for the parameter " names[i])
}
