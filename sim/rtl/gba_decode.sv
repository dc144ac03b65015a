// SPDX-License-Identifier: BSD-3-Clause
// The page of an address, and whether a register there takes the access. [MAP, ACC]
module gba_decode #(
    parameter MEMBERS = 708,
    parameter WORDS = 12
) (
    input wire [31:0] address,
    input wire [3:0] width,
    input wire write,
    output reg [2:0] aperture,
    output reg [4:0] group,
    output reg [15:0] offset,
    output reg takes
);
    localparam [2:0] NOWHERE = 0, PAGE = 1, DEVICE = 2, PORT = 3, TABLE = 4, BELL = 5;
    localparam [1:0] RO = 2'b01, WO = 2'b10, RW = 2'b11;

    // The directions of `count` registers of `size` bytes from `base` on; 0: none is at that offset.
    function [1:0] at(input [15:0] base, input integer count, input [3:0] size,
                      input [1:0] directions);
        at = width == size && offset >= base && offset < base + 16'(count * 32'(size)) &&
             (offset & (16'(size) - 16'd1)) == 0 ? directions : 2'b00;
    endfunction

    // [MAP-1, MAP-2, MAP-3]
    always @* begin
        aperture = NOWHERE;
        group = 0;
        offset = 0;
        if (address < gba_regs::GBA_DEVICE_BASE) begin
            aperture = PAGE;
            {group, offset[11:0]} = address[16:0];
        end else if (address >> 12 == gba_regs::GBA_DEVICE_BASE >> 12) begin
            aperture = DEVICE;
            offset[11:0] = address[11:0];
        end else if (address >> 12 == gba_regs::GBA_PORT_BASE >> 12) begin
            aperture = PORT;
            offset[11:0] = address[11:0];
        end else if (address >> 18 == gba_regs::GBA_TABLE_BASE >> 18) begin
            aperture = TABLE;
            {group, offset[12:0]} = address[17:0];
        end else if (address >> 21 == gba_regs::GBA_DOORBELL_BASE >> 21) begin
            aperture = BELL;
            {group, offset} = address[20:0];
        end
    end

    // [ACC-1, ACC-2, ACC-3, ACC-5, TAB-1, BELL-1]
    reg [1:0] directions;
    always @* begin
        case (aperture)
            PAGE:
                directions = at(16'(gba_regs::GBA_REG_GROUP_ID), 1, 4, RO) |
                    at(16'(gba_regs::GBA_REG_MEMBER_COUNT), 2, 4, RW) |
                    at(16'(gba_regs::GBA_REG_STATUS), 1, 4, RO) |
                    at(16'(gba_regs::GBA_REG_ARRIVAL), 1, 8, RW) |
                    at(16'(gba_regs::GBA_REG_ARRIVED_COUNT), 1, 4, RO) |
                    at(16'(gba_regs::GBA_REG_SEQUENCE), 1, 4, RW) |
                    at(16'(gba_regs::GBA_REG_LAST_ERROR), 2, 4, RO) |
                    at(16'(gba_regs::GBA_REG_MEMBER_MASK), WORDS, 8, RW) |
                    at(16'(gba_regs::GBA_REG_ARRIVED_MASK), WORDS, 8, RO) |
                    at(16'(gba_regs::GBA_REG_COUNTERS), gba_regs::GBA_COUNTERS, 8, RO);
            DEVICE:
                directions = at(16'(gba_regs::GBA_DEV_ID), 4, 4, RO) |
                    at(16'(gba_regs::GBA_DEV_BAD_ACCESS), 1, 8, RO) |
                    at(16'(gba_regs::GBA_DEV_GROUPS_FREE), 2, 4, RO) |
                    at(16'(gba_regs::GBA_DEV_UUID), 2, 8, RO);
            PORT:
                directions = at(16'(gba_regs::GBA_PORT_NUMBER), 3, 4, RO) |
                    at(16'(gba_regs::GBA_PORT_IRQ_CAUSE), 1, 4, RO) |
                    at(16'(gba_regs::GBA_PORT_IRQ_MASK), 1, 4, RW) |
                    at(16'(gba_regs::GBA_PORT_GROUP), 2, 4, RW) |
                    at(16'(gba_regs::GBA_PORT_KEY), 1, 8, RW) |
                    at(16'(gba_regs::GBA_PORT_MEMBER), 3, 4, RW) |
                    at(16'(gba_regs::GBA_PORT_RESULT), 1, 4, RO) |
                    at(16'(gba_regs::GBA_PORT_EVENTS), gba_regs::GBA_GROUPS, 4, RW);
            TABLE: directions = at(0, MEMBERS, 8, RW);
            BELL: directions = at(0, 2, 8, WO);
            default: directions = 2'b00;
        endcase
        takes = write ? directions[1] : directions[0];
    end
endmodule
