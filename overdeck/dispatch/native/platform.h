/* C11 and POSIX; what Linux and macOS call differently. Every file includes this before anything else. */
#ifndef OVERDECK_PLATFORM_H
#define OVERDECK_PLATFORM_H

#ifdef __linux__
#define _GNU_SOURCE
#else
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the search reads pairs of letters as little-endian numbers; on this machine use the Python front"
#endif

#ifdef __APPLE__
#define MTIME(st) ((st).st_mtimespec)
#define MAP_ANONYMOUS MAP_ANON
#ifndef O_PATH
#define O_PATH O_RDONLY
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
#else
#define MTIME(st) ((st).st_mtim)
#endif

#endif
