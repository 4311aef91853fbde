/* For functions whose arguments are constants, and which are to be compiled for each of them. */
#ifndef POET_INLINE_H
#define POET_INLINE_H

#if defined(__GNUC__)
#define POET_INLINE static inline __attribute__((always_inline))
#else
#define POET_INLINE static inline
#endif

#endif
