#ifndef CL_DEVICE_H
#define CL_DEVICE_H

/*
 * The model as something to read experts from: its files, where each expert
 * lies in them, and the arena of page-aligned buffers that the cache's slots
 * stand for.  Opened before the clock starts: files are checked against the
 * model, the arena is within the memory this process may use and is faulted
 * in.  It borrows the model.  One thread, which may be any.
 *
 * With a back end that models a device there are neither files nor an arena,
 * and every buffer is NULL.
 */

#include <stddef.h>
#include <stdint.h>

#include "cl/io.h"

struct cl_device;
struct cl_model;
struct cl_virtual_spec;

struct cl_device_options {
	struct cl_io_options io;
	uint32_t	 nslots;
	uint32_t	 nbypass;	/* buffers for what the cache keeps not */
	uint64_t	 stride;	/* bytes from one buffer to the next */
};

struct cl_device	*cl_device_new(const struct cl_model *,
			    const struct cl_device_options *, struct cl_err *);

/* The buffer of a slot, or of a bypass. */
uint8_t	*cl_device_slot(struct cl_device *, uint32_t slot);
uint8_t	*cl_device_bypass(struct cl_device *, uint32_t i);

/* Begin to read an expert, slab after slab, into buf. */
void	cl_device_read(struct cl_device *, struct cl_io_job *, uint32_t layer,
	    uint32_t expert, uint8_t *buf, enum cl_io_queue);

/* Until it is read.  A failure names layer, expert, file and offset. */
int	cl_device_wait(struct cl_device *, struct cl_io_job *, uint32_t layer,
	    uint32_t expert, struct cl_err *);

/* What a modelled one is; NULL: it reads. */
const struct cl_virtual_spec *cl_device_spec(const struct cl_device *);

/* The reader behind it. */
struct cl_io	*cl_device_io(struct cl_device *);

/* Bytes of the arena, the larger part of what a replay takes. */
uint64_t	cl_device_arena(const struct cl_device *);

void	cl_device_free(struct cl_device *);		/* NULL is legal */

#endif /* CL_DEVICE_H */
