#ifndef CL_VERIFY_H
#define CL_VERIFY_H

/*
 * Holds the bytes of an expert against the model's files, read again by the
 * plainest of means and by no code that read them first.  Borrows the model.
 * One thread.
 */

#include <stdint.h>

struct cl_device_slab;
struct cl_err;
struct cl_model;
struct cl_verify;

struct cl_verify	*cl_verify_new(const struct cl_model *,
			    struct cl_err *);

/*
 * Are these the slabs of that expert?  If not, CL_EFORMAT with layer, expert,
 * slab, and the offset of the first byte that differs.
 */
int	cl_verify_expert(struct cl_verify *, uint32_t layer, uint32_t expert,
	    const struct cl_device_slab *, uint32_t nslabs, struct cl_err *);

void	cl_verify_free(struct cl_verify *);		/* NULL is legal */

#endif /* CL_VERIFY_H */
