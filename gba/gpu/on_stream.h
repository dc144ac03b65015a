/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of one thread of gba_gpu_barrier_on_stream, as PTX, so that the library is built
 * without nvcc. contrib/gpu/check --kernel makes this file from gba_gpu_barrier of gba/gpu.cuh. */
/* clang-format off */
static const char gba_gpu_on_stream[] =
    ".version 8.2\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry gba_gpu_on_stream( .param .align 8 .b8 member[48] ) { "
    ".reg .pred %p<10>; .reg .b32 %r<14>; .reg .b64 %rd<36>; "
    "ld.param.v2.u32 {%r7, %r8}, [member+32]; ld.param.u64 %rd15, [member+24]; "
    "ld.param.u64 %rd14, [member+16]; ld.param.u64 %rd13, [member+8]; "
    "ld.param.u64 %rd12, [member]; cvta.to.global.u64 %rd2, %rd15; "
    "ld.global.u64 %rd17, [%rd2]; add.s64 %rd18, %rd17, 1; and.b64 %rd19, %rd18, 4294967295; "
    "st.global.u64 [%rd2], %rd19; cvt.u64.u32 %rd20, %r7; "
    "bfi.b64 %rd3, %rd19, %rd20, 32, 32; setp.eq.s32 %p1, %r8, 0; @%p1 bra L2; "
    "fence.acq_rel.sys; st.mmio.relaxed.sys.global.u64 [%rd12], %rd3; bra.uni L3; L2: "
    "st.release.sys.global.u64 [%rd12], %rd3; L3: mov.u64 %rd35, 0; "
    "ld.global.u32 %r2, [%rd2]; mov.u32 %r13, 1; bra.uni L4; L12: add.s32 %r13, %r13, 1; L4: "
    "ld.acquire.sys.global.u64 %rd34, [%rd13]; and.b64 %rd28, %rd34, -4294967296; "
    "setp.ne.s64 %p2, %rd28, 0; and.pred %p4, %p1, %p2; @%p4 bra L6; "
    "cvt.u32.u64 %r10, %rd34; sub.s32 %r11, %r10, %r2; setp.gt.s32 %p5, %r11, -1; "
    "@%p5 bra L7; L6: selp.b64 %rd35, %rd34, %rd35, %p1; and.b64 %rd29, %rd35, -4294967296; "
    "setp.eq.s64 %p7, %rd29, 0; @%p7 bra L8; bra.uni L7; L8: and.b32 %r12, %r13, 15; "
    "setp.ne.s32 %p8, %r12, 0; @%p8 bra L12; @%p1 bra L11; "
    "ld.acquire.sys.global.u64 %rd34, [%rd14]; L11: mov.u64 %rd32, %globaltimer; "
    "mov.u64 %rd35, %rd34; bra.uni L12; L7: ret; }";
/* clang-format on */
