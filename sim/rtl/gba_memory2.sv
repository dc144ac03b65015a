// SPDX-License-Identifier: BSD-3-Clause
// A gba_memory with a second read port, for the walker.
module gba_memory2 #(
    parameter DEPTH = 32,
    parameter WIDTH = 64,
    parameter ADDRESS = 5,
    parameter [4:0] ID = 0
) (
    input wire clk,
    input wire we,
    input wire [ADDRESS-1:0] waddr,
    input wire [WIDTH-1:0] wdata,
    input wire [ADDRESS-1:0] raddr,
    output reg [WIDTH-1:0] rdata,
    input wire [ADDRESS-1:0] raddr_b,
    output reg [WIDTH-1:0] rdata_b
);
    reg [WIDTH-1:0] words[0:DEPTH-1];

    always @(posedge clk) begin
        if (we) words[waddr] <= wdata;
        rdata <= words[raddr];
        rdata_b <= words[raddr_b];
    end

`ifdef GBA_TRACE
    // The bench follows the state by the writes.
    import "DPI-C" function void gba_rtl_wrote(input int id, input int index, input longint value);
    always @(posedge clk)
        if (we) gba_rtl_wrote(32'(ID), 32'(waddr), 64'(wdata));
`endif
endmodule
