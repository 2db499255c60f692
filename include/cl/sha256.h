#ifndef CL_SHA256_H
#define CL_SHA256_H

/*
 * SHA-256 (FIPS 180-4), for what is to be checked with sha256sum(1).  The
 * state is the caller's and may be copied.
 */

#include <stddef.h>
#include <stdint.h>

#define CL_SHA256_TEXT	65		/* 64 hex digits and a NUL */

struct cl_sha256 {
	uint32_t	 h[8];
	uint64_t	 nbytes;
	uint8_t		 tail[64];	/* nbytes % 64 of them are used */
};

void	cl_sha256_init(struct cl_sha256 *);
void	cl_sha256_add(struct cl_sha256 *, const void *, size_t);

/* The digest of all that was added, in lower case; returns buf. */
const char	*cl_sha256_end(const struct cl_sha256 *,
		    char buf[CL_SHA256_TEXT]);

#endif /* CL_SHA256_H */
