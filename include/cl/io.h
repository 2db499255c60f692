#ifndef CL_IO_H
#define CL_IO_H

/*
 * io/: bytes of files into buffers, by whichever back end; knows no expert.
 *
 * A reader of extents with worker threads and two queues: demand always goes
 * before prefetch.  The caller owns files, jobs and buffers, and leaves a job
 * and its buffer alone from submit until it was waited for.  A job's failure
 * rides in the job and surfaces where it is waited for; workers never report.
 * With no worker a job is done inside submit.  One thread submits and waits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/err.h"

struct cl_io;

#define CL_IO_THREADS_MAX	16
#define CL_IO_PARTS_MAX		16	/* as many as an expert has slabs */

enum cl_io_queue {
	CL_IO_DEMAND,
	CL_IO_PREFETCH
};

enum cl_io_os_cache {
	CL_IO_KEEP,			/* leave the page cache alone */
	CL_IO_DROP			/* drop what was read from it again */
};

/* nbytes from offset off of a file, to buf. */
struct cl_io_part {
	uint32_t	 file;
	uint64_t	 off;
	size_t		 nbytes;
	uint8_t		*buf;
};

struct cl_io_job {
	/* the submitter's */
	struct cl_io_part part[CL_IO_PARTS_MAX];
	uint32_t	 nparts;

	/* the reader's, from submit until waited for */
	enum { CL_IO_IDLE, CL_IO_QUEUED, CL_IO_RUNNING, CL_IO_DONE } state;
	struct cl_io_job *next;
	uint64_t	 read_ns;	/* that a worker spent on it */
	struct cl_err	 err;		/* code CL_OK: all bytes arrived */
};

struct cl_io_file {
	int		 fd;		/* open for reading; the caller's */
	const char	*name;		/* for messages */
};

/* A reader of the given files, which are borrowed. */
struct cl_io	*cl_io_new(const struct cl_io_file *, uint32_t nfiles,
		    uint32_t nthreads, enum cl_io_os_cache, struct cl_err *);

void	cl_io_submit(struct cl_io *, struct cl_io_job *, enum cl_io_queue);

/*
 * Until the job is done; its error record says how.  Once a job has failed,
 * jobs that no worker has begun are failed in its place, unread.
 */
void	cl_io_wait(struct cl_io *, struct cl_io_job *);

/* Cancels what no worker has begun, waits for the rest; NULL is legal. */
void	cl_io_free(struct cl_io *);

#endif /* CL_IO_H */
