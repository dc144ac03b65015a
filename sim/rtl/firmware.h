/* SPDX-License-Identifier: BSD-3-Clause */
/* The model as the firmware of the control unit: the same code, except that the functions of
 * model.h are the adapter's. Included before each file of sim/model (gcc -include). */
#ifndef GBA_SIM_RTL_FIRMWARE_H
#define GBA_SIM_RTL_FIRMWARE_H

#define gba_model_init      gba_firmware_init
#define gba_model_port_up   gba_firmware_port_up
#define gba_model_port_down gba_firmware_port_down
#define gba_model_access    gba_firmware_access
#define gba_model_arrive    gba_firmware_arrive

#endif
