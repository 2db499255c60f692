#ifndef CL_IO_H
#define CL_IO_H

/*
 * io/: bytes of files into buffers, by whichever back end; knows no expert.
 *
 * A reader of extents over two queues: demand always goes before prefetch,
 * and at most nthreads reads are under way.  The caller owns files, jobs and
 * buffers, and leaves a job and its buffer alone from submit until it was
 * waited for.  A job's failure rides in the job and surfaces where it is
 * waited for; workers never report.  A demand job that fails ends all that is
 * queued; a prefetch that fails harms nobody, and may be submitted again.
 * With no thread, pread does a job inside submit.  One thread calls, and while
 * it waits it reads along: that of a demand which nobody has begun may be left
 * to it, so let it not tarry between the submit of a demand and its wait.
 *
 * Two back ends model a device (cl/virtual.h): files and buffers are nothing
 * to them, and may be missing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/err.h"

struct cl_io;
struct cl_virtual_spec;

#define CL_IO_THREADS_MAX	16
#define CL_IO_ALIGN_MAX	65536
#define CL_IO_PARTS_MAX		16	/* as many as an expert has slabs */

enum cl_io_queue {
	CL_IO_DEMAND,
	CL_IO_PREFETCH
};

enum cl_io_backend {
	CL_IO_AUTO,			/* the first that works and reads */
	CL_IO_URING,			/* io_uring(7) */
	CL_IO_PREAD,			/* threads that call pread(2) */
	CL_IO_MODEL,			/* a device on a clock of its own */
	CL_IO_SLEEP			/* the same device on the machine's */
};

enum cl_io_os_cache {
	CL_IO_KEEP,			/* leave the page cache alone */
	CL_IO_DROP,			/* drop what was read from it again */
	CL_IO_DIRECT			/* read past it */
};

struct cl_io_options {
	enum cl_io_backend backend;
	enum cl_io_os_cache os_cache;
	bool		 direct_required; /* else keep, if it is refused */
	uint32_t	 nthreads;	/* reads under way at once */
	uint32_t	 retries;	/* of a read that fails with EIO */
	const struct cl_virtual_spec *device; /* of MODEL and SLEEP; copied */
};

/*
 * nbytes from offset off of a file, to buf.  Where `align` of the facts is
 * more than 1, buf is at off modulo align, and what lies between it and the
 * multiples of align before and behind is the reader's, too.
 */
struct cl_io_part {
	uint32_t	 file;
	uint64_t	 off;
	size_t		 nbytes;	/* > 0 */
	uint8_t		*buf;
};

enum cl_io_state {
	CL_IO_IDLE,			/* the caller's */
	CL_IO_QUEUED,			/* not begun */
	CL_IO_RUNNING,			/* begun, in part or whole */
	CL_IO_DONE			/* over, and not yet waited for */
};

struct cl_io_job {
	/* the submitter's */
	const struct cl_io_part *parts;	/* NULL: those in part[] */
	uint32_t	 nparts;
	bool		 dense;		/* of dense weights */
	struct cl_io_part part[CL_IO_PARTS_MAX];

	/* the reader's, from submit until waited for */
	enum cl_io_state state;
	enum cl_io_queue queue;		/* promotion changes it */
	struct cl_io_job *next;
	uint32_t	 nissued;	/* parts that were begun */
	uint32_t	 nrunning;	/* and are not over */
	bool		 wanted;	/* demanded or promoted */
	uint64_t	 queued_ns;	/* times by cl_io_now() */
	uint64_t	 begun_ns;
	uint64_t	 done_ns;
	uint64_t	 read_ns;	/* summed over parts */
	uint64_t	 arrived;	/* bytes that were asked for and came */
	uint64_t	 fetched;	/* bytes of the windows around them */
	uint64_t	 nretries;
	const struct cl_io_part *failed; /* the first part that did */
	struct cl_err	 err;		/* code CL_OK: all bytes arrived */
};

struct cl_io_file {
	int		 fd;		/* open for reading; the caller's */
	const char	*name;		/* for messages */
};

/* What is in force, as against what was asked for; texts are the reader's. */
struct cl_io_facts {
	enum cl_io_backend backend;
	enum cl_io_os_cache os_cache;
	const char	*backend_name;
	const char	*why_backend;	/* why not the first; "": it is */
	const char	*why_os_cache;	/* why not direct, which was asked */
	uint32_t	 align;		/* of windows; 1: bytes */
	bool		 files_registered;
	bool		 arena_registered;
	const char	*why_arena;	/* why it is not; "": of no use */
	uint64_t	 pages_probed;	/* that were to be dropped, at open */
	uint64_t	 pages_kept;	/* and stayed */
};

/*
 * A reader of the given files, which are borrowed; direct reads change how
 * their descriptors read.
 */
struct cl_io	*cl_io_new(const struct cl_io_file *, uint32_t nfiles,
		    const struct cl_io_options *, struct cl_err *);

void	cl_io_facts(struct cl_io *, struct cl_io_facts *);

/*
 * Most buffers will be units of this memory, which outlives the reader: some
 * back ends read faster into what they know.  At most once, before a submit.
 */
void	cl_io_arena(struct cl_io *, uint8_t *, uint64_t nbytes, uint64_t unit);

void	cl_io_submit(struct cl_io *, struct cl_io_job *, enum cl_io_queue);

/*
 * A prefetch is needed now.  What of it is queued goes to the end of the
 * demand queue, and its failure is one of demand.  One that is wholly under
 * way or over stays what it is: the read is adopted.
 */
void	cl_io_promote(struct cl_io *, struct cl_io_job *);

/*
 * A prefetch is not wanted any more: what is not begun never will be, and its
 * error record says so.  It is waited for all the same, but not for long.
 */
void	cl_io_cancel(struct cl_io *, struct cl_io_job *);

/* Is it over? */
bool	cl_io_done(struct cl_io *, const struct cl_io_job *);

/*
 * Until the job is done; its error record says how.  Once a demand job has
 * failed, jobs that are not begun are failed in its place, unread.
 */
void	cl_io_wait(struct cl_io *, struct cl_io_job *);

/* Nanoseconds of the reader's clock, by which jobs are timed. */
uint64_t	cl_io_now(struct cl_io *);

/* Let so much of its time pass, computing as it were. */
void	cl_io_spend(struct cl_io *, uint64_t ns);

/* Cancels what is not begun, waits for the rest; NULL is legal. */
void	cl_io_free(struct cl_io *);

/*
 * Huge pages for memory that is not touched yet, at a multiple of
 * CL_IO_HUGE_PAGE.  What is not granted costs nothing.
 */
#define CL_IO_HUGE_PAGE	((size_t)2 << 20)
void	cl_io_huge_ask(void *, size_t nbytes);

/* Bytes in huge pages of the mapping that p lies in; 0: none, or unknown. */
uint64_t	cl_io_huge_bytes(const void *p);

#endif /* CL_IO_H */
