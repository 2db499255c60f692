#ifndef CL_RULE_H
#define CL_RULE_H

/*
 * model/: what a model is: its files, layers, experts and router rules.
 *
 * The router rule of one layer: how raw scores become a choice of experts and
 * their weights.  It is what llama.cpp's build_moe_ffn() does (llama.cpp
 * v0.4.0, src/llama-graph.cpp), for scores x[0..E-1]:
 *
 *	x += gate_bias
 *	p = gate(x)			softmax | sigmoid | sqrt(softplus) | x
 *	s = p | x | sigmoid(x)		by select
 *	s += sel_bias
 *	groups of E / ngroup experts score the sum of their two greatest s; all
 *	but the ngroup_used best groups leave		(if ngroup > 1)
 *	chosen = the k greatest s, ties to the lower expert
 *	w = p[chosen]; softmaxed over the chosen if softmax_w; divided by
 *	max(sum, 2^-14) if norm; times scale
 *
 * The selection bias never reaches the weights.  A rule owns its two arrays.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_err;

#define CL_RULE_EXPERTS_MAX	16384	/* ids are 16 bits in a trace */

enum cl_gate {				/* numbered as in cl-trace(5) */
	CL_GATE_SOFTMAX = 1,
	CL_GATE_SIGMOID = 2,
	CL_GATE_SQRT_SOFTPLUS = 3,
	CL_GATE_SOFTMAX_WEIGHT = 4	/* p = x; softmax_w does the rest */
};

enum cl_select {
	CL_SELECT_PROBS = 1,
	CL_SELECT_LOGITS = 2,
	CL_SELECT_SIGMOID = 3,
	CL_SELECT_TABLE = 4		/* by token id: not from the scores */
};

/* Parts of a rule that were assumed rather than read; bits of `assumed`. */
enum {
	CL_RULE_GATE = 1,
	CL_RULE_SELECT = 2,
	CL_RULE_GATE_BIAS = 4,
	CL_RULE_SEL_BIAS = 8,
	CL_RULE_GROUPS = 16,
	CL_RULE_NORM = 32,
	CL_RULE_SCALE = 64,
	CL_RULE_ALL = 127
};

struct cl_rule {
	uint32_t	 nexperts;	/* E, 1 to CL_RULE_EXPERTS_MAX */
	uint32_t	 k;		/* 1 to E */
	enum cl_gate	 gate;
	enum cl_select	 select;
	float		*gate_bias;	/* E of them, or NULL */
	float		*sel_bias;	/* E of them, or NULL */
	uint32_t	 ngroup;	/* divides E; 1: no groups */
	uint32_t	 ngroup_used;	/* 1 to ngroup */
	bool		 norm;
	bool		 softmax_w;
	float		 scale;		/* finite; 1: none */
	uint32_t	 assumed;
};

/* The plain rule, softmax over all then normalised, all of it assumed. */
void	cl_rule_init(struct cl_rule *, uint32_t nexperts, uint32_t k);

/* CL_OK, or CL_EFORMAT naming the first bound above that is broken. */
int	cl_rule_check(const struct cl_rule *, struct cl_err *);

/* Among how many experts a token may choose: those of so many groups. */
uint32_t	cl_rule_reach(const struct cl_rule *);

int	cl_rule_copy(struct cl_rule *to, const struct cl_rule *from,
	    struct cl_err *);

/* Do both choose and weigh alike?  `assumed` does not count. */
bool	cl_rule_equal(const struct cl_rule *, const struct cl_rule *);

void	cl_rule_free(struct cl_rule *);

/* "softmax" ...; NULL for a number that is none. */
const char	*cl_rule_gate_name(enum cl_gate);
const char	*cl_rule_select_name(enum cl_select);

/* The inverse: 0 for a name that is none. */
enum cl_gate	cl_rule_gate_by_name(const char *);
enum cl_select	cl_rule_select_by_name(const char *);

/* "gate,norm" of the bits of `assumed`; "" for none. */
const char	*cl_rule_assumed_text(char buf[80], uint32_t assumed);

#endif /* CL_RULE_H */
