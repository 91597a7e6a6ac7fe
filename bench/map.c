/* map.c -- mmap behind an error message. */
#include "bench/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static wn_status map_descriptor(struct map *map, int fd, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st)) return wni_fail(err, WN_EIO, "cannot examine '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return wni_fail(err, WN_EIO, "'%s' is not a regular file", path);
    if (st.st_size == 0) return WN_OK; /* mmap refuses a length of 0 */
    if ((uintmax_t)st.st_size > SIZE_MAX) return wni_fail(err, WN_EIO, "'%s' is too large to map", path);
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return wni_fail(err, WN_EIO, "cannot map '%s': %s", path, strerror(errno));
    map->data = data;
    map->size = (size_t)st.st_size;
    return WN_OK;
}

wn_status wni_map_open(struct map *map, const char *path, struct err *err)
{
    *map = (struct map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* non-blocking: a pipe must not make us wait */
    if (fd < 0) return wni_fail(err, WN_EIO, "cannot open '%s': %s", path, strerror(errno));
    wn_status st = map_descriptor(map, fd, path, err);
    close(fd); /* the mapping stays */
    return st;
}

void wni_map_release(struct map *map)
{
    if (map->data) munmap((void *)(uintptr_t)map->data, map->size);
    *map = (struct map){0};
}
