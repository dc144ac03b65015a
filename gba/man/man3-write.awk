# SPDX-License-Identifier: BSD-3-Clause
# Write the manual pages of section 3 from what man3-read.awk has read.

# TEXT of a line that is no macro.
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

# TEXT of a program.
function literal(text) {
    text = escaped(text)
    gsub(/-/, "\\-", text)
    gsub(/`/, "\\(ga", text)
    return text
}

function out(text) {
    print text > page
}

# TEXT as lines, with macros for names of the library. Functions of this page have no section.
function prose(text, words, n, i, word, before, after, line, macro) {
    gsub(/[ \n]+/, " ", text)
    sub(/^ /, "", text)
    n = split(text, words, " ")
    line = ""
    for (i = 1; i <= n; i++) {
        word = words[i]
        before = after = macro = ""
        if (match(word, /^\(/)) {
            before = "("
            word = substr(word, 2)
        }
        if (match(word, /[).,;:]+$/)) {
            after = substr(word, RSTART)
            word = substr(word, 1, RSTART - 1)
        }
        if (word in function_block && index(here " ", " " word " "))
            macro = "Fn " word
        else if (word in function_block) {
            macro = "Xr " first_function(function_block[word]) " 3"
            # The name that the text has; its page refers to the other one.
            sub(/Xr [a-z_0-9]+/, "Xr " word, macro)
            see[word] = 1
        } else if (word in type_key) {
            macro = "Xr " word " 3"
            see[word] = 1
        } else if (word ~ /^GBA_[A-Z_0-9]+$/)
            macro = "Dv " word
        else if (word ~ /^`[^`]*`$/)
            macro = "Ql " literal(substr(word, 2, length(word) - 2))
        if (macro == "" || (before != "" && after !~ /^\)/)) {
            line = line (line == "" ? "" : " ") words[i]
            continue
        }
        if (line != "")
            out(escaped(line))
        line = ""
        if (before != "") {
            macro = "Pq " macro
            after = substr(after, 2)
        }
        gsub(/./, " &", after)
        out("." macro after)
    }
    if (line != "")
        out(escaped(line))
}

function first_function(number, names) {
    split(block_functions[number], names, " ")
    return names[1]
}

# TEXT: fills sentence[1..]; returns how many. A paragraph begins with a newline, an item with "- ".
function sentences(text, lines, n, i, count, line, at) {
    n = split(text, lines, "\n")
    count = 0
    line = ""
    for (i = 1; i <= n + 1; i++) {
        if (i > n || lines[i] ~ /^ *$/ || lines[i] ~ /^- /) {
            while ((at = match(line, /[.] /)) > 0) {
                sentence[++count] = substr(line, 1, at)
                line = substr(line, at + 2)
            }
            if (line ~ /[^ \n]/)
                sentence[++count] = line
            line = i <= n && lines[i] ~ /^- / ? lines[i] : "\n"
        } else
            line = line (line == "" || line == "\n" ? "" : " ") lines[i]
    }
    return count
}

# The sentences of a description.
function describe(count, i, text, dash) {
    dash = 0
    for (i = 1; i <= count; i++) {
        text = sentence[i]
        if (text ~ /^- /) {
            if (!dash)
                out(".Bl -dash")
            dash = 1
            out(".It")
            text = substr(text, 3)
        } else if (text ~ /^\n/) {
            if (dash)
                out(".El")
            else if (i > 1)
                out(".Pp")
            dash = 0
        }
        prose(text)
    }
    if (dash)
        out(".El")
}

function page_start(names, file, text, list, n, i) {
    n = split(names, list, " ")
    page = directory "/" list[1] ".3"
    here = names
    split("", see)
    out(".\\\" SPDX-License-Identifier: BSD-3-Clause")
    out(".\\\" Made from " file ".")
    out(".Dd " date)
    out(".Dt " toupper(list[1]) " 3")
    out(".Os")
    out(".Sh NAME")
    for (i = 1; i <= n; i++)
        out(".Nm " list[i] (i < n ? " ," : ""))
    gsub(/[ \n]+/, " ", text)
    gsub(/`/, "", text)
    sub(/^ /, "", text)
    sub(/(: .*|[.])$/, "", text)
    if (text ~ /^[A-Z][a-z]* /)
        text = tolower(substr(text, 1, 1)) substr(text, 2)
    out(".Nd " escaped(text))
    out(".Sh LIBRARY")
    if (file == "gba/bootstrap.h")
        out("libgba_bootstrap; pkg-config knows it as\n.Ql gba-bootstrap .")
    else if (file == "gba/gpu.h")
        out("libgba_gpu; pkg-config knows it as\n.Ql gba_gpu .")
    else
        out("libgba; pkg-config knows it as\n.Ql gba .")
    out(".Sh SYNOPSIS")
    out(".In " file)
}

function page_end(names, n, i, j, swap, name) {
    out(".Sh SEE ALSO")
    n = 0
    for (name in see)
        names[++n] = name
    for (i = 1; i <= n; i++)
        for (j = i + 1; j <= n; j++)
            if (names[j] < names[i]) {
                swap = names[i]
                names[i] = names[j]
                names[j] = swap
            }
    for (i = 1; i <= n; i++)
        out(".Xr " names[i] " 3 ,")
    out(".Xr libgba 7")
    close(page)
}

function write_type(name, count) {
    count = sentences(meaning[name])
    page_start(name, type_header[name], sentence[1])
    out(".Bd -literal")
    out(literal(body[type_key[name]]))
    out(".Ed")
    out(".Sh DESCRIPTION")
    describe(count)
    page_end()
}

# ARGUMENT: the name of a parameter, and its type.
function argument_name(argument) {
    if (match(argument, /\(\*[a-z_]+\)/))
        return substr(argument, RSTART + 2, RLENGTH - 3)
    sub(/\[.*/, "", argument)
    match(argument, /[a-z_0-9]+$/)
    return substr(argument, RSTART)
}
function argument_type(argument) {
    if (argument ~ /\*\*|\(/)
        return ""
    sub(/^const /, "", argument)
    sub(/[ *].*/, "", argument)
    return argument
}

# A sentence that begins with names of parameters: these, with blanks around each, else "".
function parameters_of(text, known, keys, list, n, i) {
    sub(/^\n/, "", text)
    if (!match(text, /^[a-z_0-9]+(, [a-z_0-9]+)*: /))
        return ""
    keys = substr(text, 1, RLENGTH - 2)
    gsub(/,/, "", keys)
    n = split(keys, list, " ")
    for (i = 1; i <= n; i++)
        if (!index(known, " " list[i] " "))
            return ""
    return " " keys " "
}

# The list of what a function returns. TEXT: "GBA_OK; GBA_ERR_X: reason; ...". What follows the first sentence comes
# below the list. False if it is no list.
function returned(text, rest, item, at, name, reason, errors) {
    if (text !~ /^GBA_(OK|INPROGRESS)/)
        return 0
    if (match(text, /[.] /)) {
        rest = substr(text, RSTART + 2)
        text = substr(text, 1, RSTART)
    }
    sub(/[.]$/, "", text)
    out(".Bl -tag -width Ds")
    errors = 0
    while (text != "") {
        at = next_status(text)
        item = at ? substr(text, 1, at - 1) : text
        text = at ? substr(text, at) : ""
        sub(/[;,]? *(or *)?$/, "", item)
        match(item, /^GBA_[A-Z_]+/)
        name = substr(item, 1, RLENGTH)
        reason = substr(item, RLENGTH + 1)
        sub(/^[:,]? */, "", reason)
        if (reason ~ /^\(.*\)$/)
            reason = substr(reason, 2, length(reason) - 2)
        if (reason == "" && name != "GBA_OK") {
            if (!(name in status_text))
                complain(here ": no status " name)
            reason = status_text[name]
        }
        if (reason == "")
            reason = "Success"
        if (reason !~ /^[A-Za-z0-9\/]/)
            complain(here ": " name ": no reason \"" reason "\"")
        if (name ~ /^GBA_ERR/ && !errors) {
            errors = 1
            out(".El")
            out(".Sh ERRORS")
            out(".Bl -tag -width Ds")
        }
        out(".It Dv " name)
        prose(toupper(substr(reason, 1, 1)) substr(reason, 2) ".")
    }
    out(".El")
    prose(rest)
    return 1
}

# Where the next status begins, after a ";", "," or "or", outside parentheses.
function next_status(text, i, depth, c) {
    depth = 0
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        depth += (c == "(") - (c == ")")
        if (i > 1 && depth == 0 && substr(text, i) ~ /^GBA_(OK|INPROGRESS|RENEGOTIATE|NOTIFY|ERR_)/ &&
            substr(text, 1, i - 1) ~ /([;,]|[;, ]or) $/)
            return i
    }
    return 0
}

function write_block(number, names, list, n, i, j, count, known, text, section, keys, entries, entry,
    entry_keys, result, context, type, done, k) {
    names = substr(block_functions[number], 2)
    n = split(names, list, " ")
    known = " "
    for (i = 1; i <= n; i++)
        for (j = 1; j <= parameters[list[i]]; j++)
            known = known argument_name(parameter[list[i], j]) " "
    count = sentences(block_comment[number])

    # Each sentence belongs to the part that the last opening words began.
    section = "description"
    entries = 0
    result = context = ""
    split("", kept)
    for (i = j = 1; i <= count; i++) {
        text = sentence[i]
        keys = parameters_of(text, known)
        if (keys != "") {
            section = "parameter"
            sub(/^\n/, "", text)
            sub(/^[a-z_0-9, ]+: /, "", text)
            entry_keys[++entries] = keys
            entry[entries] = text
            continue
        }
        if (text ~ /^\n?Returns /)
            section = "result"
        else if (text ~ /^\n?(Thread-safe|Not thread-safe|One thread|Only the thread|Collective|Not collective|Never blocks|Blocks|May block|Release|Acquire|Orders nothing)/)
            section = "context"
        if (section == "description") {
            if (text ~ /^\n?[a-z_0-9, ]+: /)
                complain(block_header[number] ": " list[1] ": no parameter \"" text "\"")
            kept[j++] = text
        } else if (section == "parameter")
            entry[entries] = entry[entries] " " text
        else if (section == "result")
            result = result (result == "" ? "" : " ") text
        else
            context = context "\n" text
    }
    count = j - 1
    for (i = 1; i <= count; i++)
        sentence[i] = kept[i]

    page_start(names, block_header[number], sentence[1])
    for (i = 1; i <= n; i++) {
        out(".Ft \"" function_type[list[i]] "\"")
        out(".Fo " list[i])
        for (j = 1; j <= parameters[list[i]]; j++)
            out(".Fa \"" parameter[list[i], j] "\"")
        out(".Fc")
    }
    out(".Sh DESCRIPTION")
    describe(count)
    if (known != " ")
        out(".Bl -tag -width Ds")
    done = " "
    for (i = 1; i <= n; i++)
        for (j = 1; j <= parameters[list[i]]; j++) {
            keys = " " argument_name(parameter[list[i], j]) " "
            type = argument_type(parameter[list[i], j])
            if (type in type_key)
                see[type] = 1
            if (index(done, keys))
                continue
            text = ""
            for (k = 1; k <= entries; k++)
                if (index(entry_keys[k], keys)) {
                    keys = entry_keys[k]
                    text = entry[k]
                }
            done = done keys
            if (text == "" && type in meaning) {
                text = meaning[type]
                sub(/[.:][ \n].*/, ".", text)
            }
            gsub(/^ | $/, "", keys)
            if (text == "")
                complain(block_header[number] ": " list[i] ": nothing about the parameter " keys)
            gsub(/ /, " , Fa ", keys)
            out(".It Fa " keys)
            gsub(/\n/, " ", text)
            sub(/^ */, "", text)
            if (text !~ /[.]$/)
                text = text "."
            count = sentences(toupper(substr(text, 1, 1)) substr(text, 2))
            describe(count)
        }
    if (known != " ")
        out(".El")

    sub(/^\n?Returns /, "", result)
    if (result != "") {
        out(".Sh RETURN VALUES")
        if (!returned(result)) {
            count = sentences("Returns " result)
            describe(count)
        }
    } else if (function_type[list[1]] != "void")
        complain(block_header[number] ": " list[1] ": nothing about what it returns")

    if (context !~ /hread/)
        complain(block_header[number] ": " list[1] ": nothing about threads")
    if (context !~ /ollective/) {
        if (!all_local[block_header[number]])
            complain(block_header[number] ": " list[1] ": nothing about whether it is collective")
        context = context "\nNot collective."
    }
    out(".Sh THREAD SAFETY AND ORDERING")
    gsub(/\n+/, " ", context)
    sub(/^ /, "", context)
    count = sentences(context)
    describe(count)
    page_end()

    for (i = 2; i <= n; i++) {
        page = directory "/" list[i] ".3"
        out(".so man3/" list[1] ".3")
        close(page)
    }
}

END {
    for (number = 1; number <= type_count; number++)
        write_type(type_name[number])
    for (number = 1; number <= block_count; number++)
        write_block(number)
    exit failed
}
