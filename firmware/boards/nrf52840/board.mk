# Nordic's nRF52840. There is no machine here that could run it: it compiles and links; nobody has tried it on a board.
CPU := -mcpu=cortex-m4
FLOAT := -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mno-unaligned-access
OVERLAP ?= on
# A block is 512 us on its way by DMA: some eight times the interrupt sees whether it is there. Reckoned; nothing was measured.
TICK_NS ?= 64000
TICK_BYTES ?= 64
include board/cortex-m.mk
