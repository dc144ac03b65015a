// SPDX-License-Identifier: BSD-3-Clause
// The way of the release stores to the ports. A store is offered for one cycle, and given to its port in the next one
// if the port is ready; else the walker keeps it. A port that was not ready for 2^PATIENCE to 2 * 2^PATIENCE cycles is
// lost until it is ready again: its stores are dropped. [PORT-6]
module gba_egress #(
    parameter PORTS = 708,
    parameter PATIENCE = 20,
    parameter WIDTH = 64
) (
    input wire clk,
    input wire rst,
    input wire [PORTS-1:0] ready, // this port takes a store in the next cycle
    output reg [PORTS-1:0] lost,
    input wire offer,
    input wire all, // to several ports, each of which takes it
    input wire [9:0] port,
    input wire [WIDTH-1:0] store,
    output wire takes, // `offer` is given, or dropped
    output reg valid,
    output reg [WIDTH-1:0] given
);
    localparam PI = PORTS > 1 ? $clog2(PORTS) : 1;
    reg [PATIENCE-1:0] age;
    reg [PORTS-1:0] seen; // ready since `age` was 0
    wire [PORTS-1:0] gone = ready | lost;
    assign takes = all || gone[PI'(port)];

    always @(posedge clk) begin
        age <= age + 1;
        seen <= age == 0 ? ready : seen | ready;
        lost <= age == 0 ? ~(seen | ready) : lost & ~ready;
        valid <= offer && (all || ready[PI'(port)]);
        given <= store;
        if (rst) begin
            age <= 1;
            seen <= {PORTS{1'b1}};
            lost <= 0;
            valid <= 0;
        end
    end
endmodule
