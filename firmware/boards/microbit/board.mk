# Cortex-M0 in QEMU with 32 KiB of RAM and no more; the storage is the file card.img.
CPU := -mcpu=cortex-m0
FLOAT := -mfloat-abi=soft
MACHINE := -M microbit -global nrf51-soc.sram-size=32768
include board/cortex-m.mk
