/*
 * Passing over experts: the activation made from the seed, the form of the
 * kernel chosen, slabs cut into whole rows and a last one that is filled up.
 *
 * A form leaves 32 sums, one for each block of a row, which the activation's
 * scales bring together: what is multiplied in the inner loop is narrow.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/clock.h"
#include "cl/compute.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/rng.h"
#include "compute_int.h"

struct cl_compute {			/* fixed once it is set up */
	struct cl_compute_act act;
	const struct cl_compute_form *form;
	uint64_t	 seed;
	enum cl_compute_kind kind;
};

static const struct {
	const char	*name;
	enum cl_compute_kind kind;
} kinds[] = {
	{ "kernel", CL_COMPUTE_KERNEL },
	{ "checksum", CL_COMPUTE_CHECKSUM },
	{ "none", CL_COMPUTE_NONE }
};
#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

static bool
always(void)
{

	return (true);
}

static const struct cl_compute_form portable = { "portable", always,
	cl_compute_rows_portable };

const char *
cl_compute_kind_name(enum cl_compute_kind kind)
{
	size_t i;

	for (i = 0; i < NKINDS; i++)
		if (kinds[i].kind == kind)
			return (kinds[i].name);
	return (NULL);
}

enum cl_compute_kind
cl_compute_kind_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < NKINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (kinds[i].kind);
	return (0);
}

/* The i-th form that is usable; NULL past the last. */
static const struct cl_compute_form *
form(size_t i)
{
	const struct cl_compute_form *f;

	for (f = cl_compute_table; f->name != NULL; f++)
		if (f->usable() && i-- == 0)
			return (f);
	return (i == 0 ? &portable : NULL);
}

const char *
cl_compute_forms(size_t i)
{
	const struct cl_compute_form *f = form(i);

	return (f != NULL ? f->name : NULL);
}

/* A factor of the activation: 1 to 127, of either sign. */
static int8_t
factor(uint64_t *rng)
{
	uint64_t z = cl_rng_next(rng);
	int a = 1 + (int)((z >> 32) % 127);

	return ((int8_t)((z & 1) != 0 ? -a : a));
}

static void
make_act(struct cl_compute_act *a, uint64_t rng)
{
	unsigned i, j;

	for (i = 0; i < CL_COMPUTE_NBLOCKS; i++) {
		for (j = 0; j < 16; j++)
			a->lo[i][j] = factor(&rng);
		for (j = 0; j < 16; j++)
			a->hi[i][j] = factor(&rng);
		for (j = 0; j < 4; j++)
			a->bias[i][j] = 32768 / 4;
		for (j = 0; j < 16; j++)
			a->bias[i][j / 4] -= 8 * (a->lo[i][j] + a->hi[i][j]);
	}
	for (i = 0; i < CL_COMPUTE_NBLOCKS; i++)
		a->scale[i] = cl_rng_next(&rng) | 1;
}

struct cl_compute *
cl_compute_new(enum cl_compute_kind kind, uint64_t seed, struct cl_err *err)
{
	struct cl_compute *c;

	c = aligned_alloc(_Alignof(struct cl_compute), sizeof(*c));
	if (c == NULL) {
		cl_fail_nomem(err, "the activation");
		return (NULL);
	}
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->seed = seed;
	c->form = form(0);
	make_act(&c->act, seed);
	return (c);
}

int
cl_compute_set_form(struct cl_compute *c, const char *name,
    struct cl_err *err)
{
	const struct cl_compute_form *f;
	size_t i;

	for (i = 0; (f = form(i)) != NULL; i++)
		if (strcmp(f->name, name) == 0) {
			c->form = f;
			return (CL_OK);
		}
	return (cl_fail(err, CL_EINVAL,
	    "the kernel has no form \"%s\" on this processor", name));
}

const char *
cl_compute_form(const struct cl_compute *c)
{

	return (c->kind == CL_COMPUTE_KERNEL ? c->form->name : NULL);
}

static uint64_t
kernel(const struct cl_compute *c, const uint8_t *p, size_t n)
{
	uint64_t sum[CL_COMPUTE_NBLOCKS] = { 0 }, s = 0;
	uint8_t last[CL_COMPUTE_ROW] = { 0 };
	size_t nrows = n / CL_COMPUTE_ROW, nlast = n % CL_COMPUTE_ROW;
	uint32_t w;
	unsigned i;

	w = c->form->rows(&c->act, p, nrows, 1, sum);
	if (nlast > 0) {
		memcpy(last, p + nrows * CL_COMPUTE_ROW, nlast);
		(void)c->form->rows(&c->act, last, 1, w, sum);
	}
	for (i = 0; i < CL_COMPUTE_NBLOCKS; i++)
		s += sum[i] * c->act.scale[i];
	return (s);
}

uint64_t
cl_compute_expert(const struct cl_compute *c, uint32_t layer, uint32_t expert,
    const struct cl_compute_slab *slab, size_t nslabs)
{
	uint64_t h, s;
	size_t i;

	if (c->kind == CL_COMPUTE_NONE)
		return (0);
	h = cl_hash_mix(cl_hash_mix(0, layer), expert);
	for (i = 0; i < nslabs; i++) {
		if (c->kind == CL_COMPUTE_KERNEL)
			s = kernel(c, slab[i].bytes, slab[i].nbytes);
		else
			s = cl_compute_hash(c->seed, slab[i].bytes,
			    slab[i].nbytes);
		h = cl_hash_mix(cl_hash_mix(h, slab[i].nbytes), s);
	}
	return (h);
}

uint64_t
cl_compute_chain(uint64_t run, uint64_t expert)
{

	return (cl_hash_mix(run, expert));
}

uint64_t
cl_compute_busy(uint64_t ns)
{
	uint64_t start = cl_clock_ns(), spent = 0;

	while (spent < ns)
		spent = cl_clock_ns() - start;
	return (spent);
}

void
cl_compute_free(struct cl_compute *c)
{

	free(c);
}
