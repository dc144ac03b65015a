// SPDX-License-Identifier: BSD-3-Clause
// A memory with one write port and one read port, whose value comes a cycle after `re` and stays. No location is
// read in the cycle in which it is written; a simulation returns garbage then. ID is the number of the memory on the
// bus of the control unit; 31: none.
module gba_memory #(
    parameter DEPTH = 32,
    parameter WIDTH = 64,
    parameter ADDRESS = 5,
    parameter [4:0] ID = 31
) (
    input wire clk,
    input wire we,
    input wire [ADDRESS-1:0] waddr,
    input wire [WIDTH-1:0] wdata,
    input wire re,
    input wire [ADDRESS-1:0] raddr,
    output reg [WIDTH-1:0] rdata
);
    reg [WIDTH-1:0] words[0:DEPTH-1];

    always @(posedge clk) begin
        if (we) words[waddr] <= wdata;
        if (re) rdata <= words[raddr];
`ifdef GBA_TRACE
        if (re && we && raddr == waddr) rdata <= ~wdata;
        // The bench follows the state by the writes.
        if (we && ID != 31) gba_rtl_wrote(32'(ID), 32'(waddr), 64'(wdata));
`endif
    end
`ifdef GBA_TRACE
    import "DPI-C" function void gba_rtl_wrote(input int id, input int index, input longint value);
`endif
`ifdef FORMAL
    reg begun = 0; // after the first cycle of the reset
    always @(posedge clk) begin
        begun <= 1;
        if (begun) assert (!(re && we && raddr == waddr));
    end
`endif
endmodule
