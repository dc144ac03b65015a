/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of one thread of gba_gpu_barrier_on_stream, as PTX, so that the library is built
 * without nvcc. contrib/gpu/check --kernel makes this file from gba_gpu_barrier of gba/gpu.cuh. */
/* clang-format off */
static const char gba_gpu_on_stream[] =
    ".version 8.2\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry gba_gpu_on_stream( .param .align 8 .b8 member[48] ) { "
    ".reg .pred %p<13>; .reg .b16 %rs<2>; .reg .b32 %r<14>; .reg .b64 %rd<41>; "
    "ld.param.v2.u32 {%r7, %r8}, [member+32]; ld.param.u64 %rd17, [member+24]; "
    "ld.param.u64 %rd16, [member+16]; ld.param.u64 %rd15, [member+8]; "
    "ld.param.u64 %rd14, [member]; cvta.to.global.u64 %rd2, %rd17; "
    "ld.global.u64 %rd19, [%rd2]; add.s64 %rd20, %rd19, 1; and.b64 %rd21, %rd20, 4294967295; "
    "st.global.u64 [%rd2], %rd21; cvt.u64.u32 %rd3, %r7; bfi.b64 %rd4, %rd21, %rd3, 32, 32; "
    "setp.eq.s32 %p1, %r8, 0; @%p1 bra L2; fence.acq_rel.sys; "
    "st.mmio.relaxed.sys.global.u64 [%rd14], %rd4; bra.uni L3; L2: "
    "st.release.sys.global.u64 [%rd14], %rd4; L3: ld.global.u64 %rd27, [%rd2]; "
    "mov.u64 %rd40, 0; cvt.u32.u64 %r2, %rd27; shl.b64 %rd28, %rd27, 32; "
    "or.b64 %rd5, %rd28, %rd3; mov.u32 %r13, 1; bra.uni L4; L14: add.s32 %r13, %r13, 1; L4: "
    "ld.acquire.sys.global.u64 %rd39, [%rd15]; and.b64 %rd31, %rd39, -4294967296; "
    "setp.ne.s64 %p2, %rd31, 0; and.pred %p4, %p1, %p2; @%p4 bra L6; "
    "cvt.u32.u64 %r10, %rd39; sub.s32 %r11, %r10, %r2; setp.gt.s32 %p5, %r11, -1; "
    "@%p5 bra L7; L6: selp.b64 %rd40, %rd39, %rd40, %p1; and.b64 %rd32, %rd40, -4294967296; "
    "setp.eq.s64 %p7, %rd32, 0; @%p7 bra L8; bra.uni L7; L8: and.b32 %r12, %r13, 15; "
    "setp.ne.s32 %p8, %r12, 0; @%p8 bra L14; @%p1 bra L11; "
    "ld.acquire.sys.global.u64 %rd39, [%rd16]; L11: cvt.u16.u32 %rs1, %r13; "
    "setp.ne.s16 %p10, %rs1, 0; or.pred %p12, %p1, %p10; @%p12 bra L13; fence.acq_rel.sys; "
    "st.mmio.relaxed.sys.global.u64 [%rd14], %rd5; L13: mov.u64 %rd37, %globaltimer; "
    "mov.u64 %rd40, %rd39; bra.uni L14; L7: ret; }";
/* clang-format on */
