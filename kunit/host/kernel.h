/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The few kernel interfaces that proto/ and its suites may use, for a user
 * space program. The Makefile makes every <linux/...> header of its list a link
 * to this file. Where kernels differ, the strictest one is followed (min() and
 * max() want equal types, as on 6.1).
 */
#ifndef MROCE_HOST_KERNEL_H
#define MROCE_HOST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __CHECKER__
#define __bitwise	__attribute__((bitwise))
#define __force		__attribute__((force))
#else
#define __bitwise
#define __force
#endif

typedef unsigned char		u8, __u8;
typedef unsigned short		u16, __u16;
typedef unsigned int		u32, __u32;
typedef unsigned long long	u64, __u64;
typedef signed char		s8, __s8;
typedef short			s16, __s16;
typedef int			s32, __s32;
typedef long long		s64, __s64;
typedef u16 __bitwise __be16, __le16;
typedef u32 __bitwise __be32, __le32;
typedef u64 __bitwise __be64, __le64;

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define U64_MAX		((u64)~0ULL)
#define S32_MAX		((s32)(U32_MAX >> 1))
#define S32_MIN		((s32)(-S32_MAX - 1))
#define S64_MAX		((s64)(U64_MAX >> 1))
#define S64_MIN		((s64)(-S64_MAX - 1))
#ifndef INT_MAX
#define INT_MAX		((int)(~0U >> 1))
#define INT_MIN		(-INT_MAX - 1)
#define UINT_MAX	(~0U)
#define LONG_MAX	((long)(~0UL >> 1))
#define ULONG_MAX	(~0UL)
#endif

#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L
#define USEC_PER_MSEC	1000L
#define USEC_PER_SEC	1000000L
#define MSEC_PER_SEC	1000L

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#if defined(__has_attribute) && __has_attribute(__fallthrough__)
#define fallthrough	__attribute__((__fallthrough__))
#else
#define fallthrough	do {} while (0)
#endif
#define __maybe_unused	__attribute__((__unused__))
#define __always_unused	__attribute__((__unused__))
#define __packed	__attribute__((__packed__))
#define __aligned(x)	__attribute__((__aligned__(x)))
#define __must_check	__attribute__((__warn_unused_result__))
#define noinline	__attribute__((__noinline__))
#undef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define __init
#define __exit
#undef static_assert
#define static_assert(expr, ...)	_Static_assert(expr, #expr)
#define BUILD_BUG_ON(cond)		_Static_assert(!(cond), #cond)
#define IS_ENABLED(option)		0
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define swap(a, b) do {							\
	__typeof__(a) tmp_ = (a);					\
	(a) = (b);							\
	(b) = tmp_;							\
} while (0)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define sizeof_field(t, m)	sizeof(((t *)0)->m)
#define offsetofend(t, m)	(offsetof(t, m) + sizeof_field(t, m))
#define container_of(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))

/* A warning is a failure of the case that is running (main.c). */
bool mroce_host_warn(const char *file, int line, const char *what);
#define WARN_ON(cond)							\
	(unlikely(cond) && mroce_host_warn(__FILE__, __LINE__, #cond))
#define WARN_ON_ONCE(cond)	WARN_ON(cond)
#define WARN_ONCE(cond, ...)	WARN_ON(cond)

#define same_type_(x, y)						\
	(void)sizeof((__typeof__(x) *)8 == (__typeof__(y) *)8)
#define min(x, y)	({ __typeof__(x) x_ = (x); __typeof__(y) y_ = (y);	\
			   same_type_(x, y); x_ < y_ ? x_ : y_; })
#define max(x, y)	({ __typeof__(x) x_ = (x); __typeof__(y) y_ = (y);	\
			   same_type_(x, y); x_ > y_ ? x_ : y_; })
#define min_t(t, x, y)	({ t tx_ = (x); t ty_ = (y); tx_ < ty_ ? tx_ : ty_; })
#define max_t(t, x, y)	({ t tx_ = (x); t ty_ = (y); tx_ > ty_ ? tx_ : ty_; })
#define min3(x, y, z)	min((__typeof__(x))min(x, y), z)
#define max3(x, y, z)	max((__typeof__(x))max(x, y), z)
#define clamp(v, lo, hi)	min((__typeof__(v))max(v, lo), hi)
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	(((u64)(n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d)	(((n) + (d) / 2) / (d))
#define round_up(x, y)		((((x) - 1) | ((__typeof__(x))((y) - 1))) + 1)
#define round_down(x, y)	((x) & ~((__typeof__(x))((y) - 1)))
#define roundup(x, y)		((((x) + (y) - 1) / (y)) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#define ALIGN(x, a)		round_up(x, a)
#define IS_ALIGNED(x, a)	(((x) & ((__typeof__(x))(a) - 1)) == 0)
#define abs(x)			((x) < 0 ? -(x) : (x))

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline s64 div64_s64(s64 a, s64 b)
{
	return a / b;
}

static inline s64 div_s64(s64 a, s32 b)
{
	return a / b;
}

static inline u64 div_u64_rem(u64 a, u32 b, u32 *rem)
{
	*rem = a % b;
	return a / b;
}

static inline u64 div64_u64_rem(u64 a, u64 b, u64 *rem)
{
	*rem = a % b;
	return a / b;
}

static inline u64 mul_u32_u32(u32 a, u32 b)
{
	return (u64)a * b;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (u64)((unsigned __int128)a * b / c);
}

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * b) >> shift);
}

#define BITS_PER_LONG		64
#define BITS_PER_LONG_LONG	64
#define BITS_PER_BYTE		8
#define BITS_PER_TYPE(t)	(sizeof(t) * BITS_PER_BYTE)
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (63 - (h))))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))

/* Undefined for 0, as in the kernel. */
static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline unsigned long __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

static inline unsigned long __fls(unsigned long x)
{
	return 63 - __builtin_clzl(x);
}

static inline unsigned long ffz(unsigned long x)
{
	return __ffs(~x);
}

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline unsigned int hweight64(u64 x)
{
	unsigned int n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

static inline unsigned int hweight32(u32 x)
{
	return hweight64(x);
}

static inline unsigned int hweight8(u8 x)
{
	return hweight64(x);
}

static inline int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline bool is_power_of_2(unsigned long x)
{
	return x && !(x & (x - 1));
}

static inline u32 ror32(u32 x, unsigned int n)
{
	return (x >> (n & 31)) | (x << (-n & 31));
}

static inline u32 rol32(u32 x, unsigned int n)
{
	return (x << (n & 31)) | (x >> (-n & 31));
}

static inline u64 rol64(u64 x, unsigned int n)
{
	return (x << (n & 63)) | (x >> (-n & 63));
}

#define cpu_to_be16(x)	((__force __be16)__builtin_bswap16(x))
#define cpu_to_be32(x)	((__force __be32)__builtin_bswap32(x))
#define cpu_to_be64(x)	((__force __be64)__builtin_bswap64(x))
#define be16_to_cpu(x)	((u16)__builtin_bswap16((__force u16)(__be16)(x)))
#define be32_to_cpu(x)	((u32)__builtin_bswap32((__force u32)(__be32)(x)))
#define be64_to_cpu(x)	((u64)__builtin_bswap64((__force u64)(__be64)(x)))
#define htons		cpu_to_be16
#define htonl		cpu_to_be32
#define ntohs		be16_to_cpu
#define ntohl		be32_to_cpu
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "host shims are little-endian");

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

void *memset(void *s, int c, size_t n);
void *memcpy(void *d, const void *s, size_t n);
void *memmove(void *d, const void *s, size_t n);
int memcmp(const void *a, const void *b, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
size_t strlen(const char *s);

static inline void *memchr_inv(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (; n; n--, p++)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

#define MODULE_LICENSE(x)
#define MODULE_DESCRIPTION(x)
#define MODULE_AUTHOR(x)

#endif /* MROCE_HOST_KERNEL_H */
