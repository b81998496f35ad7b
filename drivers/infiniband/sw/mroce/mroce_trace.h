/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints. What each means, with an example: Documentation/observability.rst.
 *
 * They are in the glue only; what proto/ does is seen by what it says (events, verdicts)
 * and by comparing before and after (mroce_trace.c). dev= is the index that 'rdma dev'
 * shows, conn= the number of the connection.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mroce

#if !defined(MROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MROCE_TRACE_H

#include <linux/tracepoint.h>

#include "mroce.h"

TRACE_DEFINE_ENUM(MROCE_OP_SEND);
TRACE_DEFINE_ENUM(MROCE_OP_SEND_IMM);
TRACE_DEFINE_ENUM(MROCE_OP_WRITE);
TRACE_DEFINE_ENUM(MROCE_OP_WRITE_IMM);
TRACE_DEFINE_ENUM(MROCE_OP_READ_REQ);
TRACE_DEFINE_ENUM(MROCE_OP_ATOMIC_CS);
TRACE_DEFINE_ENUM(MROCE_OP_ATOMIC_FA);
TRACE_DEFINE_ENUM(MROCE_OP_READ_RESP);
TRACE_DEFINE_ENUM(MROCE_OP_ATOMIC_RESP);
TRACE_DEFINE_ENUM(MROCE_PS_GAP);
TRACE_DEFINE_ENUM(MROCE_PS_TIME);
TRACE_DEFINE_ENUM(MROCE_PS_FLUSHED);
TRACE_DEFINE_ENUM(MROCE_PS_LOCAL);
TRACE_DEFINE_ENUM(MROCE_PS_UNWANTED);
TRACE_DEFINE_ENUM(MROCE_PS_TIMEOUT);
TRACE_DEFINE_ENUM(MROCE_PS_CAUSES);
TRACE_DEFINE_ENUM(MROCE_PATH_PROBING);
TRACE_DEFINE_ENUM(MROCE_PATH_ACTIVE);
TRACE_DEFINE_ENUM(MROCE_PATH_SUSPECT);
TRACE_DEFINE_ENUM(MROCE_PATH_FAILED);
TRACE_DEFINE_ENUM(MROCE_RESP_TAKEN);
TRACE_DEFINE_ENUM(MROCE_RESP_REFUSED);
TRACE_DEFINE_ENUM(MROCE_RESP_DROPPED);

#define mroce_show_op(op) __print_symbolic(op,		\
	{ 0,			"invalid" },		\
	{ MROCE_OP_SEND,	"send" },		\
	{ MROCE_OP_SEND_IMM,	"send_imm" },		\
	{ MROCE_OP_WRITE,	"write" },		\
	{ MROCE_OP_WRITE_IMM,	"write_imm" },		\
	{ MROCE_OP_READ_REQ,	"read" },		\
	{ MROCE_OP_ATOMIC_CS,	"compare_swap" },	\
	{ MROCE_OP_ATOMIC_FA,	"fetch_add" },		\
	{ MROCE_OP_READ_RESP,	"read_resp" },		\
	{ MROCE_OP_ATOMIC_RESP,	"atomic_resp" })

/* As mroce_ps_cause_name[]; "no": none, it is new */
#define mroce_show_cause(cause) __print_symbolic(cause,	\
	{ MROCE_PS_GAP,		"gap" },		\
	{ MROCE_PS_TIME,	"time" },		\
	{ MROCE_PS_FLUSHED,	"path" },		\
	{ MROCE_PS_LOCAL,	"local" },		\
	{ MROCE_PS_UNWANTED,	"refused" },		\
	{ MROCE_PS_TIMEOUT,	"timeout" },		\
	{ MROCE_PS_CAUSES,	"no" })

/* As mroce_path_state_name[] */
#define mroce_show_path_state(state) __print_symbolic(state,	\
	{ MROCE_PATH_PROBING,	"probing" },		\
	{ MROCE_PATH_ACTIVE,	"active" },		\
	{ MROCE_PATH_SUSPECT,	"suspect" },		\
	{ MROCE_PATH_FAILED,	"failed" },		\
	{ MROCE_PATH_OFF,	"off" })

#define mroce_show_verdict(verdict) __print_symbolic(verdict,	\
	{ MROCE_RESP_TAKEN,	"taken" },		\
	{ MROCE_RESP_REFUSED,	"refused" },		\
	{ MROCE_RESP_DROPPED,	"dropped" })

#define mroce_show_stream(stream) __print_symbolic(stream,	\
	{ MROCE_STREAM_REQ,	"req" },		\
	{ MROCE_STREAM_RESP,	"resp" })

/* A send work request was taken in from the ring; status is what it fails with, or 0. */
TRACE_EVENT(mroce_post,
	TP_PROTO(const struct mroce_qp *qp, const struct mroce_swqe *wqe),
	TP_ARGS(qp, wqe),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, bytes)
		__field(u32, psn)
		__field(u32, pkts)
		__field(u8, op)
		__field(u8, status)
	),
	TP_fast_assign(
		__entry->wr_id = wqe->wr_id;
		__entry->dev = qp->ibqp.device->index;
		__entry->qpn = qp->qpn;
		__entry->bytes = wqe->len;
		__entry->psn = wqe->first_psn;
		__entry->pkts = wqe->n_pkts;
		__entry->op = wqe->wire_op;
		__entry->status = wqe->status;
	),
	TP_printk("dev=%u qpn=%u wr_id=0x%llx op=%s bytes=%u psn=%u pkts=%u status=%u",
		  __entry->dev, __entry->qpn, __entry->wr_id, mroce_show_op(__entry->op),
		  __entry->bytes, __entry->psn, __entry->pkts, __entry->status)
);

/* A data packet was numbered and goes to the local stack; retrans is why it goes again. */
TRACE_EVENT(mroce_send,
	TP_PROTO(const struct mroce_txq *q, u32 psn, u8 path, u32 path_seq, u32 bytes, bool again),
	TP_ARGS(q, psn, path, path_seq, bytes, again),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, conn)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, path_seq)
		__field(u32, bytes)
		__field(u8, stream)
		__field(u8, path)
		__field(u8, retrans)
	),
	TP_fast_assign(
		__entry->dev = q->qp->ibqp.device->index;
		__entry->conn = q->qp->conn->no;
		__entry->qpn = q->qp->qpn;
		__entry->psn = psn;
		__entry->path_seq = path_seq;
		__entry->bytes = bytes;
		__entry->stream = q->stream;
		__entry->path = path;
		__entry->retrans = again ? mroce_stats_why(q, psn) : MROCE_PS_CAUSES;
	),
	TP_printk("dev=%u conn=%u qpn=%u stream=%s psn=%u path=%u path_seq=%u bytes=%u retrans=%s",
		  __entry->dev, __entry->conn, __entry->qpn, mroce_show_stream(__entry->stream),
		  __entry->psn, __entry->path, __entry->path_seq, __entry->bytes,
		  mroce_show_cause(__entry->retrans))
);

/* A data packet has arrived, and what became of it. */
TRACE_EVENT(mroce_receive,
	TP_PROTO(const struct mroce_conn *conn, const struct mroce_pkt_data *p, bool ce,
		 u8 verdict),
	TP_ARGS(conn, p, ce, verdict),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, conn)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, path_seq)
		__field(u32, bytes)
		__field(u8, stream)
		__field(u8, path)
		__field(u8, op)
		__field(u8, ce)
		__field(u8, verdict)
	),
	TP_fast_assign(
		__entry->dev = conn->dev->ibdev.index;
		__entry->conn = conn->no;
		__entry->qpn = p->dst_qpn;
		__entry->psn = p->psn;
		__entry->path_seq = p->path_seq;
		__entry->bytes = MROCE_DATA_HLEN + p->payload_len;
		__entry->stream = p->stream;
		__entry->path = p->path;
		__entry->op = p->opcode;
		__entry->ce = ce;
		__entry->verdict = verdict;
	),
	TP_printk("dev=%u conn=%u qpn=%u stream=%s psn=%u path=%u path_seq=%u bytes=%u op=%s ce=%u verdict=%s",
		  __entry->dev, __entry->conn, __entry->qpn, mroce_show_stream(__entry->stream),
		  __entry->psn, __entry->path, __entry->path_seq, __entry->bytes,
		  mroce_show_op(__entry->op), __entry->ce, mroce_show_verdict(__entry->verdict))
);

/* One path's part of an acknowledgement was taken in. */
TRACE_EVENT(mroce_ack,
	TP_PROTO(const struct mroce_conn *conn, const struct mroce_ack_part *part,
		 const struct mroce_ps_ack_result *res),
	TP_ARGS(conn, part, res),
	TP_STRUCT__entry(
		__field(u64, rtt_ns)
		__field(u32, dev)
		__field(u32, conn)
		__field(u32, highest)
		__field(u32, acked)
		__field(u32, acked_bytes)
		__field(u32, lost)
		__field(u32, spurious)
		__field(u32, marked)
		__field(u8, path)
	),
	TP_fast_assign(
		__entry->rtt_ns = res->rtt_ns;
		__entry->dev = conn->dev->ibdev.index;
		__entry->conn = conn->no;
		__entry->highest = part->highest;
		__entry->acked = res->acked_pkts;
		__entry->acked_bytes = res->acked_bytes;
		__entry->lost = res->lost_pkts;
		__entry->spurious = res->spurious_pkts;
		__entry->marked = res->marked_pkts;
		__entry->path = part->path;
	),
	TP_printk("dev=%u conn=%u path=%u highest=%u acked=%u acked_bytes=%u lost=%u spurious=%u marked=%u rtt_ns=%llu",
		  __entry->dev, __entry->conn, __entry->path, __entry->highest, __entry->acked,
		  __entry->acked_bytes, __entry->lost, __entry->spurious, __entry->marked,
		  __entry->rtt_ns)
);

/* A packet has to go again, if it is not accepted meanwhile; path -1: says the stream's timer. */
TRACE_EVENT(mroce_loss,
	TP_PROTO(const struct mroce_conn *conn, u32 stream, u32 psn, int path, u8 cause),
	TP_ARGS(conn, stream, psn, path, cause),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, conn)
		__field(u32, qpn)
		__field(u32, psn)
		__field(int, path)
		__field(u8, stream)
		__field(u8, cause)
	),
	TP_fast_assign(
		__entry->dev = conn->dev->ibdev.index;
		__entry->conn = conn->no;
		__entry->qpn = stream & 0xffffff;
		__entry->psn = psn;
		__entry->path = path;
		__entry->stream = stream >> 24;
		__entry->cause = cause;
	),
	TP_printk("dev=%u conn=%u qpn=%u stream=%s psn=%u path=%d cause=%s",
		  __entry->dev, __entry->conn, __entry->qpn, mroce_show_stream(__entry->stream),
		  __entry->psn, __entry->path, mroce_show_cause(__entry->cause))
);

/* The window of a path, or of the whole connection, has changed. */
TRACE_EVENT(mroce_window,
	TP_PROTO(const struct mroce_conn *conn, u8 path),
	TP_ARGS(conn, path),
	TP_STRUCT__entry(
		__field(u64, srtt_ns)
		__field(u32, dev)
		__field(u32, conn)
		__field(u32, cwnd)
		__field(u32, flight)
		__field(u32, path_cwnd)
		__field(u32, path_inflight)
		__field(u8, path)
	),
	TP_fast_assign(
		__entry->srtt_ns = conn->path[path].rtt.srtt_ns;
		__entry->dev = conn->dev->ibdev.index;
		__entry->conn = conn->no;
		__entry->cwnd = conn->ps.cc.cwnd_bytes;
		__entry->flight = conn->ps.inflight_bytes;
		__entry->path_cwnd = conn->path[path].cc.cwnd_bytes;
		__entry->path_inflight = conn->path[path].sb.inflight_bytes;
		__entry->path = path;
	),
	TP_printk("dev=%u conn=%u cwnd_bytes=%u inflight_bytes=%u path=%u path_cwnd_bytes=%u path_inflight_bytes=%u srtt_ns=%llu",
		  __entry->dev, __entry->conn, __entry->cwnd, __entry->flight, __entry->path,
		  __entry->path_cwnd, __entry->path_inflight, __entry->srtt_ns)
);

/* A path has changed its state or its source port. Of several steps at once, first and last. */
TRACE_EVENT(mroce_path_state,
	TP_PROTO(const struct mroce_conn *conn, u8 path, u8 from),
	TP_ARGS(conn, path, from),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, conn)
		__field(u16, sport)
		__field(u8, path)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->dev = conn->dev->ibdev.index;
		__entry->conn = conn->no;
		__entry->sport = conn->path[path].sport;
		__entry->path = path;
		__entry->from = from;
		__entry->to = conn->path[path].state;
	),
	TP_printk("dev=%u conn=%u path=%u from=%s to=%s sport=%u",
		  __entry->dev, __entry->conn, __entry->path,
		  mroce_show_path_state(__entry->from), mroce_show_path_state(__entry->to),
		  __entry->sport)
);

#endif /* MROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mroce_trace
#include <trace/define_trace.h>
