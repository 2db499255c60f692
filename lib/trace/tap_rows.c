/*
 * Which token of the batch a row of a graph belongs to.  A batch may run as
 * several graphs (ubatches), each starting with the rows of the embedding for
 * its token ids.  With one sequence the rows keep the order of the batch,
 * which the token ids confirm.  With several, libllama regroups tokens; then
 * a row is placed by its token id and position, both inputs of the graph, and
 * by its sequence, which is the part of the attention cache that the row is
 * written to (each sequence has a part of its own, and its tokens their
 * order).  The first layer with attention may come behind some with experts,
 * so rows are placed once all have run.  Two tokens that cannot be told apart
 * are an error, never a guess.
 */

#include <stdlib.h>
#include <string.h>

#include "tap_int.h"

int
cl_tap_int_rows_new(struct cl_tap *tap, struct cl_err *err)
{
	struct tap_rows *r = &tap->rows;
	size_t n = tap->opt.nbatch;

	r->token = calloc(n, sizeof(*r->token));
	r->pos = calloc(n, sizeof(*r->pos));
	r->cell = calloc(n, sizeof(*r->cell));
	r->seq = calloc(n, sizeof(*r->seq));
	r->ran = calloc(n, sizeof(*r->ran));
	r->batch = calloc(n, sizeof(*r->batch));
	r->taken = calloc(n, sizeof(*r->taken));
	r->graph = calloc(n, sizeof(*r->graph));
	if (r->token == NULL || r->pos == NULL || r->cell == NULL ||
	    r->seq == NULL || r->ran == NULL || r->batch == NULL ||
	    r->taken == NULL || r->graph == NULL)
		return (cl_fail_nomem(err, "the rows of a batch"));
	return (CL_OK);
}

void
cl_tap_int_rows_free(struct cl_tap *tap)
{
	struct tap_rows *r = &tap->rows;

	free(r->token);
	free(r->pos);
	free(r->cell);
	free(r->seq);
	free(r->ran);
	free(r->batch);
	free(r->taken);
	free(r->graph);
}

/* Before a decode: no graph has run, no token has its row. */
void
cl_tap_int_rows_begin(struct cl_tap *tap)
{
	struct tap_rows *r = &tap->rows;

	r->n = r->done = r->ngraphs = 0;
	memset(r->taken, 0, tap->opt.nbatch * sizeof(*r->taken));
	memset(r->graph, 0, tap->opt.nbatch * sizeof(*r->graph));
}

/* n numbers of an input, or more of which the first n are meant. */
static bool
read_input(struct cl_tap *tap, const struct tap_tensor *t, void *to,
    uint32_t n, size_t size)
{

	if (t == NULL || t->nb[0] != size || tap->lib.nbytes(t) < n * size)
		return (false);
	tap->lib.tensor_get(t, to, 0, n * size);
	return (true);
}

/* A graph begins: these are its token ids. */
static void
look_tokens(struct cl_tap *tap, const struct tap_tensor *ids)
{
	struct tap_rows *r = &tap->rows;
	uint32_t i, left;

	r->done += r->n;
	r->ngraphs++;
	left = (uint32_t)tap->batch.n - r->done;
	r->has_pos = r->has_seq = false;
	if (ids->ne[0] < 1 || ids->ne[0] > tap->opt.nubatch ||
	    ids->ne[0] > left || !read_input(tap, ids, r->token + r->done,
	    (uint32_t)ids->ne[0], 4)) {
		(void)cl_fail(&tap->err, CL_ENOTSUP, "%s: a graph of %lld "
		    "tokens where at most %u are left", tap->lib.engine,
		    (long long)ids->ne[0], left);
		return;
	}
	r->n = (uint32_t)ids->ne[0];
	for (i = r->done; i < r->done + r->n; i++) {
		r->pos[i] = -1;
		r->seq[i] = UINT32_MAX;
		r->ran[i] = r->ngraphs - 1;
	}
	if (tap->opt.nseq == 1 && memcmp(r->token + r->done,
	    tap->batch.token + r->done, r->n * sizeof(*r->token)) != 0)
		(void)cl_fail(&tap->err, CL_ENOTSUP, "%s runs other tokens "
		    "than it was given", tap->lib.engine);
}

/* Rows of the cache, which sequences divide among them, in their order. */
static bool
look_cells(struct cl_tap *tap, const struct tap_tensor *t)
{
	struct tap_rows *r = &tap->rows;
	int64_t ncells = t->ne[1] * t->ne[2], cell;
	uint32_t i;

	if (ncells < 1 || ncells % tap->opt.nseq != 0 ||
	    !read_input(tap, t->src[1], r->cell, r->n, sizeof(*r->cell)))
		return (false);
	for (i = 0; i < r->n; i++) {
		cell = r->cell[i];
		if (cell >= 0 && cell < ncells)
			r->seq[r->done + i] = (uint32_t)(cell /
			    (ncells / tap->opt.nseq));
	}
	return (true);
}

/* A node that is none of a router's; true if it tells tokens apart. */
bool
cl_tap_int_rows_look(struct cl_tap *tap, const struct tap_tensor *t)
{
	struct tap_rows *r = &tap->rows;
	const struct tap_tensor *from = t->src[0];

	if (from == NULL)
		return (false);
	if (r->embd == NULL && strcmp(tap->lib.get_name(from),
	    "token_embd.weight") == 0)
		r->embd = from;
	if (from == r->embd && t->src[1] != NULL &&
	    cl_tap_int_op_is(tap, t, "GET_ROWS")) {
		look_tokens(tap, t->src[1]);
		return (true);
	}
	if (tap->opt.nseq == 1 || r->n == 0)
		return (false);
	if (!r->has_pos && cl_tap_int_op_is(tap, t, "ROPE"))
		return (r->has_pos = read_input(tap, t->src[1],
		    r->pos + r->done, r->n, sizeof(*r->pos)));
	if (!r->has_seq && strncmp(tap->lib.get_name(t), "cache_k_l",
	    9) == 0 && cl_tap_int_op_is(tap, t, "SET_ROWS"))
		return (r->has_seq = look_cells(tap, t));
	return (false);
}

/* Does the running graph have n rows?  If not, that is the tap's error. */
bool
cl_tap_int_rows_fit(struct cl_tap *tap, uint32_t n)
{
	const struct tap_rows *r = &tap->rows;

	if (n == r->n || (r->n == 0 && tap->opt.nseq == 1))
		return (true);
	(void)cl_fail(&tap->err, CL_ENOTSUP, "%s: %u rows of scores for %u "
	    "tokens", tap->lib.engine, n, r->n);
	return (false);
}

static bool
may_be(const struct cl_tap *tap, uint32_t row, uint32_t i, bool by_seq)
{
	const struct tap_rows *r = &tap->rows;

	return (!r->taken[i] && r->token[row] == tap->batch.token[i] &&
	    (r->pos[row] == -1 || r->pos[row] == tap->batch.pos[i]) &&
	    (!by_seq || r->seq[row] == (uint32_t)tap->batch.seq[i][0]));
}

/* The token of a row: of its sequence, or the only one it can be. */
static bool
find_token(const struct cl_tap *tap, uint32_t row, uint32_t *at)
{
	uint32_t i, n = (uint32_t)tap->batch.n, found = 0;

	for (i = 0; i < n; i++)
		if (may_be(tap, row, i, true)) {
			*at = i;
			return (true);
		}
	for (i = 0; i < n; i++)
		if (may_be(tap, row, i, false)) {
			*at = i;
			found++;
		}
	return (found == 1);
}

/* After a decode: the token of each row, and the graph of each token. */
int
cl_tap_int_rows_place(struct cl_tap *tap, struct cl_err *err)
{
	struct tap_rows *r = &tap->rows;
	uint32_t row;

	for (row = 0; row < r->done + r->n; row++) {
		r->batch[row] = row;
		if (tap->opt.nseq > 1 &&
		    !find_token(tap, row, &r->batch[row]))
			return (cl_fail(err, CL_ENOTSUP, "%s regroups the "
			    "tokens of %u sequences in a way that is not "
			    "understood; one at a time will do",
			    tap->lib.engine, tap->opt.nseq));
		r->taken[r->batch[row]] = true;
		r->graph[r->batch[row]] = r->ran[row];
	}
	return (CL_OK);
}
