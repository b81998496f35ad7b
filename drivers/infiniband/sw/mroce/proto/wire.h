/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire codec: bytes <-> host order structs, and every length check there is.
 * Nothing else in the driver touches a struct mroce_wire_*.
 */
#ifndef MROCE_PROTO_WIRE_H
#define MROCE_PROTO_WIRE_H

#include <mroce/wire.h>

/**
 * enum mroce_drop - why a packet was not taken; index of the drop counters
 * @MROCE_DROP_NONE: it was taken
 * @MROCE_DROP_SHORT: shorter than its header or its parts say
 * @MROCE_DROP_VERSION: another wire version
 * @MROCE_DROP_TYPE: unknown type, or one that is not for us now
 * @MROCE_DROP_OPCODE: unknown DATA opcode
 * @MROCE_DROP_LENGTH: lengths contradict each other
 * @MROCE_DROP_FIELD: a field outside its range
 * @MROCE_DROP_CONN: unknown connection id, or the addresses are not its own
 * @MROCE_DROP_QP: no such QP, not connected to the sender, stale incarnation
 * @MROCE_DROP_WINDOW: psn or path_seq outside the window
 * @MROCE_DROP_COOKIE: wrong cookie
 * @MROCE_DROP_NOMEM: no memory
 * @MROCE_DROP_QKEY: a datagram with another Q_Key than its queue pair's
 * @MROCE_DROP_RECV: a datagram for which no receive is posted, or one too small
 */
enum mroce_drop {
	MROCE_DROP_NONE,
	MROCE_DROP_SHORT,
	MROCE_DROP_VERSION,
	MROCE_DROP_TYPE,
	MROCE_DROP_OPCODE,
	MROCE_DROP_LENGTH,
	MROCE_DROP_FIELD,
	MROCE_DROP_CONN,
	MROCE_DROP_QP,
	MROCE_DROP_WINDOW,
	MROCE_DROP_COOKIE,
	MROCE_DROP_NOMEM,
	MROCE_DROP_QKEY,
	MROCE_DROP_RECV,
	MROCE_DROP_REASONS
};

/** mroce_drop_name - name array of enum mroce_drop */
extern const char *const mroce_drop_name[MROCE_DROP_REASONS];

/* Path numbers in packets are below this. */
#define MROCE_WIRE_MAX_PATHS	32

/* Properties of a DATA opcode, see mroce_op_info(). */
#define MROCE_OPF_VALID		0x01
#define MROCE_OPF_RECV		0x02	/* consumes a receive work request */
#define MROCE_OPF_IMM		0x04	/* carries immediate data */
#define MROCE_OPF_ADDR		0x08	/* addr and rkey name memory */
#define MROCE_OPF_RESP		0x10	/* belongs to the response stream */
#define MROCE_OPF_PAYLOAD	0x20	/* message bytes follow the header */
#define MROCE_OPF_FETCH		0x40	/* READ, atomic: answered on the response stream */

/** mroce_op_info() - MROCE_OPF_* of a DATA opcode, 0 = unknown; 256 rows */
u8 mroce_op_info(u8 opcode);

/**
 * struct mroce_pkt_data - a DATA header in host order
 * Fields as in struct mroce_wire_data; @stream, @dst_qpn, @src_qpn taken apart,
 * @unit_bytes in bytes. @imm stays in network order (it is opaque).
 */
struct mroce_pkt_data {
	u8 opcode;
	u8 path;
	u8 dscp;
	u8 stream;
	u16 flags;
	u16 incarnation;
	u16 payload_len;
	u16 unit_bytes;
	u32 dcid;
	u32 path_seq;
	u32 dst_qpn;
	u32 src_qpn;
	u32 psn;
	u32 msg_psn;
	u32 msg_len;
	u32 rsn;
	u64 addr;
	u32 rkey;
	__be32 imm;
	u32 oldest;
};

/**
 * struct mroce_atomic_op - payload of an atomic request, host order
 * @compare_add: what to compare with, or to add
 * @swap: what to put in its place; 0 for an addition
 */
struct mroce_atomic_op {
	u64 compare_add;
	u64 swap;
};

/**
 * struct mroce_ack_part - one path of an ACK, host order
 * @by: plane that the ACK came by, set by who receives it; not on the wire
 */
struct mroce_ack_part {
	u8 path;
	u8 by;
	bool has_refused;
	u16 ack_delay_us;
	u32 highest;
	u32 ce_count;
	u64 rcvd[MROCE_VEC_WORDS];
	u64 refused[MROCE_VEC_WORDS];
};

/** struct mroce_rec - one stream record, host order */
struct mroce_rec {
	u32 dst_qpn;
	u32 src_qpn;
	u8 stream;
	u8 syndrome;
	u8 rnr_timer;
	u16 incarnation;
	u16 refusals;
	u32 recno;
	u32 cum_psn;
	u32 limit_psn;
};

/**
 * struct mroce_ack_hdr - fixed part of ACK and PROBE_ACK
 * @type: MROCE_WIRE_ACK or MROCE_WIRE_PROBE_ACK
 */
struct mroce_ack_hdr {
	u8 type;
	u8 n_parts;
	u8 n_recs;
	u8 echo_path;
	u32 dcid;
	u32 share_mbps;
	u32 echo_seq;
};

/**
 * struct mroce_ask - one stream asked about in a PROBE
 * @for_life: stream of responses: incarnation of the requester, else 0
 */
struct mroce_ask {
	u32 dst_qpn;
	u32 src_qpn;
	u8 stream;
	u16 incarnation;
	u16 for_life;
};

/** struct mroce_probe_hdr - fixed part of PROBE; @len_bytes: whole size incl. padding */
struct mroce_probe_hdr {
	u8 path;
	u8 dscp;
	u8 n_asks;
	u16 flags;
	u32 dcid;
	u32 path_seq;
	u32 len_bytes;
};

/**
 * struct mroce_plane_info - a plane as announced in HELLO
 * @flags: MROCE_PLANE_DOWN
 */
struct mroce_plane_info {
	u8 label;
	u8 family;
	u16 flags;
	u32 speed_mbps;
	u8 addr[16];
};

/**
 * struct mroce_hello - HELLO or HELLO_ACK
 * @len_bytes: whole size incl. padding
 * @planes_no: number of the plane list: an older one is not to be taken
 * @src_gid, @dst_gid: ends of the connection, of sender and addressee; all zero: the
 *	packet's own addresses
 */
struct mroce_hello {
	u8 type;
	u8 ver_min;
	u8 ver_max;
	u8 dscp;
	u8 paths;
	u8 n_planes;
	u16 flags;
	u16 payload_bytes;
	u16 planes_no;
	u32 dcid;
	u32 scid;
	u64 nonce;
	u64 peer_nonce;
	u64 cookie;
	u32 stream_window;
	u32 features;
	u32 len_bytes;
	u8 src_gid[16];
	u8 dst_gid[16];
	struct mroce_plane_info plane[MROCE_MAX_PLANES];
};

/**
 * struct mroce_pkt_dgram - a DGRAM header in host order
 * @solicited: raise a solicited event
 * @imm: network order; 0 but with SEND_IMM
 * @token: what an ANSWER is to carry, 0 = none is wanted; of an ANSWER, what it carries
 */
struct mroce_pkt_dgram {
	u8 opcode;
	bool solicited;
	u16 payload_len;
	u32 dst_qpn;
	u32 src_qpn;
	u32 qkey;
	__be32 imm;
	u32 token;
};

/** mroce_wire_type() - type nibble of a packet's first byte */
static inline u8 mroce_wire_type(u8 first)
{
	return first & 0x0f;
}

/** mroce_wire_dcid() - destination connection id of a checked packet */
static inline u32 mroce_wire_dcid(const u8 *buf)
{
	return (u32)buf[4] << 24 | buf[5] << 16 | buf[6] << 8 | buf[7];
}

/**
 * mroce_wire_data_last() - an encoded DATA header turns out to end a burst
 * @buf: header
 * @more: the sender has more to send, later
 */
static inline void mroce_wire_data_last(u8 *buf, bool more)
{
	buf[3] |= MROCE_F_ACK_REQ;
	if (!more)
		buf[3] &= ~MROCE_F_MORE;
}

/**
 * mroce_wire_check() - is this the beginning of a packet of ours?
 * @buf: first bytes of the UDP payload
 * @avail: how many of them can be read
 * @total: length of the whole UDP payload
 *
 * Checks version, type, and that @avail covers the fixed header of that type.
 * Return: MROCE_DROP_NONE or the reason.
 */
enum mroce_drop mroce_wire_check(const u8 *buf, u32 avail, u32 total);

/* Decoders. @buf holds @len readable bytes. Return MROCE_DROP_NONE or why not. */

/**
 * mroce_wire_get_data() - decode one DATA header
 * @buf: MROCE_DATA_HLEN readable bytes
 * @left: bytes from the start of this header to the end of the datagram (or
 *	of the super-packet: more segments may follow this one's payload)
 * @p: result
 *
 * Guarantees on success: opcode known; payload_len <= unit_bytes; header and
 * payload within @left; unit_bytes != 0 and a multiple of 128, <= 8192;
 * psn - msg_psn is below the number of packets of the message; payload_len is
 * exactly what this packet of the message must carry (READ_REQ nothing, atomic
 * requests MROCE_ATOMIC_LEN); stream fits the opcode; dst_qpn and src_qpn are 24
 * bits. Where addr names memory, addr + length does not wrap.
 */
enum mroce_drop mroce_wire_get_data(const u8 *buf, u32 left, struct mroce_pkt_data *p);

/** mroce_wire_get_atomic() - payload of an atomic request, MROCE_ATOMIC_LEN bytes */
void mroce_wire_get_atomic(const u8 *buf, struct mroce_atomic_op *op);
/** mroce_wire_get_result() - payload of an atomic response, MROCE_RESULT_LEN bytes */
u64 mroce_wire_get_result(const u8 *buf);
/** mroce_wire_resp_psn() - of a READ or atomic request: psn of its first response */
u32 mroce_wire_resp_psn(const struct mroce_pkt_data *p);
/** mroce_wire_set_resp_psn() - the same, to send */
void mroce_wire_set_resp_psn(struct mroce_pkt_data *p, u32 psn);

/** mroce_wire_get_ack() - the fixed part; checks that all parts and records are there */
enum mroce_drop mroce_wire_get_ack(const u8 *buf, u32 len, struct mroce_ack_hdr *h);
/** mroce_wire_get_ack_part() - the part at *@off, which moves on; n_parts times, in order */
enum mroce_drop mroce_wire_get_ack_part(const u8 *buf, u32 len, u32 *off,
					struct mroce_ack_part *part);
/** mroce_wire_get_rec() - the record at *@off, which moves on; n_recs times after the parts */
enum mroce_drop mroce_wire_get_rec(const u8 *buf, u32 len, u32 *off, struct mroce_rec *rec);
enum mroce_drop mroce_wire_get_probe(const u8 *buf, u32 len, u32 total, struct mroce_probe_hdr *h,
				     struct mroce_ask ask[MROCE_PROBE_MAX_ASKS]);
enum mroce_drop mroce_wire_get_hello(const u8 *buf, u32 len, u32 total, struct mroce_hello *h);
/** mroce_wire_get_unknown() - decode UNKNOWN into the connection id it complains about */
enum mroce_drop mroce_wire_get_unknown(const u8 *buf, u32 len, u32 *bad_cid);
/**
 * mroce_wire_get_dgram() - decode the header of a DGRAM
 * @buf: @len readable bytes
 * @total: length of the datagram
 *
 * Guarantees on success: the opcode is SEND, SEND_IMM or ANSWER, QPNs have 24 bits, the payload
 * is exactly what follows the header, and no longer than MROCE_DGRAM_MAX_BYTES; an ANSWER
 * has a token and no payload.
 */
enum mroce_drop mroce_wire_get_dgram(const u8 *buf, u32 len, u32 total, struct mroce_pkt_dgram *p);

/** mroce_wire_dgram_len() - how long a DGRAM says that it is, its header included */
static inline u32 mroce_wire_dgram_len(const u8 *buf)
{
	return MROCE_DGRAM_HLEN + (buf[24] << 8 | buf[25]);
}

/* Encoders write at @buf and return the number of bytes; callers give the room named here. */

/** mroce_wire_put_data() - MROCE_DATA_HLEN bytes */
void mroce_wire_put_data(u8 *buf, const struct mroce_pkt_data *p);
/** mroce_wire_put_atomic() - MROCE_ATOMIC_LEN bytes: payload of an atomic request */
void mroce_wire_put_atomic(u8 *buf, const struct mroce_atomic_op *op);
/** mroce_wire_put_result() - MROCE_RESULT_LEN bytes: payload of an atomic response */
void mroce_wire_put_result(u8 *buf, u64 value);
/** mroce_wire_put_ack() - MROCE_ACK_HLEN bytes; parts and records are appended by the next two */
u32 mroce_wire_put_ack(u8 *buf, const struct mroce_ack_hdr *h);
/** mroce_wire_put_ack_part() - MROCE_ACK_PART_LEN, + MROCE_ACK_REFUSED_LEN with has_refused */
u32 mroce_wire_put_ack_part(u8 *buf, const struct mroce_ack_part *part);
/** mroce_wire_put_rec() - MROCE_REC_LEN bytes */
u32 mroce_wire_put_rec(u8 *buf, const struct mroce_rec *rec);
/** mroce_wire_put_probe() - header and asks; the caller zero-fills up to h->len_bytes */
u32 mroce_wire_put_probe(u8 *buf, const struct mroce_probe_hdr *h, const struct mroce_ask *ask);
/** mroce_wire_put_hello() - header and planes; the caller zero-fills up to h->len_bytes */
u32 mroce_wire_put_hello(u8 *buf, const struct mroce_hello *h);
/** mroce_wire_put_unknown() - MROCE_UNKNOWN_LEN bytes */
u32 mroce_wire_put_unknown(u8 *buf, u32 bad_cid);
/** mroce_wire_put_dgram() - MROCE_DGRAM_HLEN bytes */
u32 mroce_wire_put_dgram(u8 *buf, const struct mroce_pkt_dgram *p);

/** Largest ACK the encoders can produce with the limits of wire.h. */
#define MROCE_ACK_MAX_LEN (MROCE_ACK_HLEN + \
	MROCE_ACK_MAX_PARTS * (MROCE_ACK_PART_LEN + MROCE_ACK_REFUSED_LEN) + \
	MROCE_ACK_MAX_RECS * MROCE_REC_LEN)

#endif /* MROCE_PROTO_WIRE_H */
