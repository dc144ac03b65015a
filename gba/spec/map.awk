# SPDX-License-Identifier: BSD-3-Clause
# The tables of device.md in a form that other tools read:
#
#   awk -v form=sv|json|rdl -f map.awk device.md
#
# sv: a SystemVerilog package with all macros. json: the macros, and the registers by page. rdl: the register
# map as SystemRDL 2.0. A row is "| macro | value | ...", that of a register
# "| macro | offset | type | access | reset | text |". A table whose third column is "bit of X" has the fields of X.
BEGIN {
    FS = " *\\| *"
    field("ARRIVAL", "ARRIVED_COUNT", 0, 32, "members that have arrived, or generation and member")
    field("ARRIVAL", "SEQUENCE", 32, 32, "the last round that completed, or the round of the arrival")
    field("VERSION", "MINOR", 0, 16, "GBA_REGS_MINOR")
    field("VERSION", "MAJOR", 16, 16, "GBA_REGS_MAJOR")
}

$2 == "macro" { register = $4 ~ /^bit of / ? $4 : ""; gsub(/^bit of |:.*/, "", register) }

$2 ~ /^GBA_[A-Z0-9_]+$/ && $3 ~ /^(0x[0-9A-Fa-f]+|[0-9]+)$/ {
    macro[++macros] = $2
    value[$2] = $3
    split($2, part, "_")
    if ($4 ~ /^([0-9A-Z_]+ x )?u(32|64)$/) {
        reg[++regs] = $2
        page[regs] = part[2]
        width[regs] = $4 ~ /u64$/ ? 8 : 4
        number[regs] = split($4, type, " x ") == 2 ? type[1] : 1 # may be a macro of a later table
        access[regs] = $5
        reset[regs] = $6
        text[regs] = $7
    } else if (register != "") {
        bit = 0
        while (2 ^ bit < hex($3)) bit++
        if (2 ^ bit == hex($3)) # not a mask of several fields
            field(register, substr($2, length("GBA_" part[2] "_") + 1), bit, 1, $4)
    }
}

function field(register, name, low, size, text, n) {
    n = ++fields[register]
    field_name[register, n] = name
    field_low[register, n] = low
    field_size[register, n] = size
    field_text[register, n] = text
}

function hex(string, sum, i) {
    string = tolower(string)
    if (string !~ /^0x/)
        return string + 0
    for (i = 3; i <= length(string); i++)
        sum = sum * 16 + index("0123456789abcdef", substr(string, i, 1)) - 1
    return sum
}

function name_of(macro) {
    sub(/^GBA_(REG|DEV|PORT|BELL)_/, "", macro)
    return macro
}

function rdl_field(i, name, low, size, text) {
    printf "        field { sw = %s; hw = %s;%s desc = \"%s\"; } %s[%d:%d]%s;\n",
        access[i] ~ /^RO/ ? "r" : access[i] == "WO" ? "w" : "rw", access[i] ~ /^RO|W1C/ ? "w" : access[i] == "WO" ? "r" : "rw",
        access[i] == "W1C" ? " onwrite = woclr;" : "", text, name, low + size - 1, low,
        reset[i] == "-" ? "" : " = " int(hex(reset[i]) / 2 ^ low) % 2 ^ size
}

function rdl_page(name, prefix, i, n, register) {
    printf "addrmap %s {\n    littleendian;\n", name
    for (i = 1; i <= regs; i++) {
        register = name_of(reg[i])
        # The halves of ARRIVAL are its fields.
        if (page[i] != prefix || (prefix == "REG" && register ~ /^(ARRIVED_COUNT|SEQUENCE)$/))
            continue
        printf "    reg {\n        regwidth = %d; accesswidth = %d; desc = \"%s: %s\";\n", width[i] * 8, width[i] * 8, access[i], text[i]
        for (n = 1; n <= fields[register]; n++)
            rdl_field(i, field_name[register, n], field_low[register, n], field_size[register, n], field_text[register, n])
        if (!fields[register])
            rdl_field(i, "VALUE", 0, width[i] * 8, text[i])
        printf "    } %s%s @ %s;\n", register, (number[i] > 1 ? "[" number[i] "]" : ""), value[reg[i]]
    }
    print "};\n"
}

function end_json(i, n, register) {
    print "{\n  \"source\": \"gba/spec/device.md\",\n  \"values\": {"
    for (i = 1; i <= macros; i++)
        printf "    \"%s\": \"%s\"%s\n", macro[i], value[macro[i]], i < macros ? "," : ""
    print "  },\n  \"registers\": ["
    for (i = 1; i <= regs; i++) {
        register = name_of(reg[i])
        printf "    {\"name\": \"%s\", \"page\": \"%s\", \"offset\": \"%s\", \"width\": %d, \"count\": %d, \"access\": \"%s\", \"reset\": %s, \"fields\": [",
            reg[i], page[i], value[reg[i]], width[i], number[i], access[i], (reset[i] == "-" ? "null" : hex(reset[i]))
        for (n = 1; n <= fields[register]; n++)
            printf "%s{\"name\": \"%s\", \"low\": %d, \"bits\": %d}", (n > 1 ? ", " : ""), field_name[register, n],
                field_low[register, n], field_size[register, n]
        print "]}" (i < regs ? "," : "")
    }
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
    print "// Generated from gba/spec/device.md by map.awk. A description begins with the access of device.md."
    rdl_page("gba_group", "REG")
    rdl_page("gba_device_page", "DEV")
    rdl_page("gba_port_page", "PORT")
    rdl_page("gba_doorbell", "BELL")
    print "addrmap gba_table {\n    littleendian;\n    reg {\n        regwidth = 64; accesswidth = 64; desc = \"RW: [TAB-1]\";"
    print "        field { sw = rw; hw = r; desc = \"bus address of the release flag\"; } ADDRESS[63:0] = 0;"
    printf "    } ENTRY[%d] @ 0x0;\n};\n\n", value["GBA_MEMBERS_MAX"]
    print "addrmap gba {\n    littleendian;"
    printf "    gba_group GROUP[%d] @ %s += %s;\n", value["GBA_GROUPS"], value["GBA_GROUP_BASE"], value["GBA_GROUP_STRIDE"]
    printf "    gba_device_page DEVICE @ %s;\n    gba_port_page PORT @ %s;\n", value["GBA_DEVICE_BASE"], value["GBA_PORT_BASE"]
    printf "    gba_table TABLE[%d] @ %s += %s;\n", value["GBA_GROUPS"], value["GBA_TABLE_BASE"], value["GBA_TABLE_STRIDE"]
    printf "    gba_doorbell DOORBELL[%d] @ %s += %s;\n};\n", value["GBA_GROUPS"], value["GBA_DOORBELL_BASE"],
        value["GBA_DOORBELL_STRIDE"]
}

END {
    for (i = 1; i <= regs; i++)
        if (number[i] in value)
            number[i] = value[number[i]]
    if (form == "sv") end_sv()
    else if (form == "json") end_json()
    else end_rdl()
}
