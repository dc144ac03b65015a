# SPDX-License-Identifier: BSD-3-Clause
# A strict reader of the part of SystemRDL 2.0 that gba/spec/map.awk writes: addrmap, reg, field, instances. It refuses
# anything else: words, names that are keywords or not defined, properties of another component, fields or registers
# that overlap or do not fit. It prints a line for each register, "addrmap name offset bytes count access reset fields".
#
#   awk -f contrib/maint/rdl.awk FILE
BEGIN {
    split("abstract accesstype addressingtype addrmap alias all alternate bit boolean bothedge byte compact component componentwidth constraint default encode enum external false field fullalign hw inside int internal level longint mem na negedge nonsticky number onreadtype onwritetype posedge precedencetype property r rclr real ref reg regalign regfile rset ruser rw rw1 shortint shortreal signal string struct sw this true type unsigned w w1 wclr woclr woset wot wr wset wuser wzc wzs wzt", words, " ")
    for (i in words) keyword[words[i]] = 1
    split("addrmap.littleendian= reg.regwidth=8|16|32|64 reg.accesswidth=8|16|32|64 reg.desc=\".*\" field.sw=r|w|rw field.hw=r|w|rw field.onwrite=woclr field.desc=\".*\"", words, " ")
    for (i in words) { split(words[i], part, "="); legal[part[1]] = "^(" part[2] ")$" }
}

{
    sub(/\/\/.*/, "")
    while (match($0, /^[ \t]*([A-Za-z_][A-Za-z0-9_]*|0x[0-9A-Fa-f]+|[0-9]+|"[^"\\]*"|\+=|[{}:;=@[]|\])/)) {
        text = substr($0, 1, RLENGTH)
        sub(/^[ \t]+/, "", text)
        token[++tokens] = text
        line[tokens] = FNR
        $0 = substr($0, RLENGTH + 1)
    }
    if ($0 ~ /[^ \t]/) refuse("no token: " $0)
}

function refuse(why) {
    print FILENAME ":" (failed ? "" : line[at] ? line[at] : FNR) ": " why >"/dev/stderr"
    failed = 1
    exit 1
}
function take(pattern, what) {
    if (at > tokens || token[at] !~ "^(" pattern ")$") refuse("'" token[at] "' where " (what ? what : pattern) " must be")
    return token[at++]
}
function name() {
    if (token[at] in keyword) refuse("the keyword " token[at] " as a name")
    return take("[A-Za-z_][A-Za-z0-9_]*", "a name")
}
function number(i, sum, text) {
    text = tolower(take("0x[0-9A-Fa-f]+|[0-9]+", "a number"))
    if (text !~ /^0x/) return text + 0
    for (i = 3; i <= length(text); i++) sum = sum * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return sum
}
function unique(scope, text) {
    if (scope in defined && index(defined[scope], " " text " ")) refuse(text " is defined twice")
    defined[scope] = defined[scope] " " text " "
}
# A property of that component.
function property(of, key, text) {
    key = of "." take("[a-z]+", "a property")
    if (!(key in legal)) refuse(key " is no property that is known")
    text = token[at] == "=" ? token[++at] : ""
    if (text !~ legal[key]) refuse("the value of " key)
    if (token[at] != ";") at++
    take(";")
    value[key] = text
}
function field(low, high, i, initial) {
    delete value["field.sw"]; delete value["field.onwrite"]
    take("field"); take("{")
    while (token[at] != "}") property("field")
    take("}")
    i = name(); unique("reg", i); take("\\["); high = number(); take(":"); low = number(); take("\\]")
    if (high < low || low < next_bit || high >= value["reg.regwidth"]) refuse("the bits of " i)
    next_bit = high + 1
    if (token[at] == "=") {
        at++
        initial = number()
        if (initial >= 2 ^ (high - low + 1)) refuse("the reset value of " i)
        reset += initial * 2 ^ low
    } else reset = "-"
    take(";")
    if (i != "VALUE") fields = fields " " i ":" low ":" high - low + 1
    sw = value["field.sw"] (value["field.onwrite"] == "" ? "" : "1")
}
function register(map, i, count, offset, access) {
    defined["reg"] = fields = ""
    next_bit = reset = 0
    take("reg"); take("{")
    while (token[at] != "}") if (token[at] == "field") field(); else property("reg")
    take("}")
    if (!next_bit) refuse("a register without a field")
    i = name(); unique(map, i); count = 1
    if (token[at] == "[") { at++; count = number(); take("\\]") }
    take("@"); offset = number(); take(";")
    if (offset < next_byte || offset % (value["reg.regwidth"] / 8) || count < 1) refuse("the place of " i)
    next_byte = offset + count * value["reg.regwidth"] / 8
    access = value["reg.desc"]; gsub(/^"|:.*/, "", access)
    if (sw != (access ~ /^RO/ ? "r" : access == "WO" ? "w" : access == "W1C" ? "rw1" : "rw")) refuse(i " is " access ", but has sw = " sw)
    print map, i, offset, value["reg.regwidth"] / 8, count, access, reset fields
}
function instance(map, i, type, count, offset, stride) {
    type = name(); count = 1
    if (!(type in size)) refuse(type " is not defined")
    i = name(); unique(map, i)
    if (token[at] == "[") { at++; count = number(); take("\\]") }
    take("@"); offset = number(); stride = size[type]
    if (token[at] == "+=") { at++; stride = number() }
    take(";")
    if (offset < next_byte || stride < size[type] || count < 1) refuse("the place of " i)
    next_byte = offset + count * stride
}
END {
    if (failed) exit 1
    for (at = 1; at <= tokens;) {
        take("addrmap"); map = name(); unique("", map); take("{")
        next_byte = 0
        while (token[at] != "}")
            if (token[at] == "reg") register(map); else if (token[at] in keyword || token[at + 1] == ";") property("addrmap"); else instance(map)
        take("}"); take(";")
        size[map] = next_byte
    }
}
