/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mroce on the wire: the headers, and nothing else.
 *
 * All fields are big-endian. Every packet is one UDP datagram to the mroce
 * port; the UDP source port is the entropy of the path. The first eight bytes
 * are the same for every type. Prose and reasons: Documentation/wire-protocol.rst.
 * Encoding, decoding and all length checks: proto/wire.c.
 *
 * These bytes are this project's own (version 1) and stand for "MetaRoCE as
 * announced"; no compatibility with another implementation is claimed.
 */
#ifndef MROCE_WIRE_H
#define MROCE_WIRE_H

#include <linux/types.h>
#include <linux/build_bug.h>

#define MROCE_WIRE_VERSION	1

/* UDP destination port; outside the assignments known to IANA, not 4791. */
#define MROCE_UDP_PORT		4799

/* Low nibble of the first byte; the version is the high nibble. */
enum mroce_wire_type {
	MROCE_WIRE_HELLO	= 1,
	MROCE_WIRE_HELLO_ACK	= 2,
	MROCE_WIRE_DATA		= 3,
	MROCE_WIRE_ACK		= 4,
	MROCE_WIRE_PROBE	= 5,
	MROCE_WIRE_PROBE_ACK	= 6,
	MROCE_WIRE_DGRAM	= 7,
	MROCE_WIRE_UNKNOWN	= 8,
};

/* Opcodes of DATA. Adding one: the table in proto/wire.c, wire-protocol.rst. */
enum mroce_wire_opcode {
	MROCE_OP_SEND		= 1,
	MROCE_OP_SEND_IMM	= 2,
	MROCE_OP_WRITE		= 3,
	MROCE_OP_WRITE_IMM	= 4,
	MROCE_OP_READ_REQ	= 5,
	MROCE_OP_ATOMIC_CS	= 6,
	MROCE_OP_ATOMIC_FA	= 7,
	MROCE_OP_READ_RESP	= 8,
	MROCE_OP_ATOMIC_RESP	= 9,
	MROCE_OP_SEND_INV	= 10,
	MROCE_OP_ANSWER		= 11,	/* of DGRAM only: the one with this token has arrived */
};

/* The two streams of a direction; high byte of the qpn words. */
#define MROCE_STREAM_REQ	0
#define MROCE_STREAM_RESP	1

/*
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-------+-------+---------------+-------------------------------+
 * |version|  type |    opcode     |             flags             |
 * +-------+-------+---------------+-------------------------------+
 * |                   destination connection id                   |
 * +---------------------------------------------------------------+
 */
struct mroce_wire_common {
	__u8 ver_type;
	__u8 opcode;
	__be16 flags;
	__be32 dcid;
};

/* Flags of DATA (and ACK_REQ of PROBE). */
#define MROCE_F_ACK_REQ		0x0001	/* acknowledge at once */
#define MROCE_F_MORE		0x0002	/* the sender has more to send */
#define MROCE_F_RETX		0x0004	/* telemetry: the data was sent before */
#define MROCE_F_SOLICITED	0x0008	/* raise a solicited event at the end */

/*
 * DATA: 64 bytes for every opcode, so that super-packets have equal segments.
 *
 * +-------+-------+---------------+-------------------------------+
 * |version|   3   |    opcode     |             flags             |  0
 * |                   destination connection id                   |  4
 * +---------------+---------------+-------------------------------+
 * |     path      |     dscp      |          incarnation          |  8
 * |                           path_seq                            | 12
 * |    stream     |              destination QPN                  | 16
 * |  unit/128     |                source QPN                     | 20
 * |                             psn                               | 24
 * |              psn of the first packet of the message           | 28
 * |                   length of the message, bytes                | 32
 * | number of the receive (SEND*, WRITE_IMM) or fetch (READ_REQ,  | 36
 * | ATOMIC*, *_RESP) it is for, else 0                            |
 * +                                                               +
 * |  WRITE*: address of this payload; READ_REQ, ATOMIC*: address; | 40
 * |  others: offset in the message                                |
 * +                                                               +
 * | rkey; of a response the incarnation of the requester          | 48
 * |  immediate, key to invalidate, or psn of the first response   | 52
 * +-------------------------------+-------------------------------+
 * |     bytes of payload here     |           reserved            | 56
 * |      number of the oldest incomplete READ or atomic           | 60
 * +---------------------------------------------------------------+
 *
 * `unit` is the payload size the whole message is cut into, in 128 bytes; all
 * packets of a message but the last carry exactly one unit.
 */
struct mroce_wire_data {
	struct mroce_wire_common c;
	__u8 path;
	__u8 dscp;
	__be16 incarnation;
	__be32 path_seq;
	__be32 dst;
	__be32 src;
	__be32 psn;
	__be32 msg_psn;
	__be32 msg_len;
	__be32 rsn;
	__be64 addr;
	__be32 rkey;
	__be32 imm;
	__be16 payload_len;
	__be16 reserved;
	__be32 oldest;
};

#define MROCE_DATA_HLEN		64
static_assert(sizeof(struct mroce_wire_data) == MROCE_DATA_HLEN);

/* Payload of ATOMIC_CS and ATOMIC_FA; that of ATOMIC_RESP is the old value, 8 bytes. */
struct mroce_wire_atomic {
	__be64 compare_add;		/* compare with, or add */
	__be64 swap;
};

#define MROCE_ATOMIC_LEN	16
#define MROCE_RESULT_LEN	8
static_assert(sizeof(struct mroce_wire_atomic) == MROCE_ATOMIC_LEN);

/*
 * ACK and PROBE_ACK: header, then n_parts path parts (each 44 bytes, 76 with a
 * refused vector), then n_recs stream records of 28 bytes.
 *
 * +-------+-------+---------------+-------------------------------+
 * |version| 4 / 6 |    n_parts    |             flags             |  0
 * |                   destination connection id                   |  4
 * |        receiver's share for this sender, Mb/s; 0 = none       |  8
 * +---------------+---------------+-------------------------------+
 * |    n_recs     |   echo path   |           reserved            | 12
 * |          PROBE_ACK: path_seq of the PROBE answered            | 16
 * |                           reserved                            | 20
 * +---------------------------------------------------------------+
 */
struct mroce_wire_ack {
	struct mroce_wire_common c;	/* opcode = n_parts */
	__be32 share_mbps;
	__u8 n_recs;
	__u8 echo_path;
	__be16 reserved0;
	__be32 echo_seq;
	__be32 reserved1;
};

#define MROCE_ACK_HLEN		24
static_assert(sizeof(struct mroce_wire_ack) == MROCE_ACK_HLEN);

#define MROCE_VEC_BITS		256
#define MROCE_VEC_WORDS		4

/*
 * A path part. Bit i of the vector (word i / 64, bit i % 64 counted from the
 * least significant) stands for path_seq highest - i; bit 0 is always set.
 *
 * +---------------+---------------+-------------------------------+
 * |     path      |  part flags   |       ack delay, us           |  0
 * |              highest path_seq received on the path            |  4
 * |     packets received with CE on the path, running count       |  8
 * |                  received vector, 4 x 64 bits                 | 12
 * |                  refused vector, 4 x 64 bits, optional        | 44
 * +---------------------------------------------------------------+
 */
struct mroce_wire_ack_part {
	__u8 path;
	__u8 flags;
	__be16 ack_delay_us;
	__be32 highest;
	__be32 ce_count;
	__be64 rcvd[MROCE_VEC_WORDS];
	__be64 refused[];		/* MROCE_VEC_WORDS, with PART_REFUSED */
} __packed __aligned(4);

#define MROCE_PART_REFUSED	0x01
#define MROCE_ACK_PART_LEN	44
#define MROCE_ACK_REFUSED_LEN	32
static_assert(sizeof(struct mroce_wire_ack_part) == MROCE_ACK_PART_LEN);

/* Syndromes of a stream record. */
enum mroce_syndrome {
	MROCE_SYN_OK		= 0,	/* accepting */
	MROCE_SYN_RNR		= 1,	/* refused: no receive posted */
	MROCE_SYN_BUSY		= 2,	/* refused: not ready, hold or memory */
	MROCE_SYN_INV_REQ	= 3,	/* fatal: remote invalid request */
	MROCE_SYN_ACCESS	= 4,	/* fatal: remote access error */
	MROCE_SYN_OP_ERR	= 5,	/* fatal: remote operational error */
	MROCE_SYN_GONE		= 6,	/* fatal: queue pair gone; cum psn is its last word */
	MROCE_SYN_NO_QP		= 7,	/* fatal: no such queue pair; cum psn means nothing */
};

/*
 * A stream record.
 *
 * +---------------+-----------------------------------------------+
 * |    stream     |     QPN of the sender of the data (addressee) |  0
 * |               |     QPN of the receiver of the data           |  4
 * +---------------+---------------+---------------+---------------+
 * |   incarnation of the data     |   syndrome    |   RNR timer   |  8
 * |        refusal count          |           reserved            | 12
 * |                         record number                         | 16
 * |          cumulative psn: all before it are accepted           | 20
 * |          limit psn: refused packets go again below it         | 24
 * +---------------------------------------------------------------+
 */
struct mroce_wire_rec {
	__be32 dst;
	__be32 src;
	__be16 incarnation;
	__u8 syndrome;
	__u8 rnr_timer;
	__be16 refusals;
	__be16 reserved;
	__be32 recno;
	__be32 cum_psn;
	__be32 limit_psn;
};

#define MROCE_REC_LEN		28
static_assert(sizeof(struct mroce_wire_rec) == MROCE_REC_LEN);

#define MROCE_ACK_MAX_PARTS	8
#define MROCE_ACK_MAX_RECS	16

/*
 * PROBE: takes a path_seq; then n_asks stream questions of 12 bytes; then
 * padding, so that it can have any size.
 */
struct mroce_wire_probe {
	struct mroce_wire_common c;	/* opcode = n_asks */
	__u8 path;
	__u8 dscp;
	__be16 reserved0;
	__be32 path_seq;
	__be32 pad_bytes;
	__be32 reserved1;
};

struct mroce_wire_ask {
	__be32 dst;			/* stream, QPN of the receiver of the data */
	__be32 src;			/* QPN of the sender of the data */
	__be16 incarnation;
	__be16 for_life;		/* responses: incarnation of the requester */
};

#define MROCE_PROBE_HLEN	24
#define MROCE_ASK_LEN		12
#define MROCE_PROBE_MAX_ASKS	16
static_assert(sizeof(struct mroce_wire_probe) == MROCE_PROBE_HLEN);
static_assert(sizeof(struct mroce_wire_ask) == MROCE_ASK_LEN);

/* HELLO and HELLO_ACK */
#define MROCE_HELLO_COOKIE_ONLY	0x0001	/* HELLO_ACK: come again with this cookie */
#define MROCE_MAX_PLANES	8

#define MROCE_PLANE_DOWN	0x0001	/* it cannot carry packets now */
#define MROCE_PLANE_LEAVING	0x0002	/* it will soon be gone: send nothing new there */

struct mroce_wire_plane {
	__u8 label;
	__u8 family;			/* 4 or 6 */
	__be16 flags;
	__be32 speed_mbps;		/* 0 = unknown */
	__u8 addr[16];			/* IPv4 as ::ffff:a.b.c.d */
};

/*
 * HELLO: who I am, what I can, proof that you can reach me.
 *
 * +-------+-------+---------------+-------------------------------+
 * |version| 1 / 2 |    n_planes   |             flags             |  0
 * |       destination connection id, 0 while not known            |  4
 * +---------------+---------------+---------------+---------------+
 * |  min version  |  max version  |     dscp      |     paths     |  8
 * |                     source connection id                      | 12
 * +                 instance nonce of the sender                  + 16
 * +     instance nonce of the addressee, 0 while not known        + 24
 * +           cookie of the addressee, 0 while not known          + 32
 * +-------------------------------+-------------------------------+
 * |    payload size per packet    |  number of this plane list    | 40
 * |                     stream window, psns                       | 44
 * |                        feature bits                           | 48
 * |                     bytes of padding                          | 52
 * |        GID of the sender's end of the connection              | 56
 * |        GID of the addressee's end                             | 72
 * |                     planes, 24 bytes each, then padding       | 88
 * +---------------------------------------------------------------+
 *
 * The GIDs name the connection: on planes other than the first one packets have
 * other addresses. All zero: the addresses of the packet.
 * In a HELLO_ACK the cookie is the one to come back with (COOKIE_ONLY), or the
 * one that was verified.
 */
struct mroce_wire_hello {
	struct mroce_wire_common c;	/* opcode = n_planes */
	__u8 ver_min;
	__u8 ver_max;
	__u8 dscp;
	__u8 paths;
	__be32 scid;
	__be64 nonce;
	__be64 peer_nonce;
	__be64 cookie;
	__be16 payload;
	__be16 planes_no;		/* one more with every list that differs */
	__be32 stream_window;
	__be32 features;
	__be32 pad_bytes;
	__u8 src_gid[16];
	__u8 dst_gid[16];
	struct mroce_wire_plane plane[];
};

#define MROCE_HELLO_HLEN	88
#define MROCE_PLANE_LEN		24
static_assert(sizeof(struct mroce_wire_hello) == MROCE_HELLO_HLEN);
static_assert(sizeof(struct mroce_wire_plane) == MROCE_PLANE_LEN);

/* UNKNOWN: "nobody here has this connection id"; smaller than any cause. */
struct mroce_wire_unknown {
	struct mroce_wire_common c;	/* dcid = 0 */
	__be32 bad_cid;
	__be32 reserved;
};

#define MROCE_UNKNOWN_LEN	16
static_assert(sizeof(struct mroce_wire_unknown) == MROCE_UNKNOWN_LEN);

/*
 * DGRAM: a message of a queue pair for unreliable datagrams, as a whole. There is no
 * connection: sent once, to the GID, from the GID; the IP header is the rest of what the
 * receiver needs to know.
 *
 * +-------+-------+---------------+-------------------------------+
 * |version|   7   |    opcode     |             flags             |  0
 * |                               0                               |  4
 * |       0       |              destination QPN                  |  8
 * |       0       |                source QPN                     | 12
 * |                             Q_Key                             | 16
 * |                           immediate                           | 20
 * +-------------------------------+-------------------------------+
 * |     bytes of payload          |           reserved            | 24
 * |         token of the answer that is wanted, or 0              | 28
 * +---------------------------------------------------------------+
 */
struct mroce_wire_dgram {
	struct mroce_wire_common c;	/* opcode = SEND, SEND_IMM, ANSWER; dcid = 0 */
	__be32 dst;
	__be32 src;
	__be32 qkey;
	__be32 imm;
	__be16 payload_len;
	__be16 reserved0;
	__be32 token;
};

#define MROCE_DGRAM_HLEN	32
#define MROCE_DGRAM_MAX_BYTES	4096
static_assert(sizeof(struct mroce_wire_dgram) == MROCE_DGRAM_HLEN);

#endif /* MROCE_WIRE_H */
