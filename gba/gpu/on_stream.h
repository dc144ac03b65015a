/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of one thread of gba_gpu_barrier_on_stream, as PTX, so that the library is built
 * without nvcc. contrib/gpu/check --kernel makes this file from gba_gpu_barrier of gba/gpu.cuh. */
/* clang-format off */
static const char gba_gpu_on_stream[] =
    ".version 8.2\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry gba_gpu_on_stream( .param .align 8 .b8 member[48] ) { "
    ".reg .pred %p<16>; .reg .b32 %r<26>; .reg .b64 %rd<45>; "
    "ld.param.v2.u32 {%r11, %r12}, [member+32]; ld.param.u64 %rd18, [member+24]; "
    "ld.param.u64 %rd17, [member+16]; ld.param.u64 %rd16, [member+8]; "
    "ld.param.u64 %rd15, [member]; cvta.to.global.u64 %rd2, %rd18; "
    "ld.global.u32 %r1, [%rd2]; add.s32 %r13, %r1, 1; cvt.u64.u32 %rd3, %r13; "
    "cvt.u64.u32 %rd20, %r11; bfi.b64 %rd4, %rd3, %rd20, 32, 32; setp.eq.s32 %p1, %r12, 0; "
    "@%p1 bra L2; fence.acq_rel.sys; st.mmio.relaxed.sys.global.u64 [%rd15], %rd4; "
    "bra.uni L3; L2: st.release.sys.global.u64 [%rd15], %rd4; L3: "
    "ld.acquire.sys.global.u64 %rd43, [%rd16]; and.b64 %rd27, %rd43, -4294967296; "
    "setp.ne.s64 %p3, %rd27, 0; and.pred %p4, %p1, %p3; cvt.u32.u64 %r25, %rd43; "
    "@%p4 bra L13; mov.u32 %r24, 1; cvt.u32.u64 %r15, %rd3; L5: sub.s32 %r16, %r25, %r15; "
    "setp.gt.s32 %p5, %r16, -1; mov.u64 %rd44, 0; @%p5 bra L14; and.b32 %r17, %r24, 15; "
    "setp.ne.s32 %p6, %r17, 0; @%p6 bra L12; mov.u64 %rd42, 0; @%p1 bra L9; "
    "ld.acquire.sys.global.u64 %rd42, [%rd17]; L9: and.b64 %rd32, %rd42, -4294967296; "
    "setp.eq.s64 %p8, %rd32, 0; @%p8 bra L11; bra.uni L10; L11: mov.u64 %rd35, %globaltimer; "
    "L12: setp.ne.s32 %p12, %r12, 0; add.s32 %r24, %r24, 1; "
    "ld.acquire.sys.global.u64 %rd43, [%rd16]; and.b64 %rd38, %rd43, -4294967296; "
    "setp.eq.s64 %p13, %rd38, 0; cvt.u32.u64 %r25, %rd43; or.pred %p14, %p12, %p13; "
    "@%p14 bra L5; L13: add.s32 %r21, %r1, 1073741825; sub.s32 %r22, %r21, %r25; "
    "setp.lt.s32 %p15, %r22, 0; shr.u64 %rd39, %rd43, 32; neg.s64 %rd40, %rd39; "
    "selp.b64 %rd44, 0, %rd40, %p15; L14: st.global.u64 [%rd2], %rd3; "
    "cvt.s64.s32 %rd41, %rd44; st.global.u64 [%rd2+8], %rd41; ret; L10: "
    "add.s32 %r18, %r1, 1073741825; cvt.u32.u64 %r19, %rd42; sub.s32 %r20, %r18, %r19; "
    "setp.lt.s32 %p10, %r20, 0; and.pred %p11, %p1, %p10; shr.u64 %rd33, %rd42, 32; "
    "neg.s64 %rd34, %rd33; selp.b64 %rd44, 0, %rd34, %p11; bra.uni L14; }";
/* clang-format on */
