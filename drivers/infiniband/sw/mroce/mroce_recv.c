// SPDX-License-Identifier: GPL-2.0
/*
 * From the UDP socket: check, find the connection, dispatch.
 *
 * One call may bring one packet or a whole super-packet of DATA segments; the
 * connection is looked up and acknowledged once per call, not per segment.
 */
#include <linux/udp.h>
#include <net/udp.h>

#include "mroce_dgram.h"
#include "mroce_trace.h"

/**
 * struct rx - one call of encap_rcv
 * @off: start of the current packet of ours in @skb
 * @conn: connection of the previous segment, with a reference
 * @plane: by which of its planes they came
 * @ack_path: path an acknowledgement is due on, -1 = none
 * @mnet: the namespace
 * @skb: the packet
 * @addrs: both ends
 * @now: arrival, ns
 */
struct rx {
	struct mroce_net *mnet;
	struct sk_buff *skb;
	u32 off;
	struct mroce_addrs addrs;
	struct mroce_conn *conn;
	int plane;
	int ack_path;
	u64 now;
};

static void drop(struct rx *rx, enum mroce_drop why)
{
	struct mroce_dev *dev = rx->conn ? rx->conn->dev : mroce_net_dev(rx->mnet, rx->skb);

	if (dev)
		mroce_count_drop(dev, why);
}

/* Acknowledge what is due on the connection at hand, and let go of it. */
static void leave_conn(struct rx *rx)
{
	if (rx->conn && rx->ack_path >= 0)
		mroce_ack_send(rx->conn, rx->ack_path, NULL);
	mroce_conn_put(rx->conn);
	rx->conn = NULL;
	rx->ack_path = -1;
}

/* Make rx->conn the connection @cid names. False: nobody's, or not this sender's. */
static bool find_conn(struct rx *rx, u32 cid, bool tell)
{
	if (rx->conn && rx->conn->scid == cid)
		return true;
	leave_conn(rx);
	rx->conn = mroce_conn_by_cid(rx->mnet, cid);
	/* An id of others looks like one of nobody: else ids could be found by asking. */
	rx->plane = rx->conn ? mroce_conn_pair(rx->conn, &rx->addrs) : -1;
	if (rx->plane < 0) {
		leave_conn(rx);
		if (tell)
			mroce_handshake_unknown_send(rx->mnet, rx->skb, cid);
		drop(rx, MROCE_DROP_CONN);
		return false;
	}
	if (!READ_ONCE(rx->conn->ready)) {
		drop(rx, MROCE_DROP_CONN);
		leave_conn(rx);
		return false;
	}
	return true;
}

static void rcv_segment(struct rx *rx, const struct mroce_pkt_data *p)
{
	struct mroce_arrival arrival = {
		.path = p->path,
		.path_seq = p->path_seq,
		.plane = rx->plane,
		.sport = rx->addrs.sport,
		.ce = rx->addrs.ce,
		.ack_req = p->flags & MROCE_F_ACK_REQ,
	};
	enum mroce_resp_verdict verdict;

	if (!mroce_ack_believes(rx->conn, p->path, p->path_seq)) {
		trace_mroce_receive(rx->conn, p, rx->addrs.ce, MROCE_RESP_DROPPED);
		drop(rx, MROCE_DROP_WINDOW);
		return;
	}
	verdict = mroce_resp_data(rx->conn, rx->skb, rx->off + MROCE_DATA_HLEN, p);
	trace_mroce_receive(rx->conn, p, rx->addrs.ce, verdict);
	if (verdict == MROCE_RESP_DROPPED)
		return;
	mroce_count(rx->conn->dev, MROCE_CNT_RX_DATA_PKTS);
	mroce_count_add(rx->conn->dev, MROCE_CNT_RX_DATA_BYTES, MROCE_DATA_HLEN + p->payload_len);
	if (rx->addrs.ce)
		mroce_count(rx->conn->dev, MROCE_CNT_RX_CE);
	/* Only now: an acknowledgement must not overtake the verdict. */
	arrival.refused = verdict == MROCE_RESP_REFUSED;
	if (mroce_ack_mark(rx->conn, &arrival, rx->now))
		rx->ack_path = p->path;
}

static void rcv_data(struct rx *rx)
{
	u8 buf[MROCE_DATA_HLEN];
	struct mroce_pkt_data p;
	enum mroce_drop why;
	const u8 *hdr;
	u32 left;

	for (; rx->off < rx->skb->len; rx->off += MROCE_DATA_HLEN + p.payload_len) {
		left = rx->skb->len - rx->off;
		hdr = skb_header_pointer(rx->skb, rx->off, sizeof(buf), buf);
		why = hdr ? mroce_wire_get_data(hdr, left, &p) : MROCE_DROP_SHORT;
		if (!why && !skb_is_gso(rx->skb) && left != MROCE_DATA_HLEN + p.payload_len)
			why = MROCE_DROP_LENGTH;
		if (why) {
			drop(rx, why);
			break;
		}
		if (find_conn(rx, p.dcid, true))
			rcv_segment(rx, &p);
	}
}

static void rcv_control(struct rx *rx, u8 type, u32 cid)
{
	switch (type) {
	case MROCE_WIRE_HELLO:
	case MROCE_WIRE_HELLO_ACK:
		mroce_handshake_rcv(rx->mnet, rx->skb, rx->off, type);
		break;
	case MROCE_WIRE_ACK:
	case MROCE_WIRE_PROBE_ACK:
		if (find_conn(rx, cid, false))
			mroce_ack_rcv(rx->conn, rx->skb, rx->off, rx->plane);
		break;
	case MROCE_WIRE_PROBE:
		if (find_conn(rx, cid, true))
			mroce_ack_probe_rcv(rx->conn, rx->skb, rx->off, &rx->addrs, rx->plane);
		break;
	case MROCE_WIRE_DGRAM:
		mroce_dgram_rcv(rx->mnet, rx->skb, rx->off, &rx->addrs);
		break;
	case MROCE_WIRE_UNKNOWN:
		mroce_handshake_unknown_rcv(rx->mnet, rx->skb, rx->off);
		break;
	default:
		drop(rx, MROCE_DROP_TYPE);
		break;
	}
}

/**
 * mroce_recv_encap() - the socket's encap_rcv
 * @sk: socket of the namespace
 * @skb: packet, its UDP header at skb->data, checksum verified; consumed
 *
 * Context: softirq, RCU read side.
 * Return: 0.
 */
int mroce_recv_encap(struct sock *sk, struct sk_buff *skb)
{
	struct rx rx = {
		.mnet = mroce_net_of_sock(sk),
		.skb = skb,
		.off = sizeof(struct udphdr),
		.ack_path = -1,
		.now = ktime_get_ns(),
	};
	u8 buf[MROCE_HELLO_HLEN];	/* the longest of all headers */
	enum mroce_drop why;
	u32 total, avail;

	/* An answer to a multicast would come from, and go to, whoever. */
	if (skb->len < rx.off || skb->pkt_type != PACKET_HOST)
		goto out;
	total = skb->len - rx.off;
	avail = min_t(u32, total, sizeof(buf));
	if (skb_copy_bits(skb, rx.off, buf, avail))
		goto out;
	why = mroce_wire_check(buf, avail, total);
	if (why) {
		drop(&rx, why);
		goto out;
	}
	mroce_xmit_addrs(skb, &rx.addrs);
	if (mroce_wire_type(buf[0]) == MROCE_WIRE_DATA)
		rcv_data(&rx);
	else
		rcv_control(&rx, mroce_wire_type(buf[0]), mroce_wire_dcid(buf));
	leave_conn(&rx);
out:
	consume_skb(skb);
	return 0;
}
