/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of one thread of gba_gpu_barrier_on_stream, as PTX, so that the library is built
 * without nvcc. contrib/gpu/check --kernel makes this file from gba_gpu_barrier of gba/gpu.cuh. */
/* clang-format off */
static const char gba_gpu_on_stream[] =
    ".version 8.2\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry gba_gpu_on_stream( .param .align 8 .b8 member[48] ) { .reg .pred %p<18>; "
    ".reg .b32 %r<22>; .reg .b64 %rd<41>; ld.param.v2.u32 {%r7, %r8}, [member+32]; "
    "ld.param.u64 %rd17, [member+24]; ld.param.u64 %rd16, [member+16]; "
    "ld.param.u64 %rd15, [member+8]; ld.param.u64 %rd14, [member]; "
    "cvta.to.global.u64 %rd2, %rd17; ld.global.u32 %r1, [%rd2]; add.s32 %r9, %r1, 1; "
    "cvt.u64.u32 %rd3, %r9; cvt.u64.u32 %rd19, %r7; bfi.b64 %rd4, %rd3, %rd19, 32, 32; "
    "setp.eq.s32 %p1, %r8, 0; @%p1 bra L2; fence.acq_rel.sys; "
    "st.mmio.relaxed.sys.global.u64 [%rd14], %rd4; bra.uni L3; L2: "
    "st.release.sys.global.u64 [%rd14], %rd4; L3: mov.u32 %r3, 1; cvt.u32.u64 %r11, %rd3; "
    "bra.uni L4; L19: add.s32 %r3, %r3, 1; L4: ld.acquire.sys.global.u64 %rd24, [%rd15]; "
    "and.b64 %rd8, %rd24, -4294967296; setp.ne.s64 %p2, %rd8, 0; and.pred %p4, %p1, %p2; "
    "@%p4 bra L6; cvt.u32.u64 %r12, %rd24; sub.s32 %r13, %r12, %r11; "
    "setp.gt.s32 %p5, %r13, -1; mov.u64 %rd40, 0; @%p5 bra L17; L6: setp.eq.s64 %p6, %rd8, 0; "
    "@%p6 bra L10; bra.uni L7; L10: and.b32 %r17, %r3, 15; setp.ne.s32 %p11, %r17, 0; "
    "@%p11 bra L19; mov.u64 %rd39, 0; @%p1 bra L13; ld.acquire.sys.global.u64 %rd39, [%rd16]; "
    "L13: and.b64 %rd33, %rd39, -4294967296; setp.eq.s64 %p13, %rd33, 0; @%p13 bra L18; "
    "bra.uni L14; L18: mov.u64 %rd38, %globaltimer; bra.uni L19; L7: "
    "setp.lt.s64 %p7, %rd24, 0; mov.u64 %rd40, -21; @%p7 bra L17; "
    "add.s32 %r14, %r1, 1073741825; cvt.u32.u64 %r15, %rd24; sub.s32 %r16, %r14, %r15; "
    "setp.lt.s32 %p9, %r16, 0; and.pred %p10, %p1, %p9; mov.u64 %rd40, 0; @%p10 bra L17; "
    "shr.u64 %rd29, %rd24, 32; neg.s64 %rd40, %rd29; bra.uni L17; L14: "
    "setp.lt.s64 %p14, %rd39, 0; mov.u64 %rd40, -21; @%p14 bra L17; "
    "add.s32 %r18, %r1, 1073741825; cvt.u32.u64 %r19, %rd39; sub.s32 %r20, %r18, %r19; "
    "setp.lt.s32 %p16, %r20, 0; and.pred %p17, %p1, %p16; mov.u64 %rd40, 0; @%p17 bra L17; "
    "shr.u64 %rd36, %rd39, 32; neg.s64 %rd40, %rd36; L17: st.global.u64 [%rd2], %rd3; "
    "cvt.s64.s32 %rd37, %rd40; st.global.u64 [%rd2+8], %rd37; ret; } ";
/* clang-format on */
