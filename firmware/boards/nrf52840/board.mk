# Nordic's nRF52840. There is no machine here that could run it: it compiles and links; nobody has tried it on a board.
CPU := -mcpu=cortex-m4
FLOAT := -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mno-unaligned-access
OVERLAP ?= on
include board/cortex-m.mk
