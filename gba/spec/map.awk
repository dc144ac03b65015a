# SPDX-License-Identifier: BSD-3-Clause
# The tables of device.md in a form that other tools read:
#
#   awk -v form=sv|json|rdl -f map.awk device.md
#
# sv: a SystemVerilog package with all macros. json: the macros, and the registers by page. rdl: the register
# map as SystemRDL 2.0. A row is "| macro | value | ...", that of a register "| macro | offset | type | access |".
BEGIN { FS = " *\\| *" }

$2 ~ /^GBA_[A-Z0-9_]+$/ && $3 ~ /^(0x[0-9A-Fa-f]+|[0-9]+)$/ {
    macro[++macros] = $2
    value[$2] = $3
    if ($4 !~ /^([0-9A-Z_]+ x )?u(32|64)$/)
        next
    split($2, part, "_")
    count = split($4, type, " x ") == 2 ? type[1] : 1
    reg[++regs] = $2
    page[regs] = part[2]
    width[regs] = $4 ~ /u64$/ ? 8 : 4
    number[regs] = count in value ? value[count] : count
    access[regs] = $5
    text[regs] = $6
}

function hex(string, digits, sum, i) {
    string = tolower(string)
    if (string !~ /^0x/)
        return string + 0
    for (i = 3; i <= length(string); i++)
        sum = sum * 16 + index("0123456789abcdef", substr(string, i, 1)) - 1
    return sum
}

function name_of(macro) {
    sub(/^GBA_(REG|DEV|PORT|BELL)_/, "", macro)
    return tolower(macro)
}

function rdl_page(name, prefix, i, rw, size) {
    printf "addrmap %s {\n    default littleendian;\n", name
    for (i = 1; i <= regs; i++) {
        # The halves of ARRIVAL are the same bits as ARRIVAL.
        if (page[i] != prefix || reg[i] ~ /ARRIVED_COUNT|REG_SEQUENCE/)
            continue
        rw = access[i] == "RO" ? "r" : access[i] == "WO" ? "w" : "rw"
        size = width[i] * 8
        printf "    reg { regwidth = %d; accesswidth = %d; field { sw = %s; hw = rw; desc = \"%s\"; } value[%d:0]; } %s%s @ %s;\n",
            size, size, rw, text[i], size - 1, name_of(reg[i]), (number[i] > 1 ? "[" number[i] "]" : ""), value[reg[i]]
    }
    print "};\n"
}

function end_json(i) {
    print "{\n  \"source\": \"gba/spec/device.md\",\n  \"values\": {"
    for (i = 1; i <= macros; i++)
        printf "    \"%s\": \"%s\"%s\n", macro[i], value[macro[i]], i < macros ? "," : ""
    print "  },\n  \"registers\": ["
    for (i = 1; i <= regs; i++)
        printf "    {\"name\": \"%s\", \"page\": \"%s\", \"offset\": \"%s\", \"width\": %d, \"count\": %d, \"access\": \"%s\"}%s\n",
            reg[i], page[i], value[reg[i]], width[i], number[i], access[i], i < regs ? "," : ""
    print "  ]\n}"
}

function end_sv(i) {
    print "// Generated from gba/spec/device.md by map.awk.\npackage gba_regs;"
    for (i = 1; i <= macros; i++)
        if (length(value[macro[i]]) > 10)
            printf "    localparam [63:0] %s = 64'h%s;\n", macro[i], substr(value[macro[i]], 3)
        else if (value[macro[i]] ~ /^0x/)
            printf "    localparam [31:0] %s = 32'h%s;\n", macro[i], substr(value[macro[i]], 3)
        else
            printf "    localparam [31:0] %s = 32'd%s;\n", macro[i], value[macro[i]]
    print "endpackage"
}

function end_rdl() {
    print "// Generated from gba/spec/device.md by map.awk. ARRIVAL has names for its halves: ARRIVED_COUNT, SEQUENCE."
    rdl_page("gba_group", "REG")
    rdl_page("gba_device_page", "DEV")
    rdl_page("gba_port_page", "PORT")
    rdl_page("gba_doorbell", "BELL")
    printf "addrmap gba_table {\n    default littleendian;\n    reg { regwidth = 64; accesswidth = 64; field { sw = rw; hw = rw; } value[63:0]; } entry[%d];\n};\n\n",
        value["GBA_MEMBERS_MAX"]
    print "addrmap gba {"
    printf "    gba_group group[%d] @ %s += %s;\n", value["GBA_GROUPS"], value["GBA_GROUP_BASE"], value["GBA_GROUP_STRIDE"]
    printf "    gba_device_page device @ %s;\n    gba_port_page port @ %s;\n", value["GBA_DEVICE_BASE"], value["GBA_PORT_BASE"]
    printf "    gba_table table[%d] @ %s += %s;\n", value["GBA_GROUPS"], value["GBA_TABLE_BASE"], value["GBA_TABLE_STRIDE"]
    printf "    gba_doorbell doorbell[%d] @ %s += %s;\n};\n", value["GBA_GROUPS"], value["GBA_DOORBELL_BASE"],
        value["GBA_DOORBELL_STRIDE"]
}

END {
    if (form == "sv") end_sv()
    else if (form == "json") end_json()
    else end_rdl()
}
