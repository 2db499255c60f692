#ifndef CL_PACK_H
#define CL_PACK_H

/*
 * Archives: the members of a tar (plain, or in gzip, bzip2, xz or zstd, from a
 * file or a pipe), a zip or a 7z (from a file), one after another as sources
 * of bytes; and a writer of a tar in zstd.  The only place that knows
 * libarchive.  Nothing is ever written to disk from an archive, and a name in
 * one is only a name.
 *
 * An archive is not trusted: whatever libarchive has to say of it, a warning
 * too, is a failure, and so are a name that comes twice, a sparse or encrypted
 * member, a filter around a filter, a tar without its end mark, bytes behind
 * it, and data that expand without measure.  A failure is told again at every
 * later call.  Memory is that of the filter's window, of 8 bytes a member,
 * and of the directory of a zip or 7z.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_dst;
struct cl_err;
struct cl_pack;
struct cl_pack_writer;
struct cl_src;

#define CL_PACK_NAME_MAX	4096	/* bytes in a member's name */
#define CL_PACK_MEMBERS_MAX	(1u << 24)

/*
 * Data may expand to a GiB, and beyond it by this factor: traces are compressed
 * already, and a bomb in zstd expands by 30,000.
 */
#define CL_PACK_EXPAND_FREE	(UINT64_C(1) << 30)
#define CL_PACK_EXPAND_MAX	256

#define CL_PACK_UNSIZED		UINT64_MAX

struct cl_pack_member {			/* dies at the next call */
	const char	*name;		/* as it is in the archive */
	uint64_t	 nbytes;	/* or UNSIZED, until it is read */
	const char	*other;		/* NULL for a regular file, else what
					   it is: "a symbolic link" ... */
	bool		 folder;	/* it is a directory */
};

/*
 * Does the input begin as an archive?  1, 0 or CL_E*.  Zstd data are looked
 * into: 1 where a tar is inside.  Asks for no more of a pipe than it must.
 */
int	cl_pack_probe(struct cl_src *, struct cl_err *);

/* The archive in src, which it owns from now on, also where this fails. */
struct cl_pack	*cl_pack_open(struct cl_src *, struct cl_err *);

/*
 * The next member, of whatever kind; what is left of the last one is read and
 * checked first.  CL_END behind the last one of a whole archive.
 */
int	cl_pack_next(struct cl_pack *, const struct cl_pack_member **,
	    struct cl_err *);

/*
 * The bytes of the regular member at hand, once; its name is
 * "archive:member".  Of no use after the next cl_pack_next.
 */
struct cl_src	*cl_pack_read(struct cl_pack *, struct cl_err *);

void	cl_pack_close(struct cl_pack *);		/* NULL is legal */

/* A tar in zstd onto dst, which it borrows. */
struct cl_pack_writer	*cl_pack_writer_new(struct cl_dst *,
			    struct cl_err *);

/*
 * Add a regular member of exactly nbytes, which src must have.  It has a zstd
 * frame of its own and is handed down to the end before this returns: what was
 * written so far can be read whatever comes after it.
 */
int	cl_pack_put(struct cl_pack_writer *, const char *name,
	    uint64_t nbytes, struct cl_src *, struct cl_err *);

/* The end mark; dst is to be finished by whoever owns it. */
int	cl_pack_writer_finish(struct cl_pack_writer *, struct cl_err *);

void	cl_pack_writer_free(struct cl_pack_writer *);	/* NULL is legal */

#endif /* CL_PACK_H */
