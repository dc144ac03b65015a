# SPDX-License-Identifier: BSD-3-Clause
# Make the manual pages of section 3 from the comments of the public headers. Not doxygen or kernel-doc: both need
# a markup in each comment, and neither checks what is said about threads and statuses.
#
#   awk -v directory=DIRECTORY -v date=DATE -f man3-read.awk -f man3-write.awk HEADER...
#
# Each comment above one or more functions gives a page with the name of the first function, and each other
# function a page that refers to it. Each structure, enumeration and function type has a page, too. A
# comment of functions is made of sentences in this order; all but the first part may be missing:
#   what the functions do; the first sentence is the one in NAME;
#   "parameter: text", or "parameter, parameter: text", for each parameter. A parameter without it is
#     described by the comment of its type;
#   "Returns GBA_OK; GBA_ERR_X: reason; GBA_ERR_Y (reason)", or "Returns" and text. A status without a
#     reason is described by its comment in types.h;
#   what threads may call it, whether it is collective and blocks, and what it orders.
# The exit status is 1, with a line for each cause, if a comment lacks a part that its function needs.

function complain(text) {
    print "man3: " text > "/dev/stderr"
    failed = 1
}

# The header as users include it.
function include_name(file, parts, n) {
    n = split(file, parts, "/")
    return "gba/" parts[n]
}

function end_block() {
    block = 0
    comment = ""
}

FNR == 1 {
    header = include_name(FILENAME)
    in_comment = in_type = 0
    declaration = ""
    all_local[header] = 0
    end_block()
}

# The members of a structure, with their comments.
in_type {
    body[type] = body[type] "\n" $0
    if (type == "gba_status")
        read_status($0)
    if ($0 ~ /^}/) {
        in_type = 0
        finish_type($0)
    }
    next
}

in_comment || /^ *\/\*/ {
    if (!in_comment)
        end_block()
    in_comment = 1
    line = $0
    if (line ~ /\*\/ *$/) {
        in_comment = 0
        sub(/ *\*\/ *$/, "", line)
    }
    sub(/^ *\/\*+ ?/, "", line)
    sub(/^ \* ?/, "", line)
    comment = comment "\n" line
    if (line ~ /No function of this header is *$/)
        all_local[header] = 1
    next
}

/^typedef (struct|enum) [a-z_]+ \{/ {
    type = $3
    in_type = 1
    body[type] = $0
    type_comment[type] = comment
    next
}

# An opaque type, or that of a function.
/^typedef / && /;/ {
    line = $0
    sub(/;.*/, "", line)
    body[""] = line ";"
    if (match(line, /\(\*[a-z_]+\)/)) {
        type = substr(line, RSTART + 2, RLENGTH - 3)
        body[type] = line ";"
        type_comment[type] = comment
        finish_type(type)
    } else {
        n = split(line, words, " ")
        if (comment == "" && match($0, /\/\*.*\*\//))
            comment = substr($0, RSTART + 3, RLENGTH - 6)
        if (!(words[n] in meaning) && comment != "")
            meaning[words[n]] = comment
    }
    end_block()
    next
}

declaration != "" || /^GBA_EXPORT / {
    declaration = declaration " " $0
    if (declaration ~ /;/) {
        read_function(declaration)
        declaration = ""
    }
    next
}

# A comment belongs to what follows it at once.
{ end_block() }

function finish_type(line) {
    sub(/^} */, "", line)
    sub(/;.*/, "", line)
    type_count++
    type_name[type_count] = line
    type_key[line] = type
    type_header[line] = header
    meaning[line] = type_comment[type]
    if (type_comment[type] == "")
        complain(header ": " line " has no comment")
    end_block()
}

# LINE of the enumeration of statuses.
function read_status(line, name, text) {
    if (line !~ /^ *GBA_/ || line !~ /\/\*/)
        return
    name = text = line
    sub(/^ */, "", name)
    sub(/ .*/, "", name)
    sub(/.*\/\* /, "", text)
    sub(/ \*\/.*/, "", text)
    status_text[name] = text
}

function read_function(text, name, open, arguments, i, n, depth, c, part) {
    gsub(/[ \n]+/, " ", text)
    sub(/^ *GBA_EXPORT /, "", text)
    open = index(text, "(")
    name = substr(text, 1, open - 1)
    arguments = substr(text, open + 1)
    sub(/\) *;.*/, "", arguments)
    match(name, /gba_[a-z_0-9]+$/)
    function_type[substr(name, RSTART)] = substr(name, 1, RSTART - 1)
    name = substr(name, RSTART)
    sub(/ $/, "", function_type[name])
    if (block == 0) {
        block = ++block_count
        block_comment[block] = comment
        block_header[block] = header
        if (comment == "")
            complain(header ": " name " has no comment")
    }
    block_functions[block] = block_functions[block] " " name
    function_block[name] = block
    n = depth = 0
    part = ""
    for (i = 1; i <= length(arguments) + 1; i++) {
        c = substr(arguments, i, 1)
        depth += (c == "(") - (c == ")")
        if ((c == "," && depth == 0) || c == "") {
            sub(/^ /, "", part)
            if (part != "void")
                parameter[name, ++n] = part
            part = ""
        } else
            part = part c
    }
    parameters[name] = n
    comment = ""
}
