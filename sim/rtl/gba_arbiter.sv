// SPDX-License-Identifier: BSD-3-Clause
// One access of several lanes: round robin from the lane after the last one, among those whose
// access may start. [ORD-1, ORD-2]
module gba_arbiter #(
    parameter LANES = 4,
    parameter LANE = 2
) (
    input wire clk,
    input wire rst,
    input wire [LANES-1:0] may_start,
    input wire take,
    output reg any,
    output reg [LANE-1:0] lane
);
    reg [LANE-1:0] last;
    integer i;

    always @* begin
        any = 0;
        lane = last;
        for (i = LANES; i > 0; i = i - 1)
            if (may_start[last+LANE'(i)]) begin
                any = 1;
                lane = last + LANE'(i);
            end
    end

    always @(posedge clk)
        if (rst) last <= 0;
        else if (take) last <= lane;
endmodule
