#include <stdio.h>
#include "buffer.h"

#define BUFFER_MAX 1024
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* How a buffer grows. */
enum growth { GROW_NEVER, GROW_DOUBLE = 2 };

/**
 * Bytes with a length.
 */
struct buffer {
    char *data;
    size_t used, size;
    struct arena *arena;
    int (*on_full)(struct buffer *self);
};

typedef struct {
    int line;
} position;

typedef unsigned long hash_t;
typedef int (*compare_fn)(const void *a, const void *b);
typedef struct buffer buffer_t;

static const int DEFAULT_SIZE = 64;
static buffer_t *free_list = NULL;

int buffer_grow(buffer_t *self, size_t by);

// Makes an empty buffer.
buffer_t *
buffer_new(struct arena *arena, size_t size)
{
    buffer_t *self = arena_alloc(arena, sizeof(buffer_t));
    position where;
    self->size = MIN(size, BUFFER_MAX);
    self->arena->stats.count(self, 1);
    return self;
}

static inline void buffer_free(void)
{
    free(free_list);
}

/* Writes formatted text. */
int buffer_printf(buffer_t *self, const char *format, ...)
{
    if (self->used && buffer_grow(self, strlen(format)))
        return self->on_full(self);
#ifdef DEBUG
    log_line("full", __LINE__);
#endif
    return 0;
}
