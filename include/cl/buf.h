#ifndef CL_BUF_H
#define CL_BUF_H

/*
 * A growing byte buffer, the writing twin of cl/cur.h: little-endian, sticky
 * failure (out of memory, or a string too long for its length field), looked
 * at once when the record is complete.  The owner frees it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_buf {
	uint8_t	*p;
	size_t	 n;			/* bytes in use */
	size_t	 cap;
	bool	 bad;
};

void	cl_buf_init(struct cl_buf *);
void	cl_buf_free(struct cl_buf *);
void	cl_buf_clear(struct cl_buf *);		/* keeps the memory */

/* Room for n more bytes that the caller fills at once; NULL when bad. */
uint8_t	*cl_buf_room(struct cl_buf *, size_t n);

void	cl_buf_bytes(struct cl_buf *, const void *, size_t);
void	cl_buf_u8(struct cl_buf *, uint8_t);
void	cl_buf_u16(struct cl_buf *, uint16_t);
void	cl_buf_u32(struct cl_buf *, uint32_t);
void	cl_buf_u64(struct cl_buf *, uint64_t);
void	cl_buf_f32(struct cl_buf *, float);
void	cl_buf_f64(struct cl_buf *, double);
void	cl_buf_str(struct cl_buf *, const char *);	/* u16 length, bytes */

#endif /* CL_BUF_H */
