// SPDX-License-Identifier: GPL-2.0
/*
 * Wire codec. Every decoder copies the fixed part out before it looks at it
 * (the bytes may be unaligned, and may change under a hostile zero-copy
 * sender), and checks every length before it reads. Fields that are reserved
 * are sent as zero and not looked at.
 */
#include <linux/limits.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "seg.h"
#include "wire.h"

#define VER_TYPE(type)	((MROCE_WIRE_VERSION << 4) | (type))
#define QPN_MASK	0x00ffffffu
#define UNIT_STEP	128u		/* unit of the unit field */
#define UNIT_MAX	8192u
#define MSG_LEN_MAX	0x80000000u	/* verbs: at most 2^31 bytes */
#define DSCP_MAX	63
#define RNR_TIMER_MAX	31

const char *const mroce_drop_name[MROCE_DROP_REASONS] = {
	[MROCE_DROP_NONE]	= "none",
	[MROCE_DROP_SHORT]	= "short",
	[MROCE_DROP_VERSION]	= "version",
	[MROCE_DROP_TYPE]	= "type",
	[MROCE_DROP_OPCODE]	= "opcode",
	[MROCE_DROP_LENGTH]	= "length",
	[MROCE_DROP_FIELD]	= "field",
	[MROCE_DROP_CONN]	= "conn",
	[MROCE_DROP_QP]		= "qp",
	[MROCE_DROP_WINDOW]	= "window",
	[MROCE_DROP_COOKIE]	= "cookie",
	[MROCE_DROP_NOMEM]	= "nomem",
	[MROCE_DROP_QKEY]	= "qkey",
	[MROCE_DROP_RECV]	= "recv",
};

/*
 * The one opcode table. @fixed_bytes: what the only packet of such a message
 * carries, 0 = the message is cut into units, or with FETCH nothing. A row of
 * zeros is an unknown opcode.
 */
static const struct op_row {
	u8 info;
	u8 fixed_bytes;
} op_table[256] = {
	[MROCE_OP_SEND]		= { MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_PAYLOAD },
	[MROCE_OP_SEND_IMM]	= { MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_IMM |
				    MROCE_OPF_PAYLOAD },
	[MROCE_OP_WRITE]	= { MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_PAYLOAD },
	[MROCE_OP_WRITE_IMM]	= { MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_IMM |
				    MROCE_OPF_ADDR | MROCE_OPF_PAYLOAD },
	[MROCE_OP_READ_REQ]	= { MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_FETCH },
	[MROCE_OP_ATOMIC_CS]	= { MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_FETCH,
				    MROCE_ATOMIC_LEN },
	[MROCE_OP_ATOMIC_FA]	= { MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_FETCH,
				    MROCE_ATOMIC_LEN },
	[MROCE_OP_READ_RESP]	= { MROCE_OPF_VALID | MROCE_OPF_RESP | MROCE_OPF_PAYLOAD },
	[MROCE_OP_ATOMIC_RESP]	= { MROCE_OPF_VALID | MROCE_OPF_RESP | MROCE_OPF_PAYLOAD,
				    MROCE_RESULT_LEN },
	[MROCE_OP_SEND_INV]	= { MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_PAYLOAD },
};

/* Fixed header of each type; 0 = no such type */
static const u8 header_bytes[16] = {
	[MROCE_WIRE_HELLO]	= MROCE_HELLO_HLEN,
	[MROCE_WIRE_HELLO_ACK]	= MROCE_HELLO_HLEN,
	[MROCE_WIRE_DATA]	= MROCE_DATA_HLEN,
	[MROCE_WIRE_ACK]	= MROCE_ACK_HLEN,
	[MROCE_WIRE_PROBE]	= MROCE_PROBE_HLEN,
	[MROCE_WIRE_PROBE_ACK]	= MROCE_ACK_HLEN,
	[MROCE_WIRE_DGRAM]	= MROCE_DGRAM_HLEN,
	[MROCE_WIRE_UNKNOWN]	= MROCE_UNKNOWN_LEN,
};

u8 mroce_op_info(u8 opcode)
{
	return op_table[opcode].info;
}

enum mroce_drop mroce_wire_check(const u8 *buf, u32 avail, u32 total)
{
	u8 need;

	if (!avail || avail > total)
		return MROCE_DROP_SHORT;
	if (buf[0] >> 4 != MROCE_WIRE_VERSION)
		return MROCE_DROP_VERSION;
	need = header_bytes[mroce_wire_type(buf[0])];
	if (!need)
		return MROCE_DROP_TYPE;
	return avail < need ? MROCE_DROP_SHORT : MROCE_DROP_NONE;
}

/* mroce_wire_check() for a decoder that takes @type or @alt */
static enum mroce_drop check_type(const u8 *buf, u32 avail, u32 total, u8 type, u8 alt)
{
	enum mroce_drop why = mroce_wire_check(buf, avail, total);

	if (why)
		return why;
	if (mroce_wire_type(*buf) != type && mroce_wire_type(*buf) != alt)
		return MROCE_DROP_TYPE;
	return MROCE_DROP_NONE;
}

static void put_common(struct mroce_wire_common *c, u8 type, u8 opcode, u16 flags, u32 dcid)
{
	c->ver_type = VER_TYPE(type);
	c->opcode = opcode;
	c->flags = cpu_to_be16(flags);
	c->dcid = cpu_to_be32(dcid);
}

/* A stream or unit in the high byte, a QPN below */
static __be32 put_qpn(u8 high, u32 qpn)
{
	return cpu_to_be32((u32)high << 24 | (qpn & QPN_MASK));
}

static u32 get_qpn(__be32 word, u8 *high)
{
	u32 v = be32_to_cpu(word);

	*high = v >> 24;
	return v & QPN_MASK;
}

static void data_to_host(const struct mroce_wire_data *w, struct mroce_pkt_data *p)
{
	u8 unit;

	p->opcode = w->c.opcode;
	p->path = w->path;
	p->dscp = w->dscp;
	p->flags = be16_to_cpu(w->c.flags);
	p->incarnation = be16_to_cpu(w->incarnation);
	p->payload_len = be16_to_cpu(w->payload_len);
	p->dcid = be32_to_cpu(w->c.dcid);
	p->path_seq = be32_to_cpu(w->path_seq);
	p->dst_qpn = get_qpn(w->dst, &p->stream);
	p->src_qpn = get_qpn(w->src, &unit);
	p->unit_bytes = unit * UNIT_STEP;
	p->psn = be32_to_cpu(w->psn);
	p->msg_psn = be32_to_cpu(w->msg_psn);
	p->msg_len = be32_to_cpu(w->msg_len);
	p->rsn = be32_to_cpu(w->rsn);
	p->addr = be64_to_cpu(w->addr);
	p->rkey = be32_to_cpu(w->rkey);
	p->imm = w->imm;
	p->oldest = be32_to_cpu(w->oldest);
}

/* A message that is one packet of a fixed size, whatever its length says */
static enum mroce_drop check_fixed(const struct mroce_pkt_data *p, const struct op_row *row)
{
	if (p->psn != p->msg_psn || p->payload_len != row->fixed_bytes)
		return MROCE_DROP_LENGTH;
	/* All but a READ are about one word. */
	if (row->fixed_bytes && p->msg_len != MROCE_RESULT_LEN)
		return MROCE_DROP_LENGTH;
	if ((row->info & MROCE_OPF_ADDR) && p->addr > U64_MAX - p->msg_len)
		return MROCE_DROP_LENGTH;
	return MROCE_DROP_NONE;
}

/* Does the packet carry what its place in the message demands? */
static enum mroce_drop check_segment(const struct mroce_pkt_data *p, const struct op_row *row)
{
	u32 idx = p->psn - p->msg_psn;
	u32 off;

	if (p->msg_len > MSG_LEN_MAX)
		return MROCE_DROP_LENGTH;
	if (row->fixed_bytes || (row->info & MROCE_OPF_FETCH))
		return check_fixed(p, row);
	if (idx >= mroce_seg_count(p->msg_len, p->unit_bytes))
		return MROCE_DROP_LENGTH;
	if (p->payload_len != mroce_seg_at(p->msg_len, p->unit_bytes, idx, &off))
		return MROCE_DROP_LENGTH;
	if (row->info & MROCE_OPF_RESP)
		return MROCE_DROP_NONE;
	/* SEND says its offset; WRITE its address: the whole message must not wrap */
	if (!(row->info & MROCE_OPF_ADDR))
		return p->addr == idx * (u64)p->unit_bytes ? MROCE_DROP_NONE : MROCE_DROP_LENGTH;
	if (p->addr - off > U64_MAX - p->msg_len)	/* true for addr < off, too */
		return MROCE_DROP_LENGTH;
	return MROCE_DROP_NONE;
}

enum mroce_drop mroce_wire_get_data(const u8 *buf, u32 left, struct mroce_pkt_data *p)
{
	const struct op_row *row;
	struct mroce_wire_data w;
	enum mroce_drop why;

	why = check_type(buf, left, left, MROCE_WIRE_DATA, MROCE_WIRE_DATA);
	if (why)
		return why;
	memcpy(&w, buf, sizeof(w));
	data_to_host(&w, p);
	row = &op_table[p->opcode];
	if (!row->info)
		return MROCE_DROP_OPCODE;
	if (p->path >= MROCE_WIRE_MAX_PATHS || p->dscp > DSCP_MAX)
		return MROCE_DROP_FIELD;
	if (p->stream != (row->info & MROCE_OPF_RESP ? MROCE_STREAM_RESP : MROCE_STREAM_REQ))
		return MROCE_DROP_FIELD;
	if (!p->unit_bytes || p->unit_bytes > UNIT_MAX)
		return MROCE_DROP_FIELD;
	if (p->payload_len > left - MROCE_DATA_HLEN)
		return MROCE_DROP_SHORT;
	return check_segment(p, row);
}

void mroce_wire_put_data(u8 *buf, const struct mroce_pkt_data *p)
{
	struct mroce_wire_data w = {
		.path		= p->path,
		.dscp		= p->dscp,
		.incarnation	= cpu_to_be16(p->incarnation),
		.path_seq	= cpu_to_be32(p->path_seq),
		.dst		= put_qpn(p->stream, p->dst_qpn),
		.src		= put_qpn(p->unit_bytes / UNIT_STEP, p->src_qpn),
		.psn		= cpu_to_be32(p->psn),
		.msg_psn	= cpu_to_be32(p->msg_psn),
		.msg_len	= cpu_to_be32(p->msg_len),
		.rsn		= cpu_to_be32(p->rsn),
		.addr		= cpu_to_be64(p->addr),
		.rkey		= cpu_to_be32(p->rkey),
		.imm		= p->imm,
		.payload_len	= cpu_to_be16(p->payload_len),
		.oldest		= cpu_to_be32(p->oldest),
	};

	put_common(&w.c, MROCE_WIRE_DATA, p->opcode, p->flags, p->dcid);
	memcpy(buf, &w, sizeof(w));
}

void mroce_wire_get_atomic(const u8 *buf, struct mroce_atomic_op *op)
{
	struct mroce_wire_atomic w;

	memcpy(&w, buf, sizeof(w));
	op->compare_add = be64_to_cpu(w.compare_add);
	op->swap = be64_to_cpu(w.swap);
}

void mroce_wire_put_atomic(u8 *buf, const struct mroce_atomic_op *op)
{
	struct mroce_wire_atomic w = {
		.compare_add	= cpu_to_be64(op->compare_add),
		.swap		= cpu_to_be64(op->swap),
	};

	memcpy(buf, &w, sizeof(w));
}

u64 mroce_wire_get_result(const u8 *buf)
{
	__be64 w;

	memcpy(&w, buf, sizeof(w));
	return be64_to_cpu(w);
}

void mroce_wire_put_result(u8 *buf, u64 value)
{
	__be64 w = cpu_to_be64(value);

	memcpy(buf, &w, sizeof(w));
}

u32 mroce_wire_resp_psn(const struct mroce_pkt_data *p)
{
	return be32_to_cpu(p->imm);
}

void mroce_wire_set_resp_psn(struct mroce_pkt_data *p, u32 psn)
{
	p->imm = cpu_to_be32(psn);
}

/* Length of the path part at @off; 0 when it is not all there, or not a part */
static u32 part_bytes(const u8 *buf, u32 len, u32 off, enum mroce_drop *why)
{
	u32 bytes = MROCE_ACK_PART_LEN;
	u8 flags;

	*why = MROCE_DROP_SHORT;
	if (off > len || len - off < bytes)
		return 0;
	flags = buf[off + offsetof(struct mroce_wire_ack_part, flags)];
	if (flags & ~MROCE_PART_REFUSED) {
		*why = MROCE_DROP_FIELD;	/* its length is not known to us */
		return 0;
	}
	if (flags & MROCE_PART_REFUSED)
		bytes += MROCE_ACK_REFUSED_LEN;
	if (len - off < bytes)
		return 0;
	*why = MROCE_DROP_NONE;
	return bytes;
}

enum mroce_drop mroce_wire_get_ack(const u8 *buf, u32 len, struct mroce_ack_hdr *h)
{
	u32 off = MROCE_ACK_HLEN, bytes;
	struct mroce_wire_ack w;
	enum mroce_drop why;
	int i;

	why = check_type(buf, len, len, MROCE_WIRE_ACK, MROCE_WIRE_PROBE_ACK);
	if (why)
		return why;
	memcpy(&w, buf, sizeof(w));
	h->type = mroce_wire_type(w.c.ver_type);
	h->n_parts = w.c.opcode;
	h->n_recs = w.n_recs;
	h->echo_path = w.echo_path;
	h->dcid = be32_to_cpu(w.c.dcid);
	h->share_mbps = be32_to_cpu(w.share_mbps);
	h->echo_seq = be32_to_cpu(w.echo_seq);
	if (h->n_parts > MROCE_ACK_MAX_PARTS || h->n_recs > MROCE_ACK_MAX_RECS)
		return MROCE_DROP_FIELD;
	if (h->type == MROCE_WIRE_PROBE_ACK && h->echo_path >= MROCE_WIRE_MAX_PATHS)
		return MROCE_DROP_FIELD;
	for (i = 0; i < h->n_parts; i++) {
		bytes = part_bytes(buf, len, off, &why);
		if (!bytes)
			return why;
		off += bytes;
	}
	bytes = h->n_recs * MROCE_REC_LEN;
	if (len - off < bytes)
		return MROCE_DROP_SHORT;
	return len - off > bytes ? MROCE_DROP_LENGTH : MROCE_DROP_NONE;
}

enum mroce_drop mroce_wire_get_ack_part(const u8 *buf, u32 len, u32 *off,
					struct mroce_ack_part *part)
{
	__be64 refused[MROCE_VEC_WORDS] = {};
	struct mroce_wire_ack_part w;
	enum mroce_drop why;
	u32 bytes;
	int i;

	bytes = part_bytes(buf, len, *off, &why);
	if (!bytes)
		return why;
	memcpy(&w, buf + *off, sizeof(w));
	memcpy(refused, buf + *off + sizeof(w), bytes - sizeof(w));
	part->path = w.path;
	part->by = 0;
	part->has_refused = w.flags & MROCE_PART_REFUSED;
	part->ack_delay_us = be16_to_cpu(w.ack_delay_us);
	part->highest = be32_to_cpu(w.highest);
	part->ce_count = be32_to_cpu(w.ce_count);
	for (i = 0; i < MROCE_VEC_WORDS; i++) {
		part->rcvd[i] = be64_to_cpu(w.rcvd[i]);
		part->refused[i] = be64_to_cpu(refused[i]);
		if (part->refused[i] & ~part->rcvd[i])
			return MROCE_DROP_FIELD;
	}
	if (part->path >= MROCE_WIRE_MAX_PATHS || !(part->rcvd[0] & 1))
		return MROCE_DROP_FIELD;
	*off += bytes;
	return MROCE_DROP_NONE;
}

enum mroce_drop mroce_wire_get_rec(const u8 *buf, u32 len, u32 *off, struct mroce_rec *rec)
{
	struct mroce_wire_rec w;
	u8 unused;

	if (*off > len || len - *off < sizeof(w))
		return MROCE_DROP_SHORT;
	memcpy(&w, buf + *off, sizeof(w));
	rec->dst_qpn = get_qpn(w.dst, &rec->stream);
	rec->src_qpn = get_qpn(w.src, &unused);
	rec->incarnation = be16_to_cpu(w.incarnation);
	rec->syndrome = w.syndrome;
	rec->rnr_timer = w.rnr_timer;
	rec->refusals = be16_to_cpu(w.refusals);
	rec->recno = be32_to_cpu(w.recno);
	rec->cum_psn = be32_to_cpu(w.cum_psn);
	rec->limit_psn = be32_to_cpu(w.limit_psn);
	if (rec->stream > MROCE_STREAM_RESP || rec->syndrome > MROCE_SYN_NO_QP ||
	    rec->rnr_timer > RNR_TIMER_MAX)
		return MROCE_DROP_FIELD;
	*off += sizeof(w);
	return MROCE_DROP_NONE;
}

u32 mroce_wire_put_ack(u8 *buf, const struct mroce_ack_hdr *h)
{
	struct mroce_wire_ack w = {
		.share_mbps	= cpu_to_be32(h->share_mbps),
		.n_recs		= h->n_recs,
		.echo_path	= h->echo_path,
		.echo_seq	= cpu_to_be32(h->echo_seq),
	};

	put_common(&w.c, h->type, h->n_parts, 0, h->dcid);
	memcpy(buf, &w, sizeof(w));
	return sizeof(w);
}

u32 mroce_wire_put_ack_part(u8 *buf, const struct mroce_ack_part *part)
{
	__be64 refused[MROCE_VEC_WORDS];
	struct mroce_wire_ack_part w = {
		.path		= part->path,
		.flags		= part->has_refused ? MROCE_PART_REFUSED : 0,
		.ack_delay_us	= cpu_to_be16(part->ack_delay_us),
		.highest	= cpu_to_be32(part->highest),
		.ce_count	= cpu_to_be32(part->ce_count),
	};
	int i;

	for (i = 0; i < MROCE_VEC_WORDS; i++) {
		w.rcvd[i] = cpu_to_be64(part->rcvd[i]);
		refused[i] = cpu_to_be64(part->refused[i]);
	}
	memcpy(buf, &w, sizeof(w));
	if (!part->has_refused)
		return sizeof(w);
	memcpy(buf + sizeof(w), refused, sizeof(refused));
	return sizeof(w) + sizeof(refused);
}

u32 mroce_wire_put_rec(u8 *buf, const struct mroce_rec *rec)
{
	struct mroce_wire_rec w = {
		.dst		= put_qpn(rec->stream, rec->dst_qpn),
		.src		= put_qpn(0, rec->src_qpn),
		.incarnation	= cpu_to_be16(rec->incarnation),
		.syndrome	= rec->syndrome,
		.rnr_timer	= rec->rnr_timer,
		.refusals	= cpu_to_be16(rec->refusals),
		.recno		= cpu_to_be32(rec->recno),
		.cum_psn	= cpu_to_be32(rec->cum_psn),
		.limit_psn	= cpu_to_be32(rec->limit_psn),
	};

	memcpy(buf, &w, sizeof(w));
	return sizeof(w);
}

static enum mroce_drop get_ask(const u8 *buf, struct mroce_ask *ask)
{
	struct mroce_wire_ask w;
	u8 unused;

	memcpy(&w, buf, sizeof(w));
	ask->dst_qpn = get_qpn(w.dst, &ask->stream);
	ask->src_qpn = get_qpn(w.src, &unused);
	ask->incarnation = be16_to_cpu(w.incarnation);
	ask->for_life = be16_to_cpu(w.for_life);
	return ask->stream > MROCE_STREAM_RESP ? MROCE_DROP_FIELD : MROCE_DROP_NONE;
}

/**
 * mroce_wire_get_probe() - decode a PROBE
 * @buf: packet
 * @len: readable bytes: header and asks must be among them, the padding need not
 * @total: bytes of the datagram
 * @h: result, @h->len_bytes = @total
 * @ask: result, @h->n_asks of them
 *
 * Return: MROCE_DROP_NONE, or why not: then @h and @ask mean nothing.
 */
enum mroce_drop mroce_wire_get_probe(const u8 *buf, u32 len, u32 total, struct mroce_probe_hdr *h,
				     struct mroce_ask ask[MROCE_PROBE_MAX_ASKS])
{
	struct mroce_wire_probe w;
	enum mroce_drop why;
	u32 used;
	int i;

	why = check_type(buf, len, total, MROCE_WIRE_PROBE, MROCE_WIRE_PROBE);
	if (why)
		return why;
	memcpy(&w, buf, sizeof(w));
	h->path = w.path;
	h->dscp = w.dscp;
	h->n_asks = w.c.opcode;
	h->flags = be16_to_cpu(w.c.flags);
	h->dcid = be32_to_cpu(w.c.dcid);
	h->path_seq = be32_to_cpu(w.path_seq);
	h->len_bytes = total;
	if (h->n_asks > MROCE_PROBE_MAX_ASKS || h->path >= MROCE_WIRE_MAX_PATHS ||
	    h->dscp > DSCP_MAX)
		return MROCE_DROP_FIELD;
	used = MROCE_PROBE_HLEN + h->n_asks * MROCE_ASK_LEN;
	if (len < used)
		return MROCE_DROP_SHORT;
	if (be32_to_cpu(w.pad_bytes) != total - used)
		return MROCE_DROP_LENGTH;
	for (i = 0; i < h->n_asks && !why; i++)
		why = get_ask(buf + MROCE_PROBE_HLEN + i * MROCE_ASK_LEN, &ask[i]);
	return why;
}

u32 mroce_wire_put_probe(u8 *buf, const struct mroce_probe_hdr *h, const struct mroce_ask *ask)
{
	u32 used = MROCE_PROBE_HLEN + h->n_asks * MROCE_ASK_LEN;
	struct mroce_wire_probe w = {
		.path		= h->path,
		.dscp		= h->dscp,
		.path_seq	= cpu_to_be32(h->path_seq),
		.pad_bytes	= cpu_to_be32(h->len_bytes > used ? h->len_bytes - used : 0),
	};
	int i;

	put_common(&w.c, MROCE_WIRE_PROBE, h->n_asks, h->flags, h->dcid);
	memcpy(buf, &w, sizeof(w));
	for (i = 0; i < h->n_asks; i++) {
		struct mroce_wire_ask a = {
			.dst		= put_qpn(ask[i].stream, ask[i].dst_qpn),
			.src		= put_qpn(0, ask[i].src_qpn),
			.incarnation	= cpu_to_be16(ask[i].incarnation),
			.for_life	= cpu_to_be16(ask[i].for_life),
		};

		memcpy(buf + MROCE_PROBE_HLEN + i * MROCE_ASK_LEN, &a, sizeof(a));
	}
	return used;
}

/* An address of the family that one host can have: nothing may be sent to many, or to oneself. */
static bool is_unicast(u8 family, const u8 *addr)
{
	static const u8 mapped[12] = { [10] = 0xff, 0xff };
	static const u8 local[15] = { 0 };
	bool v4 = !memcmp(addr, mapped, sizeof(mapped));

	switch (family) {
	case 4:
		return v4 && addr[12] && addr[12] != 127 && addr[12] < 224;
	case 6:
		/* neither :: nor ::1, nor multicast */
		return !v4 && addr[0] != 0xff &&
		       (memcmp(addr, local, sizeof(local)) || addr[15] > 1);
	}
	return false;
}

static enum mroce_drop get_plane(const u8 *buf, struct mroce_plane_info *plane)
{
	struct mroce_wire_plane w;

	memcpy(&w, buf, sizeof(w));
	plane->label = w.label;
	plane->family = w.family;
	plane->flags = be16_to_cpu(w.flags);
	plane->speed_mbps = be32_to_cpu(w.speed_mbps);
	memcpy(plane->addr, w.addr, sizeof(plane->addr));
	return is_unicast(w.family, w.addr) ? MROCE_DROP_NONE : MROCE_DROP_FIELD;
}

static void hello_to_host(const struct mroce_wire_hello *w, struct mroce_hello *h)
{
	h->type = mroce_wire_type(w->c.ver_type);
	h->n_planes = w->c.opcode;
	h->flags = be16_to_cpu(w->c.flags);
	h->dcid = be32_to_cpu(w->c.dcid);
	h->ver_min = w->ver_min;
	h->ver_max = w->ver_max;
	h->dscp = w->dscp;
	h->paths = w->paths;
	h->scid = be32_to_cpu(w->scid);
	h->nonce = be64_to_cpu(w->nonce);
	h->peer_nonce = be64_to_cpu(w->peer_nonce);
	h->cookie = be64_to_cpu(w->cookie);
	h->payload_bytes = be16_to_cpu(w->payload);
	h->planes_no = be16_to_cpu(w->planes_no);
	h->stream_window = be32_to_cpu(w->stream_window);
	h->features = be32_to_cpu(w->features);
	memcpy(h->src_gid, w->src_gid, sizeof(h->src_gid));
	memcpy(h->dst_gid, w->dst_gid, sizeof(h->dst_gid));
}

/**
 * mroce_wire_get_hello() - decode a HELLO or HELLO_ACK
 * @buf: packet
 * @len: readable bytes: header and planes must be among them, the padding need not
 * @total: bytes of the datagram
 * @h: result, @h->len_bytes = @total
 *
 * Versions, paths, payload and window are for the handshake to judge.
 * Return: MROCE_DROP_NONE, or why not: then @h means nothing.
 */
enum mroce_drop mroce_wire_get_hello(const u8 *buf, u32 len, u32 total, struct mroce_hello *h)
{
	struct mroce_wire_hello w;
	enum mroce_drop why;
	u32 used;
	int i;

	why = check_type(buf, len, total, MROCE_WIRE_HELLO, MROCE_WIRE_HELLO_ACK);
	if (why)
		return why;
	memcpy(&w, buf, sizeof(w));
	memset(h, 0, sizeof(*h));
	hello_to_host(&w, h);
	h->len_bytes = total;
	if (h->n_planes > MROCE_MAX_PLANES || h->dscp > DSCP_MAX || h->ver_min > h->ver_max)
		return MROCE_DROP_FIELD;
	used = MROCE_HELLO_HLEN + h->n_planes * MROCE_PLANE_LEN;
	if (len < used)
		return MROCE_DROP_SHORT;
	if (be32_to_cpu(w.pad_bytes) != total - used)
		return MROCE_DROP_LENGTH;
	for (i = 0; i < h->n_planes && !why; i++)
		why = get_plane(buf + MROCE_HELLO_HLEN + i * MROCE_PLANE_LEN, &h->plane[i]);
	return why;
}

u32 mroce_wire_put_hello(u8 *buf, const struct mroce_hello *h)
{
	u32 used = MROCE_HELLO_HLEN + h->n_planes * MROCE_PLANE_LEN;
	struct mroce_wire_hello w = {
		.ver_min	= h->ver_min,
		.ver_max	= h->ver_max,
		.dscp		= h->dscp,
		.paths		= h->paths,
		.scid		= cpu_to_be32(h->scid),
		.nonce		= cpu_to_be64(h->nonce),
		.peer_nonce	= cpu_to_be64(h->peer_nonce),
		.cookie		= cpu_to_be64(h->cookie),
		.payload	= cpu_to_be16(h->payload_bytes),
		.planes_no	= cpu_to_be16(h->planes_no),
		.stream_window	= cpu_to_be32(h->stream_window),
		.features	= cpu_to_be32(h->features),
		.pad_bytes	= cpu_to_be32(h->len_bytes > used ? h->len_bytes - used : 0),
	};
	int i;

	put_common(&w.c, h->type, h->n_planes, h->flags, h->dcid);
	memcpy(w.src_gid, h->src_gid, sizeof(w.src_gid));
	memcpy(w.dst_gid, h->dst_gid, sizeof(w.dst_gid));
	memcpy(buf, &w, sizeof(w));
	for (i = 0; i < h->n_planes; i++) {
		struct mroce_wire_plane p = {
			.label		= h->plane[i].label,
			.family		= h->plane[i].family,
			.flags		= cpu_to_be16(h->plane[i].flags),
			.speed_mbps	= cpu_to_be32(h->plane[i].speed_mbps),
		};

		memcpy(p.addr, h->plane[i].addr, sizeof(p.addr));
		memcpy(buf + MROCE_HELLO_HLEN + i * MROCE_PLANE_LEN, &p, sizeof(p));
	}
	return used;
}

enum mroce_drop mroce_wire_get_unknown(const u8 *buf, u32 len, u32 *bad_cid)
{
	struct mroce_wire_unknown w;
	enum mroce_drop why;

	why = check_type(buf, len, len, MROCE_WIRE_UNKNOWN, MROCE_WIRE_UNKNOWN);
	if (why)
		return why;
	if (len != sizeof(w))
		return MROCE_DROP_LENGTH;
	memcpy(&w, buf, sizeof(w));
	*bad_cid = be32_to_cpu(w.bad_cid);
	return MROCE_DROP_NONE;
}

u32 mroce_wire_put_unknown(u8 *buf, u32 bad_cid)
{
	struct mroce_wire_unknown w = { .bad_cid = cpu_to_be32(bad_cid) };

	put_common(&w.c, MROCE_WIRE_UNKNOWN, 0, 0, 0);
	memcpy(buf, &w, sizeof(w));
	return sizeof(w);
}

enum mroce_drop mroce_wire_get_dgram(const u8 *buf, u32 len, u32 total, struct mroce_pkt_dgram *p)
{
	struct mroce_wire_dgram w;
	enum mroce_drop why;
	u8 dst_high, src_high;

	why = check_type(buf, len, total, MROCE_WIRE_DGRAM, MROCE_WIRE_DGRAM);
	if (why)
		return why;
	memcpy(&w, buf, sizeof(w));
	if (w.c.opcode != MROCE_OP_SEND && w.c.opcode != MROCE_OP_SEND_IMM &&
	    w.c.opcode != MROCE_OP_ANSWER)
		return MROCE_DROP_OPCODE;
	*p = (struct mroce_pkt_dgram) {
		.opcode = w.c.opcode,
		.solicited = be16_to_cpu(w.c.flags) & MROCE_F_SOLICITED,
		.payload_len = be16_to_cpu(w.payload_len),
		.dst_qpn = get_qpn(w.dst, &dst_high),
		.src_qpn = get_qpn(w.src, &src_high),
		.qkey = be32_to_cpu(w.qkey),
		.imm = w.c.opcode == MROCE_OP_SEND_IMM ? w.imm : 0,
		.token = be32_to_cpu(w.token),
	};
	if (dst_high || src_high)
		return MROCE_DROP_FIELD;
	if (p->payload_len > MROCE_DGRAM_MAX_BYTES || total != sizeof(w) + p->payload_len)
		return MROCE_DROP_LENGTH;
	if (p->opcode == MROCE_OP_ANSWER && (!p->token || p->payload_len))
		return MROCE_DROP_FIELD;
	return MROCE_DROP_NONE;
}

u32 mroce_wire_put_dgram(u8 *buf, const struct mroce_pkt_dgram *p)
{
	struct mroce_wire_dgram w = {
		.dst = put_qpn(0, p->dst_qpn),
		.src = put_qpn(0, p->src_qpn),
		.qkey = cpu_to_be32(p->qkey),
		.imm = p->imm,
		.payload_len = cpu_to_be16(p->payload_len),
		.token = cpu_to_be32(p->token),
	};

	put_common(&w.c, MROCE_WIRE_DGRAM, p->opcode, p->solicited ? MROCE_F_SOLICITED : 0, 0);
	memcpy(buf, &w, sizeof(w));
	return sizeof(w);
}
