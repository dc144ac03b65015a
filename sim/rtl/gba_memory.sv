// SPDX-License-Identifier: BSD-3-Clause
// A memory with one write port and READS read ports, whose values come a cycle after the addresses.
// A location that is read in the cycle in which it is written reads its old value; the engine never
// does that. ID is the number of the memory on the bus of the control unit.
module gba_memory #(
    parameter DEPTH = 32,
    parameter WIDTH = 64,
    parameter ADDRESS = 5,
    parameter [4:0] ID = 0,
    parameter READS = 1
) (
    input wire clk,
    input wire we,
    input wire [ADDRESS-1:0] waddr,
    input wire [WIDTH-1:0] wdata,
    input wire [READS*ADDRESS-1:0] raddr,
    output reg [READS*WIDTH-1:0] rdata
);
    reg [WIDTH-1:0] words[0:DEPTH-1];

    integer i;
    always @(posedge clk) begin
        if (we) words[waddr] <= wdata;
        for (i = 0; i < READS; i = i + 1) rdata[i*WIDTH+:WIDTH] <= words[raddr[i*ADDRESS+:ADDRESS]];
    end

`ifdef GBA_TRACE
    // The bench follows the state by the writes.
    import "DPI-C" function void gba_rtl_wrote(input int id, input int index, input longint value);
    always @(posedge clk)
        if (we) gba_rtl_wrote(32'(ID), 32'(waddr), 64'(wdata));
`endif
endmodule
