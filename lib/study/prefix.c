/*
 * The hash of a prefix is chained from that of the prefix before it, so that
 * one look-up a token tells whether an earlier sequence began like this, and
 * else remembers that this one did.  An open table holds the hashes, each with
 * the sequence that had it first: a sequence is no repetition of itself.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/prefix.h"
#include "cl/stats_write.h"

#define TABLE	(2 * CL_PREFIX_MAX)	/* places, a power of two */
#define BUCKETS	33			/* 0, and powers of two */

struct entry {
	uint64_t	 hash;
	uint32_t	 owner;		/* number of a sequence; 0: free */
};

/* A sequence that has not ended yet. */
struct sequence {
	uint32_t	 number;	/* of its beginning, from 1; 0: none */
	uint32_t	 seq;
	uint32_t	 next;		/* position */
	uint32_t	 shared;	/* tokens */
	bool		 parted;	/* from all earlier ones */
	uint64_t	 hash;
};

struct bucket {
	uint64_t	 sequences;
	uint64_t	 repeated;	/* whole */
	uint64_t	 tokens;
	uint64_t	 shared;
};

struct cl_prefix {
	struct entry	*table;
	struct sequence	*sequence;
	uint32_t	 nhashes;
	uint32_t	 nsequences;
	struct bucket	 bucket[BUCKETS];
};

struct cl_prefix *
cl_prefix_new(struct cl_err *err)
{
	struct cl_prefix *p = calloc(1, sizeof(*p));

	if (p != NULL) {
		p->table = calloc(TABLE, sizeof(*p->table));
		p->sequence = calloc(CL_PREFIX_SEQUENCES,
		    sizeof(*p->sequence));
		if (p->table != NULL && p->sequence != NULL)
			return (p);
	}
	cl_fail_nomem(err, "prefixes of sequences");
	cl_prefix_free(p);
	return (NULL);
}

/* Had an earlier sequence this prefix?  Else it is remembered as of this. */
static bool
look_up(struct cl_prefix *p, uint64_t hash, uint32_t owner)
{
	uint32_t i = (uint32_t)(hash >> 32) & (TABLE - 1);

	for (; p->table[i].owner != 0; i = (i + 1) & (TABLE - 1))
		if (p->table[i].hash == hash)
			return (p->table[i].owner != owner);
	if (p->nhashes < CL_PREFIX_MAX) {
		p->nhashes++;
		p->table[i] = (struct entry){ hash, owner };
	}
	return (false);
}

/* 0 for nothing shared, else one more than the highest bit. */
static unsigned
bucket_of(uint32_t shared)
{
	unsigned n = 0;

	for (; shared > 0; shared /= 2)
		n++;
	return (n);
}

static void
end_sequence(struct cl_prefix *p, struct sequence *s)
{
	struct bucket *b = &p->bucket[bucket_of(s->shared)];

	if (s->number == 0)
		return;
	b->sequences++;
	b->repeated += s->shared == s->next;
	b->tokens += s->next;
	b->shared += s->shared;
	s->number = 0;
}

void
cl_prefix_add(struct cl_prefix *p, uint32_t seq, uint32_t pos, uint64_t what)
{
	struct sequence *s = &p->sequence[seq % CL_PREFIX_SEQUENCES];

	if (s->number == 0 || s->seq != seq || pos != s->next) {
		end_sequence(p, s);
		if (pos != 0)
			return;		/* its beginning is not known */
		if (++p->nsequences == 0)	/* 2^32 sequences: start anew */
			p->nsequences = 1;
		*s = (struct sequence){ .number = p->nsequences,
		    .seq = seq };
	}
	s->next++;
	s->hash = cl_hash_mix(s->hash, what + 1);
	if (look_up(p, s->hash, s->number) && !s->parted)
		s->shared++;
	else
		s->parted = true;
}

void
cl_prefix_reset(struct cl_prefix *p)
{
	uint32_t i;

	for (i = 0; i < CL_PREFIX_SEQUENCES; i++)
		p->sequence[i].number = 0;
	memset(p->bucket, 0, sizeof(p->bucket));
}

int
cl_prefix_write(struct cl_prefix *p, struct cl_stats_writer *w,
    struct cl_err *err)
{
	static const struct cl_stats_column columns[] = {
		{ CL_STATS_U64, "shared_from" }, { CL_STATS_U64, "sequences" },
		{ CL_STATS_U64, "repeated" }, { CL_STATS_U64, "tokens" },
		{ CL_STATS_U64, "shared_tokens" }
	};
	struct cl_stats_table t = { .name = "prefixes",
	    .kind = CL_STATS_LOGICAL, .nkeys = 1, .ncolumns = 5,
	    .column = columns };
	const struct bucket *b = p->bucket;
	uint32_t i;
	int status;

	for (i = 0; i < CL_PREFIX_SEQUENCES; i++)
		end_sequence(p, &p->sequence[i]);
	for (i = 0; i < BUCKETS; i++, b++) {
		if (b->sequences == 0)
			continue;
		cl_stats_table_u64(&t, i == 0 ? 0 : UINT64_C(1) << (i - 1));
		cl_stats_table_u64(&t, b->sequences);
		cl_stats_table_u64(&t, b->repeated);
		cl_stats_table_u64(&t, b->tokens);
		cl_stats_table_u64(&t, b->shared);
	}
	status = cl_stats_write_table(w, &t, err);
	cl_stats_table_clear(&t);
	return (status);
}

void
cl_prefix_free(struct cl_prefix *p)
{

	if (p == NULL)
		return;
	free(p->table);
	free(p->sequence);
	free(p);
}
