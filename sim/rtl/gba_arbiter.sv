// SPDX-License-Identifier: BSD-3-Clause
// Round robin: the first one that asks after the last one taken. Whoever asks is taken after at most N - 1 others.
// [ORD-2]
module gba_arbiter #(
    parameter N = 4,
    parameter BITS = 2
) (
    input wire clk,
    input wire rst,
    input wire [N-1:0] ask,
    input wire take,
    output wire any,
    output wire [BITS-1:0] which
);
    reg [N-1:0] later; // those after the last one
    wire [N-1:0] above;
    gba_first #(N, BITS) first ((ask & later) != 0 ? ask & later : ask, above, which);
    assign any = ask != 0;

    always @(posedge clk)
        if (rst) later <= 0;
        else if (take) later <= above;
endmodule
