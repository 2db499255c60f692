#ifndef IO_INT_H
#define IO_INT_H

/*
 * Between the reader, which keeps jobs and queues (io.c), and what reads for
 * it, a back end.  A back end takes reads, at most nthreads at a time, brings
 * each to its end, and gives it back.
 */

#include <pthread.h>
#include <sys/types.h>

#include "cl/io.h"

struct cl_io_back {
	enum cl_io_backend id;
	const char	*name;
	bool		 modelled;	/* taken only where asked for */
	/* All it needs, or an error that says why it cannot be had. */
	int		(*open)(struct cl_io *, struct cl_err *);
	/* Make buffers known, in units; 0 or an errno.  NULL: no use. */
	int		(*arena)(struct cl_io *, uint8_t *, uint64_t nbytes,
			    uint64_t unit);
	/*
	 * Under mu: there is more in the queues, or the caller went.  It may
	 * let go of mu, and has it when it returns.
	 */
	void		(*kick)(struct cl_io *);
	/* Under mu: how many of a condition are to be told; NULL: none. */
	pthread_cond_t	*(*tell)(struct cl_io *, uint32_t *n);
	/* Under mu: until the job is done. */
	void		(*wait)(struct cl_io *, struct cl_io_job *);
	/* Its clock; NULL: the machine's. */
	uint64_t	(*now)(struct cl_io *);
	void		(*spend)(struct cl_io *, uint64_t ns);
	/* The queues are empty: end what is under way, and all else. */
	void		(*close)(struct cl_io *);
};

/*
 * One part of a job on its way.  What is read is a window, which direct reads
 * round out to the alignment: window bytes from off, to buf.
 */
struct cl_io_read {
	struct cl_io_job *job;
	const struct cl_io_part *part;
	bool		 direct;
	uint64_t	 off;
	uint8_t		*buf;
	size_t		 window;
	size_t		 head;		/* of the window, before the part */
	size_t		 got;		/* of the window */
	size_t		 most;		/* got, before it was rounded down */
	uint64_t	 begun_ns;
	uint32_t	 nretries;
	uint32_t	 nagain;	/* in a row, without progress */
	struct cl_err	 err;
};

struct queue {
	struct cl_io_job *first;
	struct cl_io_job *last;
};

struct cl_io {
	/* fixed at open */
	struct cl_io_options o;
	const struct cl_io_file *file;
	uint32_t	 nfiles;
	const struct cl_io_back *back;
	void		*state;		/* the back end's */
	uint64_t	 page;
	size_t		 call_max;	/* bytes asked of the system at once */
	struct cl_err	 why_backend;	/* why an earlier one is not used */
	struct cl_err	 why_arena;	/* why it is not registered */

	/* under mu */
	pthread_mutex_t	 mu;
	pthread_cond_t	 done;		/* the awaited job is */
	const struct cl_io_job *awaited;
	bool		 tell;		/* signal it, once mu is let go */
	struct queue	 queue[2];	/* by enum cl_io_queue */
	uint32_t	 nqueued;	/* parts in them that are not begun */
	uint32_t	 nrunning;	/* parts that are, at most nthreads */
	uint32_t	 nwanted;	/* jobs that are to be waited for */
	bool		 away;		/* the caller computes all the same */
	struct cl_io_facts facts;
	struct cl_err	 why_os_cache;	/* why not direct */
	bool		 stop;
	bool		 failed;	/* a demand has; its error is `first` */
	struct cl_err	 first;
};

extern const struct cl_io_back cl_io_back_pread;
extern const struct cl_io_back cl_io_back_uring;
extern const struct cl_io_back cl_io_back_model;
extern const struct cl_io_back cl_io_back_sleep;

/* Threads for a back end whose reads block; its state begins with this. */
struct cl_io_pool {
	/* Without mu: bring a read to its end. */
	void		(*read)(struct cl_io *, struct cl_io_read *);
	uint32_t	 nthreads;	/* that were started */
	pthread_t	 thread[CL_IO_THREADS_MAX];

	/* under io->mu */
	pthread_cond_t	 work;		/* a read may begin */
	uint32_t	 nasleep;	/* threads */
	uint32_t	 nwaking;	/* of them, that are to wake */
	uint32_t	 ntell;		/* of these, that were not told yet */
};

int	cl_io_pool_start(struct cl_io *, struct cl_err *);
void	cl_io_pool_kick(struct cl_io *);	/* as a back end's */
void	cl_io_pool_wait(struct cl_io *, struct cl_io_job *);
pthread_cond_t	*cl_io_pool_tell(struct cl_io *, uint32_t *n);
void	cl_io_pool_stop(struct cl_io *);

/*
 * Let mu go, and then tell who waits: one that was told under it would run
 * into it, or push its holder off the processor.
 */
void	cl_io_unlock(struct cl_io *);

/* Under mu: is the caller on its way to a wait, where it reads along? */
bool	cl_io_coming(const struct cl_io *);

/*
 * Under mu: begin the next read, demand before prefetch; false: nothing is
 * queued, or as many as may be are under way.
 */
bool	cl_io_take(struct cl_io *, struct cl_io_read *);

/* Bytes to ask for next, from got on. */
size_t	cl_io_left(const struct cl_io *, const struct cl_io_read *);

/*
 * Without mu: a system call for the rest of a read returned n, or -errno.
 * True: it is over, whole or with an error; false: read on at got.
 */
bool	cl_io_step(struct cl_io *, struct cl_io_read *, ssize_t n);

/* A read fails with errno, whatever may be tried again. */
void	cl_io_refuse(struct cl_io *, struct cl_io_read *, int error);

/* Under mu: a read is over. */
void	cl_io_finish(struct cl_io *, struct cl_io_read *);

/* io_direct.c: reading past the page cache. */

/* Turn it on for all files, or say why not. */
int	cl_io_direct_open(struct cl_io *, struct cl_err *);

/* Without mu: a direct read was refused; from now on they are not. */
void	cl_io_direct_end(struct cl_io *, int error);

/* Pages of the files that stay in the page cache though told to go. */
void	cl_io_probe_drop(struct cl_io *);

/* io_linux.c and the like: what systems do each in their way. */

#define CL_IO_ALIGN	4096		/* the least; and where none is told */

/* Reads of fd go past the page cache, or not; 0 or an errno. */
int	cl_io_os_direct(int fd, bool on);

/* What offset, length and buffer are multiples of then; 0: never. */
uint32_t	cl_io_os_align(int fd);

/* Drop some pages from the page cache; add how many, and how many stay. */
void	cl_io_os_drop(int fd, uint64_t off, uint32_t npages, uint64_t page,
	    uint64_t *probed, uint64_t *kept);

/* Advice: these pages are not needed; reads are at random places. */
void	cl_io_os_forget(int fd, uint64_t off, uint64_t nbytes);
void	cl_io_os_random(int fd);

#endif /* IO_INT_H */
