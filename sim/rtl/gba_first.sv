// SPDX-License-Identifier: BSD-3-Clause
// The number of the lowest bit that is set, and a mask of those above it. A tree of log2(N) levels.
module gba_first #(
    parameter N = 64,
    parameter BITS = 6
) (
    input wire [N-1:0] bits,
    output wire [N-1:0] above,
    output reg [BITS-1:0] number
);
    wire [N-1:0] only = bits & ~above;
    reg [N-1:0] from; // the lowest and those above it
    integer i;
    always @* begin
        from = bits;
        for (i = 1; i < N; i = i * 2) from = from | from << i;
    end
    always @* begin
        number = 0;
        for (i = 0; i < N; i = i + 1) if (only[i]) number = number | BITS'(i);
    end
    assign above = from << 1;
endmodule
