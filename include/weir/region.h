/* Regions of interest: marks that `weir emulate --roi` counts between. A mark is one no-op instruction, harmless on
 * hardware; elsewhere than on x86-64 it is nothing at all. For C and C++; needs no library.
 *
 *   WEIR_REGION_BEGIN(0);
 *   ... what is to be measured ...
 *   WEIR_REGION_END(0);
 *
 * A region has a number from 0 to 254, a constant. Regions may overlap and may run many times; each run is reported.
 * While a region is open, further begins of it do nothing. The compiler moves no memory access across a mark. */
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
/* nopl 0x4e4dNN01(%rax) and nopl 0x4e4dNN02(%rax), NN the number */
#define WEIR_REGION_BEGIN(number) __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x01, %c0, 0x4d, 0x4e" : : "i"(number) : "memory")
#define WEIR_REGION_END(number) __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x02, %c0, 0x4d, 0x4e" : : "i"(number) : "memory")
#else
#define WEIR_REGION_BEGIN(number) ((void)(number))
#define WEIR_REGION_END(number) ((void)(number))
#endif
