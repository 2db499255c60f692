#ifndef CORPUS_H
#define CORPUS_H

/*
 * An archive of traces as cl-archive(5) lays it out: a trace, the sidecar that
 * describes it, the next trace, and an index at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/sha256.h"

struct cl_dst;
struct cl_err;
struct cl_src;
struct corpus;

#define CORPUS_INDEX		"index.tsv"
#define CORPUS_INDEX_MAX	(256u << 20)	/* bytes, for a reader */
#define CORPUS_SIDECAR_MAX	(16u << 20)

struct corpus_entry {
	char		*name;
	uint64_t	 nbytes;
	char		 sha256[CL_SHA256_TEXT];
};

struct corpus_list {			/* owns the names */
	struct corpus_entry *entry;
	size_t		 n;
	size_t		 cap;
};

/* Is it called as a trace is? */
bool	corpus_is_trace(const char *member);

/* Is it called as what an archive has beside traces: a sidecar, the index? */
bool	corpus_is_ours(const char *member);

/*
 * "chat/a.txt" and "chat/a" make "chat/a.clt" (suffix: ".clt"), a trace's name
 * its sidecar's; the caller's to free.  Dies of a name that cannot be one.
 */
char	*corpus_name(const char *of, const char *drop, const char *suffix);

/*
 * A file without a name, for what must be known whole before it is written:
 * beside path, or where temporary files go (NULL).  Dies on failure.
 */
int	corpus_spool(const char *path);
void	corpus_spool_clear(int fd);

/* All that src has, which is closed, into a spool; NULL: err says why. */
int	corpus_spool_fill(int fd, struct cl_src *src, struct cl_err *);

/* Size and digest of what is in a spool. */
int	corpus_digest(int fd, const char *name, uint64_t *nbytes,
	    char sha256[CL_SHA256_TEXT], struct cl_err *);

/* A new archive onto dst, which it borrows. */
struct corpus	*corpus_new(struct cl_dst *, struct cl_err *);

/* Is there such a member already? */
bool	corpus_has(const struct corpus *, const char *name);

/*
 * Add what is in a spool: as a trace, with the sidecar that describes it.
 * prompt and prompt_sha256 are NULL where the trace was not recorded now.
 * CL_E* with nothing written where the spool holds no whole trace.
 */
int	corpus_put_trace(struct corpus *, const char *name, int trace,
	    int sidecar, const char *prompt, const char *prompt_sha256,
	    struct cl_err *);

/* Add what is in a spool as it is. */
int	corpus_put(struct corpus *, const char *name, int fd,
	    struct cl_err *);

/* The index, which says how it ended, and the end mark. */
int	corpus_finish(struct corpus *, const char *end, int spool,
	    struct cl_err *);

void	corpus_free(struct corpus *);			/* NULL is legal */

/* A source over another, which it owns, that hashes what is read of it. */
struct cl_src	*corpus_hashed(struct cl_src *, struct cl_sha256 *,
		    struct cl_err *);

/* All bytes of a source to their end. */
int	corpus_drain(struct cl_src *, struct cl_err *);

/* The index read back: its rows, and how the archive ended. */
int	corpus_read_index(struct cl_src *, struct corpus_list *,
	    char end[16], struct cl_err *);

int	corpus_list_add(struct corpus_list *, const char *name, uint64_t nbytes,
	    const char *sha256, struct cl_err *);
void	corpus_list_free(struct corpus_list *);

#endif /* CORPUS_H */
