#ifndef CL_CRC_H
#define CL_CRC_H

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum of records.
 */

#include <stddef.h>
#include <stdint.h>

/* The sum of what crc already covers (0 for nothing) followed by n bytes. */
uint32_t	cl_crc_add(uint32_t crc, const void *, size_t n);

#endif /* CL_CRC_H */
