// SPDX-License-Identifier: GPL-2.0
/* What the decoders promise, see wire_exercise.h. */
#include <linux/limits.h>
#include <linux/string.h>

#include "wire_exercise.h"

static const char *check_data_promises(const struct mroce_pkt_data *p, u32 left)
{
	u8 info = mroce_op_info(p->opcode);
	u64 n_pkts;

	if (!(info & MROCE_OPF_VALID))
		return "opcode known";
	if (p->unit_bytes == 0 || p->unit_bytes % 128 || p->unit_bytes > 8192)
		return "unit_bytes in range";
	if (p->payload_len > p->unit_bytes)
		return "payload_len <= unit_bytes";
	if (MROCE_DATA_HLEN + p->payload_len > left)
		return "payload within the datagram";
	n_pkts = p->msg_len ? ((u64)p->msg_len + p->unit_bytes - 1) / p->unit_bytes : 1;
	if ((u32)(p->psn - p->msg_psn) >= n_pkts)
		return "psn within the message";
	if (p->stream != (info & MROCE_OPF_RESP ? MROCE_STREAM_RESP : MROCE_STREAM_REQ))
		return "stream fits the opcode";
	if ((p->dst_qpn | p->src_qpn) >> 24)
		return "24 bits of QPN";
	if ((info & MROCE_OPF_PAYLOAD) && (info & MROCE_OPF_ADDR) &&
	    p->addr + p->payload_len < p->addr)
		return "addr does not wrap";
	if ((info & MROCE_OPF_FETCH) && (p->psn != p->msg_psn || p->addr + p->msg_len < p->addr))
		return "a fetch is one packet and does not wrap";
	if (p->opcode == MROCE_OP_READ_REQ && p->payload_len)
		return "a READ request carries nothing";
	if ((info & MROCE_OPF_FETCH) && p->opcode != MROCE_OP_READ_REQ &&
	    (p->payload_len != MROCE_ATOMIC_LEN || p->msg_len != MROCE_RESULT_LEN))
		return "an atomic carries its operands, and is about a word";
	if ((info & MROCE_OPF_RECV) && !(info & MROCE_OPF_ADDR) &&
	    p->addr + p->payload_len > p->msg_len)
		return "offset within the message";
	return NULL;
}

static const char *exercise_data(const u8 *buf, u32 left, struct wire_scratch *s,
				 enum mroce_drop *why)
{
	const char *broken;

	*why = mroce_wire_get_data(buf, left, &s->data[0]);
	if (*why)
		return NULL;
	broken = check_data_promises(&s->data[0], left);
	if (broken)
		return broken;
	mroce_wire_put_data(s->again, &s->data[0]);
	if (mroce_wire_get_data(s->again, left, &s->data[1]) ||
	    memcmp(&s->data[0], &s->data[1], sizeof(s->data[0])))
		return "data is the same again";
	return NULL;
}

static const char *exercise_part(const u8 *buf, u32 len, u32 *off, struct wire_scratch *s,
				 enum mroce_drop *why)
{
	u32 before = *off, again = 0, bytes;

	*why = mroce_wire_get_ack_part(buf, len, off, &s->part[0]);
	if (*why)
		return *off == before ? NULL : "offset moves on success only";
	bytes = mroce_wire_put_ack_part(s->again, &s->part[0]);
	if (*off - before != bytes || *off > len)
		return "part has its length";
	if (mroce_wire_get_ack_part(s->again, bytes, &again, &s->part[1]) || again != bytes ||
	    memcmp(&s->part[0], &s->part[1], sizeof(s->part[0])))
		return "part is the same again";
	return NULL;
}

static const char *exercise_rec(const u8 *buf, u32 len, u32 *off, struct wire_scratch *s,
				enum mroce_drop *why)
{
	u32 before = *off, again = 0;

	*why = mroce_wire_get_rec(buf, len, off, &s->rec[0]);
	if (*why)
		return *off == before ? NULL : "offset moves on success only";
	if (*off - before != MROCE_REC_LEN || *off > len)
		return "record has its length";
	if (s->rec[0].stream > 1 || s->rec[0].syndrome > MROCE_SYN_NO_QP)
		return "record in range";
	mroce_wire_put_rec(s->again, &s->rec[0]);
	if (mroce_wire_get_rec(s->again, MROCE_REC_LEN, &again, &s->rec[1]) ||
	    memcmp(&s->rec[0], &s->rec[1], sizeof(s->rec[0])))
		return "record is the same again";
	return NULL;
}

static const char *exercise_ack(const u8 *buf, u32 len, struct wire_scratch *s,
				enum mroce_drop *why)
{
	const char *broken = NULL;
	u32 off = MROCE_ACK_HLEN;
	int i;

	*why = mroce_wire_get_ack(buf, len, &s->ack[0]);
	if (*why)
		return NULL;
	if (s->ack[0].n_parts > MROCE_ACK_MAX_PARTS || s->ack[0].n_recs > MROCE_ACK_MAX_RECS)
		return "ack within its limits";
	if (len > MROCE_ACK_MAX_LEN)
		return "ack not longer than an ack can be";
	for (i = 0; i < s->ack[0].n_parts && !broken && !*why; i++)
		broken = exercise_part(buf, len, &off, s, why);
	for (i = 0; i < s->ack[0].n_recs && !broken && !*why; i++)
		broken = exercise_rec(buf, len, &off, s, why);
	if (broken || *why)
		return *why == MROCE_DROP_SHORT ? "all parts and records are there" : broken;
	return off == len ? NULL : "nothing behind the records";
}

static const char *exercise_probe(const u8 *buf, u32 len, u32 total, struct wire_scratch *s,
				  enum mroce_drop *why)
{
	u32 used;

	*why = mroce_wire_get_probe(buf, len, total, &s->probe[0], s->ask[0]);
	if (*why)
		return NULL;
	if (s->probe[0].n_asks > MROCE_PROBE_MAX_ASKS)
		return "probe within its limits";
	used = mroce_wire_put_probe(s->again, &s->probe[0], s->ask[0]);
	if (used > len || s->probe[0].len_bytes != total)
		return "probe has its length";
	if (mroce_wire_get_probe(s->again, used, total, &s->probe[1], s->ask[1]) ||
	    memcmp(&s->probe[0], &s->probe[1], sizeof(s->probe[0])) ||
	    memcmp(s->ask[0], s->ask[1], s->probe[0].n_asks * sizeof(s->ask[0][0])))
		return "probe is the same again";
	return NULL;
}

static const char *exercise_hello(const u8 *buf, u32 len, u32 total, struct wire_scratch *s,
				  enum mroce_drop *why)
{
	u32 used;

	*why = mroce_wire_get_hello(buf, len, total, &s->hello[0]);
	if (*why)
		return NULL;
	if (s->hello[0].n_planes > MROCE_MAX_PLANES)
		return "hello within its limits";
	used = mroce_wire_put_hello(s->again, &s->hello[0]);
	if (used > len || s->hello[0].len_bytes != total)
		return "hello has its length";
	if (mroce_wire_get_hello(s->again, used, total, &s->hello[1]) ||
	    memcmp(&s->hello[0], &s->hello[1], sizeof(s->hello[0])))
		return "hello is the same again";
	return NULL;
}

static const char *exercise_dgram(const u8 *buf, u32 len, u32 total, struct wire_scratch *s,
				  enum mroce_drop *why)
{
	struct mroce_pkt_dgram *p = &s->dgram[0];

	*why = mroce_wire_get_dgram(buf, len, total, p);
	if (*why)
		return NULL;
	if (p->opcode != MROCE_OP_SEND && p->opcode != MROCE_OP_SEND_IMM &&
	    p->opcode != MROCE_OP_ANSWER)
		return "a datagram is a SEND or an answer";
	if (p->opcode == MROCE_OP_ANSWER && (p->payload_len || !p->token))
		return "an answer is a token";
	if ((p->dst_qpn | p->src_qpn) >> 24)
		return "24 bits of QPN in a datagram";
	if (MROCE_DGRAM_HLEN + p->payload_len != total)
		return "a datagram ends with its payload";
	mroce_wire_put_dgram(s->again, p);
	if (mroce_wire_get_dgram(s->again, MROCE_DGRAM_HLEN, total, &s->dgram[1]) ||
	    memcmp(p, &s->dgram[1], sizeof(*p)))
		return "a datagram is the same again";
	return NULL;
}

const char *mroce_wire_exercise(const u8 *buf, u32 len, u32 total, struct wire_scratch *s,
				enum mroce_drop *why)
{
	u32 bad_cid;

	memset(s, 0, sizeof(*s));
	*why = mroce_wire_check(buf, len, total);
	if (*why)
		return NULL;
	switch (mroce_wire_type(buf[0])) {
	case MROCE_WIRE_DATA:
		return exercise_data(buf, len, s, why);
	case MROCE_WIRE_ACK:
	case MROCE_WIRE_PROBE_ACK:
		return exercise_ack(buf, len, s, why);
	case MROCE_WIRE_PROBE:
		return exercise_probe(buf, len, total, s, why);
	case MROCE_WIRE_HELLO:
	case MROCE_WIRE_HELLO_ACK:
		return exercise_hello(buf, len, total, s, why);
	case MROCE_WIRE_UNKNOWN:
		*why = mroce_wire_get_unknown(buf, len, &bad_cid);
		return NULL;
	case MROCE_WIRE_DGRAM:
		return exercise_dgram(buf, len, total, s, why);
	}
	return "type known";
}
