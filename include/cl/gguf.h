#ifndef CL_GGUF_H
#define CL_GGUF_H

/*
 * The head of one GGUF file, versions 2 and 3: keys, and where each tensor
 * lies (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).  Nothing
 * in the file is trusted, memory is proportional to the head as it is, not as
 * it claims to be, and arrays are stepped over and read when asked for.  What
 * opened is consistent: names are unique, every tensor of a known type lies
 * inside the file and no two overlap.
 *
 * The handle keeps the file open for reading; the caller closes it.  It does
 * not change after open, and any thread may read through it.  Offsets and
 * sizes are bytes of the file.  Messages of open name the file; those of the
 * other calls say what and where in it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;
struct cl_gguf;

#define CL_GGUF_STR_MAX	(64 * 1024)	/* the longest value read as a string */

struct cl_gguf_type {
	const char	*name;		/* "q4_K" */
	uint32_t	 elems;		/* weights in a block */
	uint32_t	 nbytes;	/* of a block */
};

struct cl_gguf_tensor {
	char		*name;		/* not empty, holds no NUL */
	uint64_t	 at;		/* place of its record */
	uint32_t	 type;		/* ggml's number */
	uint32_t	 ndims;		/* 0 to 4 */
	uint64_t	 ne[4];		/* fastest first; 1 beyond ndims */
	uint64_t	 off;
	uint64_t	 nbytes;	/* of an unknown type: up to the next */
	bool		 known;		/* the type, and so the exact size */
};

struct cl_gguf	*cl_gguf_open(const char *path, struct cl_err *);
void		 cl_gguf_close(struct cl_gguf *);	/* NULL is legal */

const char	*cl_gguf_path(const struct cl_gguf *);	/* as it was given */
uint64_t	 cl_gguf_size(const struct cl_gguf *);
uint64_t	 cl_gguf_data(const struct cl_gguf *);	/* where data begins */

/* XXH64 of all bytes before the tensor data. */
uint64_t	 cl_gguf_head_hash(const struct cl_gguf *);

bool	cl_gguf_has(const struct cl_gguf *, const char *key);

/*
 * The value of a key, or dflt where it is absent.  Integers of any width are
 * one kind, floats another; what does not fit, or is of another kind, is
 * CL_EFORMAT.
 */
int	cl_gguf_u32(const struct cl_gguf *, const char *key, uint32_t dflt,
	    uint32_t *, struct cl_err *);
int	cl_gguf_f32(const struct cl_gguf *, const char *key, float dflt,
	    float *, struct cl_err *);
int	cl_gguf_bool(const struct cl_gguf *, const char *key, bool dflt,
	    bool *, struct cl_err *);

/*
 * A key that is one integer for all layers or an array of one each, into n
 * places.  An array of another length is CL_EFORMAT.
 */
int	cl_gguf_layers(const struct cl_gguf *, const char *key, uint32_t dflt,
	    uint32_t *, uint32_t n, struct cl_err *);

/* A string as a copy that the caller frees; NULs in it become '?'. */
char	*cl_gguf_strdup(const struct cl_gguf *, const char *key,
	    const char *dflt, struct cl_err *);

/* All tensors, in ascending byte order of their names. */
size_t	cl_gguf_ntensors(const struct cl_gguf *);
const struct cl_gguf_tensor *cl_gguf_tensor(const struct cl_gguf *, size_t);

const struct cl_gguf_tensor *cl_gguf_find(const struct cl_gguf *,
		    const char *name);			/* or NULL */

/* n bytes of the file at off; an end before them is CL_ECUT. */
int	cl_gguf_read(const struct cl_gguf *, uint64_t off, void *, size_t n,
	    struct cl_err *);

/* The n weights of a tensor of exactly n, stored as f32, f16 or bf16. */
int	cl_gguf_read_f32(const struct cl_gguf *,
	    const struct cl_gguf_tensor *, float *, size_t n, struct cl_err *);

/* NULL for an id not known, or retired. */
const struct cl_gguf_type *cl_gguf_type(uint32_t id);
bool	cl_gguf_type_retired(uint32_t id);

#endif /* CL_GGUF_H */
