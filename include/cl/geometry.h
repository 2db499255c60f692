#ifndef CL_GEOMETRY_H
#define CL_GEOMETRY_H

/*
 * What was understood of a model, for people and for programs: its layers,
 * experts and slabs, what every token needs, what one token demands of its
 * experts, and the router rules with what of them was assumed.  Cannot fail
 * but through the sink.
 */

struct cl_dst;
struct cl_model;

void	cl_geometry_text(const struct cl_model *, struct cl_dst *);
void	cl_geometry_json(const struct cl_model *, struct cl_dst *);

#endif /* CL_GEOMETRY_H */
