/*
 * Finding libllama and its functions.  A place is a library or a directory;
 * inside a directory, and inside bins/linux-x64 below it (the layout of the
 * npm packages), the shortest name that is libllama's wins: it is the one
 * without version suffixes.  The library is opened RTLD_LOCAL: it still binds
 * ggml_backend_sched_set_eval_callback to the executable, which comes first
 * in the lookup scope, while dlsym on its handle finds the real one.
 *
 * Nothing that libllama logs reaches stderr: its first error is kept as the
 * reason of ours, the rest is dropped.
 */

#define _GNU_SOURCE		/* dladdr */

#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cl/text.h"
#include "tap_int.h"

#define LOG_ERROR	4	/* ggml_log_level */
#define LOG_GOES_ON	5
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const char *const subdirs[] = { "", "/bins/linux-x64",
    "/package/bins/linux-x64" };

static const char *const plain_names[] = { "libllama.so", "libllama.so.0" };

#define FN(field, name, needed)						\
	{ name, offsetof(struct tap_lib, field), needed }

static const struct {
	const char	*name;
	size_t		 off;
	bool		 needed;
} functions[] = {
	FN(log_set, "llama_log_set", true),
	FN(backend_init, "llama_backend_init", true),
	FN(model_defaults, "llama_model_default_params", true),
	FN(context_defaults, "llama_context_default_params", true),
	FN(model_load, "llama_model_load_from_file", true),
	FN(model_free, "llama_model_free", true),
	FN(model_nlayers, "llama_model_n_layer", true),
	FN(model_vocab, "llama_model_get_vocab", true),
	FN(vocab_n, "llama_vocab_n_tokens", true),
	FN(vocab_is_end, "llama_vocab_is_eog", true),
	FN(tokenize, "llama_tokenize", true),
	FN(context_new, "llama_init_from_model", true),
	FN(context_free, "llama_free", true),
	FN(nctx, "llama_n_ctx", true),
	FN(nbatch, "llama_n_batch", true),
	FN(nubatch, "llama_n_ubatch", true),
	FN(nseq, "llama_n_seq_max", true),
	FN(set_threads, "llama_set_n_threads", true),
	FN(batch_init, "llama_batch_init", true),
	FN(batch_free, "llama_batch_free", true),
	FN(decode, "llama_decode", true),
	FN(output, "llama_get_logits_ith", true),
	FN(get_name, "ggml_get_name", true),
	FN(op_desc, "ggml_op_desc", true),
	FN(nbytes, "ggml_nbytes", true),
	FN(nelements, "ggml_nelements", true),
	FN(tensor_get, "ggml_backend_tensor_get", true),
	FN(set_observer, "ggml_backend_sched_set_eval_callback", true),
	FN(attach_pool, "llama_attach_threadpool", false),
	FN(pool_params, "ggml_threadpool_params_init", false),
	FN(reg_by_name, "ggml_backend_reg_by_name", false),
	FN(reg_function, "ggml_backend_reg_get_proc_address", false),
	FN(load_backends, "ggml_backend_load_all_from_path", false),
	FN(memory, "llama_get_memory", false),
	FN(memory_forget, "llama_memory_seq_rm", false),
	FN(kv_self_forget, "llama_kv_self_seq_rm", false),
	FN(kv_forget, "llama_kv_cache_seq_rm", false),
	FN(chat_template, "llama_model_chat_template", false),
	FN(chat_apply, "llama_chat_apply_template", false),
	FN(version, "llama_version", false),
	FN(ggml_version, "ggml_version", false)
};

/* Keep the first error; a line may come in pieces. */
static void
keep_error(int level, const char *text, void *arg)
{
	struct tap_log *log = arg;
	size_t n = strlen(log->text);

	cl_tap_int_hear(log, text);
	if (level != LOG_GOES_ON)
		log->open = level == LOG_ERROR && n == 0;
	if (!log->open)
		return;
	(void)cl_text_vis(log->text + n, sizeof(log->text) - n, text,
	    strcspn(text, "\n"));
	if (strchr(text, '\n') != NULL)
		log->open = false;
}

/*
 * The reason without what libllama puts before it: the function that logged
 * it and the stages that the error passed through.
 */
const char *
cl_tap_int_reason(const struct tap_log *log)
{
	static const char *const stages[] = { "error loading model: ",
	    "error loading model architecture: ",
	    "error loading model hyperparameters: " };
	const char *s = log->text;
	size_t i, n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (n > 0 && strncmp(s + n, ": ", 2) == 0)
		s += n + 2;
	for (i = 0; i < COUNT(stages); i++)
		if (strncmp(s, stages[i], strlen(stages[i])) == 0)
			s += strlen(stages[i]);
	return (*s == '\0' ? "it gives no reason" : s);
}

static bool
is_library_name(const char *s)
{
	const char *so;

	if (strncmp(s, "libllama.", 9) != 0 ||
	    (so = strstr(s, ".so")) == NULL)
		return (false);
	return (so[3] == '\0' || so[3] == '.');
}

/* The best library directly in dir; false if there is none. */
static bool
find_in_dir(const char *dir, char path[PATH_MAX])
{
	char best[256] = "";
	struct dirent *e;
	DIR *d;
	int n;

	if ((d = opendir(dir)) == NULL)
		return (false);
	while ((e = readdir(d)) != NULL) {
		if (!is_library_name(e->d_name))
			continue;
		if (best[0] == '\0' || strlen(e->d_name) < strlen(best) ||
		    (strlen(e->d_name) == strlen(best) &&
		    strcmp(e->d_name, best) > 0))
			(void)snprintf(best, sizeof(best), "%s", e->d_name);
	}
	(void)closedir(d);
	n = snprintf(path, PATH_MAX, "%s/%s", dir, best);
	return (best[0] != '\0' && n > 0 && n < PATH_MAX);
}

/* The library that a place stands for; false if there is none. */
static bool
find_at(const char *place, char path[PATH_MAX])
{
	char dir[PATH_MAX];
	struct stat st;
	size_t i;
	int n;

	if (stat(place, &st) == -1)
		return (false);
	if (!S_ISDIR(st.st_mode)) {
		n = snprintf(path, PATH_MAX, "%s", place);
		return (n > 0 && n < PATH_MAX);
	}
	for (i = 0; i < COUNT(subdirs); i++) {
		n = snprintf(dir, sizeof(dir), "%s%s", place, subdirs[i]);
		if (n > 0 && (size_t)n < sizeof(dir) &&
		    find_in_dir(dir, path))
			return (true);
	}
	return (false);
}

/* Open the library at path; *fresh tells whether it was not loaded before. */
static int
open_library(struct tap_lib *lib, const char *path, bool *fresh,
    struct cl_err *err)
{
	char real[PATH_MAX];
	const char *why;

	if (realpath(path, real) == NULL)
		return (cl_fail_errno(err, "%s", path));
	lib->handle = dlopen(real, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	*fresh = lib->handle == NULL;
	if (*fresh)
		lib->handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
	if (lib->handle != NULL)
		return (CL_OK);
	why = dlerror();
	return (cl_fail(err, CL_EIO, "%s cannot be opened as libllama: %s",
	    path, why == NULL ? "the loader gives no reason" : why));
}

/* The places as "A, B" for a message; what does not fit is left out. */
static void
list_places(const char *const *places, char *buf, size_t cap)
{
	size_t i, n = 0;

	buf[0] = '\0';
	for (i = 0; places != NULL && places[i] != NULL && n < cap; i++)
		n += (size_t)snprintf(buf + n, cap - n, "%s, ", places[i]);
}

static int
open_anywhere(struct tap_lib *lib, const struct cl_tap_options *o,
    bool *fresh, struct cl_err *err)
{
	char path[PATH_MAX], list[600];
	size_t i;

	for (i = 0; o->places != NULL && o->places[i] != NULL; i++) {
		if (find_at(o->places[i], path))
			return (open_library(lib, path, fresh, err));
		if (o->must != NULL && strcmp(o->must, o->places[i]) == 0)
			return (cl_fail(err, CL_EIO, "there is no libllama "
			    "at %s", o->must));
	}
	for (i = 0; i < COUNT(plain_names); i++) {
		lib->handle = dlopen(plain_names[i],
		    RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
		*fresh = lib->handle == NULL;
		if (lib->handle != NULL || (lib->handle =
		    dlopen(plain_names[i], RTLD_NOW | RTLD_LOCAL)) != NULL)
			return (CL_OK);
	}
	list_places(o->places, list, sizeof(list));
	return (cl_fail(err, CL_ENOTSUP, "libllama is needed to run a model "
	    "and was not found (looked in: %sthe loader's path); run `make "
	    "deps`, or name it by --llama or CL_LLAMA", list));
}

/* Every function by its name; a missing one that is needed is an error. */
static int
find_functions(struct tap_lib *lib, struct cl_err *err)
{
	size_t i;
	void *p;

	for (i = 0; i < COUNT(functions); i++) {
		p = dlsym(lib->handle, functions[i].name);
		if (p == NULL && functions[i].needed)
			return (cl_fail(err, CL_ENOTSUP, "libllama lacks "
			    "%s(): it is too old, or another library",
			    functions[i].name));
		memcpy((char *)lib + functions[i].off, &p, sizeof(p));
	}
	return (CL_OK);
}

/* The file that the library came from; false if the loader cannot tell. */
static bool
library_path(const struct tap_lib *lib, char real[PATH_MAX])
{
	Dl_info info;
	void *p;

	memcpy(&p, &lib->backend_init, sizeof(p));
	return (dladdr(p, &info) != 0 && info.dli_fname != NULL &&
	    realpath(info.dli_fname, real) != NULL);
}

/*
 * The release: what stands in the file's name beside "libllama" and ".so",
 * else what the library says of itself.
 */
static void
name_engine(struct tap_lib *lib, const char *real)
{
	const char *base = strrchr(real, '/'), *so;
	char mid[40] = "";
	size_t n;

	base = base == NULL ? real : base + 1;
	if (is_library_name(base)) {
		so = strstr(base, ".so");
		if (so > base + 9) {
			n = (size_t)(so - base) - 9;
			(void)snprintf(mid, sizeof(mid), "%.*s",
			    n < sizeof(mid) ? (int)n : (int)sizeof(mid) - 1,
			    base + 9);
		} else if (strchr(so + 4, '.') != NULL)
			(void)snprintf(mid, sizeof(mid), "%s", so + 4);
	}
	if (mid[0] != '\0')
		(void)snprintf(lib->engine, sizeof(lib->engine),
		    "libllama %s", mid);
	else if (lib->version != NULL)
		(void)snprintf(lib->engine, sizeof(lib->engine),
		    "libllama %.40s", lib->version());
	else if (lib->ggml_version != NULL)
		(void)snprintf(lib->engine, sizeof(lib->engine),
		    "libllama with ggml %.30s", lib->ggml_version());
	else
		(void)snprintf(lib->engine, sizeof(lib->engine),
		    "libllama of unknown release");
}

/*
 * Open libllama, silence it, and let it load the back ends that lie beside
 * it.  They stay in the process, so they are loaded with the library only.
 */
int
cl_tap_int_load(struct tap_lib *lib, struct tap_log *log,
    const struct cl_tap_options *o, struct cl_err *err)
{
	char real[PATH_MAX] = "";
	bool fresh;
	int status;

	if ((status = open_anywhere(lib, o, &fresh, err)) != CL_OK)
		return (status);
	if ((status = find_functions(lib, err)) != CL_OK) {
		(void)dlclose(lib->handle);
		return (status);
	}
	lib->log_set(keep_error, log);
	if (library_path(lib, real)) {
		name_engine(lib, real);
		if (fresh && lib->load_backends != NULL)
			lib->load_backends(dirname(real));
	} else
		name_engine(lib, "");
	lib->backend_init();
	if (lib->reg_by_name != NULL && lib->reg_by_name("CPU") == NULL)
		return (cl_fail(err, CL_ENOTSUP, "%s has no back end for "
		    "this processor beside it", lib->engine));
	return (CL_OK);
}

/*
 * A persistent thread pool: without one these builds make a pool, and start
 * and join threads, for every piece of a graph; capturing makes many pieces.
 * Where the release offers none, its own way of threading has to do.
 */
void
cl_tap_int_pool(struct cl_tap *tap)
{
	struct tap_lib *lib = &tap->lib;
	struct tap_blob params;
	void *(*pool_new)(struct tap_blob *);
	void *cpu, *make, *drop;

	if (lib->attach_pool == NULL || lib->pool_params == NULL ||
	    lib->reg_by_name == NULL || lib->reg_function == NULL ||
	    (cpu = lib->reg_by_name("CPU")) == NULL)
		return;
	make = lib->reg_function(cpu, "ggml_threadpool_new");
	drop = lib->reg_function(cpu, "ggml_threadpool_free");
	if (make == NULL || drop == NULL)
		return;
	memset(&params, 0, sizeof(params));
	lib->pool_params(&params, (int)tap->opt.nthreads);
	memcpy(&pool_new, &make, sizeof(make));
	if ((tap->pool = pool_new(&params)) == NULL)
		return;
	memcpy(&tap->pool_free, &drop, sizeof(drop));
	lib->attach_pool(tap->context, tap->pool, NULL);
}
