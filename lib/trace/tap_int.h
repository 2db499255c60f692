#ifndef CL_TAP_INT_H
#define CL_TAP_INT_H

/*
 * What the parts of the tap share: libllama as a table of functions found at
 * run time (tap_load.c), how a model is to be loaded (tap_params.c), what is
 * read of a graph as it runs (tap_graph.c; tap_rule.c for the rule, tap_rows.c
 * for which row is whose), and the life of a model (tap.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/err.h"
#include "cl/rule.h"
#include "cl/tap.h"

/*
 * A parameter struct of unknown size.  Structs above 16 bytes travel in memory
 * on x86-64 and by pointer on aarch64, and the callee reads or writes its own
 * size, so a larger one will do; the largest known has 528 bytes.
 */
struct tap_blob {
	uint64_t	 word[256];
};

/* llama_batch: seven fields that all releases share, and room for more. */
struct tap_batch {
	int32_t		 n;
	int32_t		*token;
	float		*embd;
	int32_t		*pos;
	int32_t		*nseq;
	int32_t		**seq;
	int8_t		*output;
	uint64_t	 room[9];
};

/* llama_chat_message */
struct tap_message {
	const char	*role;
	const char	*text;
};

/* ggml_tensor, as far as it is read; tap_graph.c proves it before use. */
struct tap_tensor {
	int32_t		 type;
	void		*buffer;
	int64_t		 ne[4];
	size_t		 nb[4];
	int32_t		 op;
	int32_t		 params[16];
	int32_t		 flags;
	struct tap_tensor *src[10];
	struct tap_tensor *view_src;
	size_t		 view_off;
	void		*data;
	char		 name[64];
};

/*
 * The first error that libllama logged since log.text[0] was cleared, and what
 * it told of a model as it was loaded.
 */
struct tap_log {
	char		 text[400];
	bool		 open;		/* its line goes on */
	uint32_t	 nbuffers;	/* of weights */
	bool		 repacked;	/* one of them, for repacked ones */
	bool		 plain_attn;	/* no flash attention */
	bool		 has_gpu;
	uint32_t	 gpu_layers;
	uint32_t	 all_layers;	/* that could be on a GPU */
};

/* A node's part in a router, by its name. */
enum tap_node {
	TAP_NODE_OTHER,
	TAP_NODE_LOGITS,
	TAP_NODE_PROBS,
	TAP_NODE_GROUPS,
	TAP_NODE_TOPK,
	TAP_NODE_WEIGHTS,
	TAP_NODE_SOFTMAX_W,
	TAP_NODE_NORM,
	TAP_NODE_SCALED
};

typedef bool tap_observer(struct tap_tensor *, bool ask, void *);
typedef void tap_logger(int level, const char *, void *);

/* Every function used, by the tail of its name; those at the end may lack. */
struct tap_lib {
	void		*handle;
	char		 engine[64];

	void		 (*log_set)(tap_logger *, void *);
	void		 (*backend_init)(void);
	struct tap_blob	 (*model_defaults)(void);
	struct tap_blob	 (*context_defaults)(void);
	void		*(*model_load)(const char *, struct tap_blob);
	void		 (*model_free)(void *);
	int32_t		 (*model_nlayers)(const void *);
	const void	*(*model_vocab)(const void *);
	int32_t		 (*vocab_n)(const void *);
	bool		 (*vocab_is_end)(const void *, int32_t);
	int32_t		 (*tokenize)(const void *, const char *, int32_t,
			    int32_t *, int32_t, bool, bool);
	void		*(*context_new)(void *, struct tap_blob);
	void		 (*context_free)(void *);
	uint32_t	 (*nctx)(const void *);
	uint32_t	 (*nbatch)(const void *);
	uint32_t	 (*nubatch)(const void *);
	uint32_t	 (*nseq)(const void *);
	void		 (*set_threads)(void *, int32_t, int32_t);
	struct tap_batch (*batch_init)(int32_t, int32_t, int32_t);
	void		 (*batch_free)(struct tap_batch);
	int32_t		 (*decode)(void *, struct tap_batch);
	float		*(*output)(void *, int32_t);

	const char	*(*get_name)(const struct tap_tensor *);
	const char	*(*op_desc)(const struct tap_tensor *);
	size_t		 (*nbytes)(const struct tap_tensor *);
	int64_t		 (*nelements)(const struct tap_tensor *);
	void		 (*tensor_get)(const struct tap_tensor *, void *,
			    size_t, size_t);
	void		 (*set_observer)(void *, tap_observer *, void *);

	void		 (*attach_pool)(void *, void *, void *);
	void		 (*pool_params)(struct tap_blob *, int);
	void		*(*reg_by_name)(const char *);
	void		*(*reg_function)(void *, const char *);
	void		 (*load_backends)(const char *);
	void		*(*memory)(const void *);
	bool		 (*memory_forget)(void *, int32_t, int32_t, int32_t);
	bool		 (*kv_self_forget)(void *, int32_t, int32_t, int32_t);
	bool		 (*kv_forget)(void *, int32_t, int32_t, int32_t);
	const char	*(*chat_template)(const void *, const char *name);
	int32_t		 (*chat_apply)(const char *template,
			    const struct tap_message *, size_t n,
			    bool open_answer, char *, int32_t);
	const char	*(*version)(void);
	const char	*(*ggml_version)(void);
};

/* One block of the model. */
struct tap_slot {
	struct cl_tap_layer out;
	struct cl_rule	 rule;
	enum {
		TAP_UNREAD,
		TAP_READING,	/* the first of its weights were seen */
		TAP_READ
	}		 state;
	float		*scores;	/* nbatch rows */
	uint16_t	*ids;		/* nbatch rows */
	uint32_t	 nscores;	/* rows of this decode so far */
	uint32_t	 nids;
	/* Of the graph that is running. */
	const struct tap_tensor *logits;
	const struct tap_tensor *groups;
	const struct tap_tensor *topk;
};

/*
 * Which token of the batch is which row of the graphs that ran.  Rows count on
 * from graph to graph; arrays are of nbatch.
 */
struct tap_rows {
	const struct tap_tensor *embd;	/* the token embedding, once seen */
	uint32_t	 n;		/* rows of this graph; 0: not known */
	uint32_t	 done;		/* rows of the graphs before it */
	uint32_t	 ngraphs;	/* of this decode, with this one */
	bool		 has_pos;	/* of this graph's rows */
	bool		 has_seq;
	/* Of each row. */
	int32_t		*token;
	int32_t		*pos;		/* -1: not known */
	int64_t		*cell;
	uint32_t	*seq;		/* UINT32_MAX: not known */
	uint32_t	*ran;		/* its graph, from 0 */
	uint32_t	*batch;		/* its token */
	/* Of each token. */
	bool		*taken;		/* it has its row */
	uint32_t	*graph;
};

/* A node that was asked for, and whether nothing of it is wanted. */
struct tap_asked {
	const struct tap_tensor *t;
	bool		 plain;
};

struct cl_tap {
	struct tap_lib	 lib;
	struct tap_log	 log;
	struct cl_tap_options opt;	/* without its pointers */
	void		*model;
	void		*context;
	const void	*vocab;
	void		*pool;
	void		 (*pool_free)(void *);
	struct tap_batch batch;

	struct tap_slot	*slots;		/* one for each block */
	uint32_t	 nslots;
	uint32_t	*seen;		/* the blocks captured, ascending */
	uint32_t	 nseen;
	struct tap_rows	 rows;
	struct tap_asked *asked;	/* the nodes of the graph, in order */
	size_t		 nasked;
	size_t		 asked_cap;
	size_t		 at;		/* the next of them */
	uint8_t		*scratch;
	size_t		 scratch_cap;
	uint64_t	 captured;
	void		*sched;		/* where callbacks go; NULL: none yet */
	tap_observer	*theirs;	/* libllama's own, mostly NULL */
	void		*their_arg;
	bool		 proven;	/* struct tap_tensor fits */
	bool		 armed;		/* a decode is under way */
	struct cl_err	 err;		/* what failed inside a callback */
};

/* tap_load.c */
int	cl_tap_int_load(struct tap_lib *, struct tap_log *,
	    const struct cl_tap_options *, struct cl_err *);
void	cl_tap_int_pool(struct cl_tap *);
const char *cl_tap_int_reason(const struct tap_log *);

/* tap_params.c */
int	cl_tap_int_set_params(const struct cl_tap *, struct tap_blob *,
	    struct cl_err *);
void	cl_tap_int_hear(struct tap_log *, const char *line);
int	cl_tap_int_check_params(const struct cl_tap *, struct cl_err *);

/* The same for a context: before it is made, and after. */
int	cl_tap_int_set_context(const struct cl_tap *, struct tap_blob *,
	    struct cl_err *);
int	cl_tap_int_check_context(const struct cl_tap *, struct cl_err *);

/* tap_graph.c */
bool	cl_tap_int_observe(struct tap_tensor *, bool ask, void *);
void	cl_tap_int_begin(struct cl_tap *);
void	cl_tap_int_finish(struct cl_tap *);

/* tap_rule.c */
bool	cl_tap_int_op_is(const struct cl_tap *, const struct tap_tensor *,
	    const char *op);
bool	cl_tap_int_is_rows(const struct cl_tap *, const struct tap_tensor *);
int	cl_tap_int_odd(struct cl_tap *, const struct tap_slot *,
	    const char *what, const struct tap_tensor *);
void	cl_tap_int_rule(struct cl_tap *, struct tap_slot *, enum tap_node,
	    const struct tap_tensor *);

/* tap_rows.c */
int	cl_tap_int_rows_new(struct cl_tap *, struct cl_err *);
void	cl_tap_int_rows_free(struct cl_tap *);
void	cl_tap_int_rows_begin(struct cl_tap *);
bool	cl_tap_int_rows_look(struct cl_tap *, const struct tap_tensor *);
bool	cl_tap_int_rows_fit(struct cl_tap *, uint32_t n);
int	cl_tap_int_rows_place(struct cl_tap *, struct cl_err *);

#endif /* CL_TAP_INT_H */
