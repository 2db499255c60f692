#ifndef CL_REC_H
#define CL_REC_H

/*
 * The framing that both formats share: a preamble of magic and version, then
 * records of type, length, checksum and payload (cl-trace(5), FRAMING).  What
 * the records mean is not known here.
 */

#include <stddef.h>
#include <stdint.h>

struct cl_buf;
struct cl_dst;
struct cl_err;
struct cl_src;

enum cl_rec_kind { CL_REC_TRACE, CL_REC_STATS };

#define CL_REC_OPTIONAL		0x8000u		/* a reader may skip the type */
#define CL_REC_HEAD		12		/* bytes before the payload */
#define CL_REC_LEN_MAX		(256u << 20)	/* a block is far smaller */

struct cl_rec {
	uint16_t	 type;
	const uint8_t	*data;		/* borrows from the source */
	size_t		 len;
	uint64_t	 off;		/* of the record, when decoded */
};

/*
 * Read a preamble of the given kind.  CL_END where the input is at its end;
 * another kind, or another version, is refused by name.
 */
int	cl_rec_open(struct cl_src *, enum cl_rec_kind, struct cl_err *);

/* The next record, its checksum verified.  Input that stops is CL_ECUT. */
int	cl_rec_next(struct cl_src *, struct cl_rec *, struct cl_err *);

void	cl_rec_preamble(struct cl_dst *, enum cl_rec_kind);

/* Write one record; a bad payload is CL_ENOMEM, a failed sink its error. */
int	cl_rec_put(struct cl_dst *, uint16_t type, const struct cl_buf *payload,
	    struct cl_err *);

#endif /* CL_REC_H */
