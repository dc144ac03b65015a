# SPDX-License-Identifier: BSD-3-Clause
# Write what the manual says about parameters, from the tables in the sources. make runs it.
#
#   awk -v component=NAME -v what=WHAT -f parameters.awk HEADER TABLE OWN [PAGE]
#
# HEADER: gba/spec/gba_regs.h. TABLE: gba/base/params.c. OWN: gba/base/component_params.h. NAME: coll_gba_barrier or
# scoll_gba. WHAT:
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
    if (text == "INT32_MAX") return 2147483647
    return text
}

function add(name, value, range, text) {
    names[++count] = name
    defaults[name] = value == "" ? 0 : value_of(value)
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

# The rows of a table.
function read_table(code, table,    row, name, range, i, rows, part) {
    sub(".*gba_param_t " table "\\[\\] = ", "", code)
    sub(/[{]\.name = NULL.*/, "", code)
    rows = split(code, part, /[{](FIELD|OWN)\(/)
    if (rows < 2)
        fail("no table " table)
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
        else if (row !~ /GBA_PARAM_STRING|UINT32_MAX/)
            range = (row ~ /[.]or_zero/ ? "0, " : "") value_of(field(row, "[.]min") == "" ? 0 : field(row, "[.]min")) " to " value_of(field(row, "[.]max"))
        add(name, row ~ /string_default/ ? field(row, "[.]string_default") : field(row, "[.]value_default"), range,
            literals(substr(row, index(row, ".help =") + 7)))
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
file < 4 && /^#define / {
    defined[$2] = $3
}
file < 4 {
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
    for (i = 1; i < 4; i++) {
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", code[i])
        gsub(/[ \t]+/, " ", code[i])
        read_enumerations(code[i])
    }
    read_table(code[2], "table")
    read_table(code[3], "gba_both_params")
    shared = count
    read_table(code[3], component == "scoll_gba" ? "gba_scoll_params" : "gba_coll_params")
    if (component == "scoll_gba")
        defaults["offload_after"] = defined["GBA_SCOLL_OFFLOAD_AFTER"]
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
