#ifndef CL_DEVICE_H
#define CL_DEVICE_H

/*
 * The model as something to read experts from: its files, where each expert
 * lies in them, and the arena of page-aligned buffers: of the cache's slots,
 * for staging, for what the cache keeps not, and for dense weights.  Opened
 * before the clock starts: files are checked against the model, the arena is
 * within the memory this process may use and is faulted in.  It borrows the
 * model.  One thread, which may be any.
 *
 * A slab lies in its buffer at its offset modulo the alignment of direct
 * reads, where they are in force; cl_device_slabs() tells where.
 *
 * With a back end that models a device there are neither files nor an arena,
 * and every buffer is NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/io.h"

struct cl_device;
struct cl_model;
struct cl_virtual_spec;

/* Slots for experts of one size. */
struct cl_device_class {
	uint64_t	 expert_bytes;
	uint32_t	 nslots;
};

struct cl_device_options {
	struct cl_io_options io;
	uint32_t	 nslots;
	uint32_t	 nstage;	/* buffers for what may be needed */
	uint32_t	 nbypass;	/* buffers for what is not kept */
	uint64_t	 stride;	/* least bytes of a buffer */
	/*
	 * Where given, every size of experts has slots of its own size, which
	 * stand one class after another and are nslots in all; and as many
	 * buffers for staging as nstage says.  Only while it is opened.
	 */
	const struct cl_device_class *classes;
	uint32_t	 nclasses;	/* 0: all buffers hold any expert */
	bool		 dense_ring;	/* two buffers for dense weights */
	bool		 dense_resident; /* one for those of the whole model */
	bool		 hugepages;	/* ask for them */
};

struct cl_device_slab {
	const uint8_t	*p;
	size_t		 nbytes;
};

struct cl_device	*cl_device_new(const struct cl_model *,
			    const struct cl_device_options *, struct cl_err *);

/*
 * The buffer of a slot, of a staging slot, or of a bypass, which holds any
 * expert.  Of staging, too, one class stands after another.
 */
uint8_t	*cl_device_slot(struct cl_device *, uint32_t slot);
uint8_t	*cl_device_stage(struct cl_device *, uint32_t i);
uint8_t	*cl_device_bypass(struct cl_device *, uint32_t i);

/* Where the slabs of an expert lie in its buffer; returns how many. */
uint32_t	cl_device_slabs(const struct cl_device *, uint32_t layer,
		    uint32_t expert, const uint8_t *buf,
		    struct cl_device_slab [CL_IO_PARTS_MAX]);

/* Begin to read an expert, slab after slab, into buf. */
void	cl_device_read(struct cl_device *, struct cl_io_job *, uint32_t layer,
	    uint32_t expert, uint8_t *buf, enum cl_io_queue);

/*
 * Begin to read a layer's dense weights into buffer 0 or 1 of the ring.
 * cl_device_dense() tells where its tensors lie then, which are ndense of the
 * layer; in the same way, where those of the resident buffer do.
 */
void	cl_device_read_dense(struct cl_device *, struct cl_io_job *,
	    uint32_t layer, uint32_t ring, enum cl_io_queue);

#define CL_DEVICE_RESIDENT	2

struct cl_device_slab	cl_device_dense(const struct cl_device *,
			    uint32_t layer, uint32_t i, uint32_t ring);

/*
 * Read the dense weights of all layers, and those of no layer, which are
 * layer nlayers here, into the resident buffer: how many bytes, and how often
 * a read was tried again.
 */
int	cl_device_load_dense(struct cl_device *, uint64_t *nbytes,
	    uint64_t *nretries, struct cl_err *);

/* Until it is read.  A failure names layer, expert, file and offset. */
int	cl_device_wait(struct cl_device *, struct cl_io_job *, uint32_t layer,
	    uint32_t expert, struct cl_err *);

/* The same for a layer's dense weights. */
int	cl_device_wait_dense(struct cl_device *, struct cl_io_job *,
	    uint32_t layer, struct cl_err *);

/* What a modelled one is; NULL: it reads. */
const struct cl_virtual_spec *cl_device_spec(const struct cl_device *);

/* The reader behind it. */
struct cl_io	*cl_device_io(struct cl_device *);

/* Bytes of the arena, the larger part of what a replay takes. */
uint64_t	cl_device_arena(const struct cl_device *);

/* How many of them are in huge pages, as the system tells. */
uint64_t	cl_device_huge(const struct cl_device *);

void	cl_device_free(struct cl_device *);		/* NULL is legal */

#endif /* CL_DEVICE_H */
