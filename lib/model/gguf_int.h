#ifndef GGUF_INT_H
#define GGUF_INT_H

/*
 * What the parts of the GGUF module share: the parser (gguf.c) fills the
 * handle, the readers (gguf_get.c) look things up in it, and both know types
 * (gguf_type.c).
 */

#include <stdint.h>

#include "cl/gguf.h"

enum gguf_value {			/* the format's own numbers */
	GGUF_U8 = 0,
	GGUF_I8 = 1,
	GGUF_U16 = 2,
	GGUF_I16 = 3,
	GGUF_U32 = 4,
	GGUF_I32 = 5,
	GGUF_F32 = 6,
	GGUF_BOOL = 7,
	GGUF_STR = 8,
	GGUF_ARRAY = 9,
	GGUF_U64 = 10,
	GGUF_I64 = 11,
	GGUF_F64 = 12
};

struct gguf_key {
	char		*name;
	uint64_t	 at;		/* where its record stands */
	uint32_t	 type;
	uint32_t	 elem;		/* type of an array's elements */
	uint64_t	 n;		/* of them, or bytes of a string */
	uint64_t	 off;		/* of the first value, or of the text */
	uint8_t		 raw[8];	/* a value that is neither */
};

struct cl_gguf {
	char		*path;
	int		 fd;
	uint64_t	 nbytes;
	uint64_t	 data;
	uint64_t	 align;
	uint64_t	 head_hash;
	struct gguf_key	*keys;		/* by name, once open */
	size_t		 nkeys;
	size_t		 keys_cap;
	struct cl_gguf_tensor *tensors;	/* by name, once open */
	size_t		 ntensors;
	size_t		 tensors_cap;
};

/* Bytes of a value of that type; 0 for strings, arrays and unknown types. */
unsigned	cl_gguf_value_size(uint32_t type);

const struct gguf_key *cl_gguf_key(const struct cl_gguf *, const char *);

#endif /* GGUF_INT_H */
