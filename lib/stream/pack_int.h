#ifndef PACK_INT_H
#define PACK_INT_H

/*
 * What an input looks like from its first bytes.
 */

#include <stddef.h>

enum pack_kind {
	PACK_NONE,
	PACK_TAR,			/* plain, gzip, bzip2, xz */
	PACK_ZSTD,			/* a tar in zstd */
	PACK_ZIP,
	PACK_7Z
};

struct cl_err;
struct cl_src;

/* A kind, or CL_E*; *nbytes are those that were looked at or wait behind. */
int	cl_pack_sniff(struct cl_src *, size_t *nbytes, struct cl_err *);

#endif /* PACK_INT_H */
