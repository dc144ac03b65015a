// SPDX-License-Identifier: BSD-3-Clause
// What an arrival or a NOTIFY does to its group. Combinational. [ARR, SEQ, NOTE-1, NOTE-2]
module gba_arrival #(
    parameter MEMBERS = 708,
    parameter SEQUENCE = 32
) (
    input wire [63:0] value,
    input wire ready,
    input wire [15:0] generation, // the low bits of that of the allocation
    input wire in_mask,
    input wire bound, // to the port of the access
    input wire arrived,
    input wire [31:0] sequence_now,
    input wire [9:0] arrived_count,
    input wire [9:0] member_count,
    output reg [2:0] error,
    output wire current, // the round under way
    output wire counted, // the arrived bit becomes 1
    output wire repeated,
    output wire late,
    output wire completes
);
    wire [31:0] sequence_of = value[63:32];

    // [ARR-2, ARR-6]: the order of the checks is the precedence of the errors.
    always @* begin
        if (!ready) error = 3'(gba_regs::GBA_ERROR_DISABLED);
        else if (value[31:16] != generation || 32'(value[15:0]) >= MEMBERS || !in_mask || !bound)
            error = 3'(gba_regs::GBA_ERROR_MEMBER);
        else if (!current && sequence_of != sequence_now) error = 3'(gba_regs::GBA_ERROR_SEQUENCE);
        else error = 3'(gba_regs::GBA_ERROR_NONE);
    end

    // [ARR-3, ARR-4, ARR-5, SEQ-1]
    assign current = sequence_of == 32'(SEQUENCE'(sequence_now + 1));
    assign counted = error == 0 && current && !arrived;
    assign repeated = error == 0 && current && arrived;
    assign late = error == 0 && !current;
    // Each arrived bit is that of a member, so equal counts mean equal masks. [REL-1]
    assign completes = counted && arrived_count + 10'd1 == member_count;
endmodule
